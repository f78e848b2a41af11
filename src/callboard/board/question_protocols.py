"""The part of `Board` that is about questions: find, ask, assign, claim and answer them."""

from collections.abc import Sequence
from typing import Protocol

from callboard.events.json_values import Object
from callboard.interactions.records import Interaction


class Questions(Protocol):
    """Every question to a person, from whatever asked it: find, ask, claim and close them."""

    async def find(  # noqa: PLR0913 - the public face, all by keyword
        self,
        *,
        status: str | None = None,
        session_id: str = "*",
        type: str | None = None,
        workflow: str | None = None,
        assigned_to: Sequence[str] | None = None,
        q: str | None = None,
        limit: int | None = None,
    ) -> list[Interaction]:
        """Questions, oldest first; by default in any status and of all sessions.

        `assigned_to`: to one of these people or groups; `none` means unassigned. `q` is text in
        the prompt.
        """
        ...

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed; InteractionNotFound when there is none."""
        ...

    async def ended(self, interaction_id: str) -> Interaction:
        """Wait until a question is closed, by any process."""
        ...

    async def ask(  # noqa: PLR0913 - the public face, all by keyword
        self,
        *,
        type: str,
        prompt: str,
        options: Sequence[str] | None = None,
        config: Object | None = None,
        session_id: str | None = None,
        key: str | None = None,
        assignees: Sequence[str] | None = None,
    ) -> Interaction:
        """Ask a question, in a session or on its own. Under the same `key` it is asked once.

        With `assignees`, only these people and groups (`group:NAME`) may answer.
        """
        ...

    async def assign(
        self, interaction_id: str, to: str | None, *, by: str | None = None
    ) -> Interaction:
        """Say who is expected to answer: a person, `group:NAME`, `me`, or None for no one.

        It locks nothing, does not expire, and does not change who may answer.
        """
        ...

    async def claim(self, interaction_id: str, *, by: str, ttl_ms: int = 60_000) -> Interaction:
        """Reserve a question for a while: others cannot claim it. The same `by` renews."""
        ...

    async def release(self, interaction_id: str, *, by: str) -> Interaction:
        """Give a claim back early; without one, do nothing."""
        ...

    async def complete(  # noqa: PLR0913 - the public face, all by keyword
        self,
        interaction_id: str,
        outcome: str,
        *,
        response: object = None,
        transcript: str | None = None,
        duration_ms: int | None = None,
        error: str | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> Interaction:
        """End an interactive session with its outcome; a simpler question is answered by it."""
        ...

    async def cancel(self, interaction_id: str, *, via: str | None = None) -> Interaction:
        """Withdraw a question, unless its workflow cannot continue without an answer."""
        ...


class Answering(Protocol):
    """What waits for a person, and how to answer it."""

    async def inbox(self, session_id: str = "*") -> list[Interaction]:
        """The open questions, oldest first; of all sessions, or of one."""
        ...

    async def interaction(self, interaction_id: str) -> Interaction:
        """One question, open or closed; InteractionNotFound when there is none."""
        ...

    async def answer(
        self,
        interaction_id: str,
        value: object = None,
        *,
        approved: bool | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> Interaction:
        """Answer a question. The first answer counts; a later one is AlreadyAnswered."""
        ...
