"""The part of `Board` for questions: find, ask, assign, claim and answer them."""

from collections.abc import Sequence
from typing import Protocol

from callboard.events.json_values import Object
from callboard.interactions.records import Interaction


class Questions(Protocol):
    """Every question to a person, from any source: find, ask, claim and close them."""

    async def find(  # noqa: PLR0913 - public API, all by keyword
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
        """Questions, oldest first; by default with any status and from all sessions.

        `assigned_to`: assigned to one of these people or groups; `none` means unassigned. `q` is
        text to find in the prompt.
        """
        ...

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed; InteractionNotFound if it doesn't exist."""
        ...

    async def ended(self, interaction_id: str) -> Interaction:
        """Wait until a question is closed, by any process."""
        ...

    async def ask(  # noqa: PLR0913 - public API, all by keyword
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
        """Ask a question, in a session or on its own; only once for each `key`.

        With `assignees`, only these people and groups (`group:NAME`) may answer.
        """
        ...

    async def assign(
        self, interaction_id: str, to: str | None, *, by: str | None = None
    ) -> Interaction:
        """Set who is expected to answer: a person, `group:NAME`, `me`, or None for no one.

        This locks nothing, doesn't expire, and doesn't change who may answer.
        """
        ...

    async def claim(self, interaction_id: str, *, by: str, ttl_ms: int = 60_000) -> Interaction:
        """Claim a question, so that no one else can for a while. The same `by` renews the claim."""
        ...

    async def release(self, interaction_id: str, *, by: str) -> Interaction:
        """Release a claim before it expires; does nothing if there is no claim."""
        ...

    async def complete(  # noqa: PLR0913 - public API, all by keyword
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
        """End an interactive session with its outcome; for a simpler question, it is the answer."""
        ...

    async def cancel(self, interaction_id: str, *, via: str | None = None) -> Interaction:
        """Withdraw a question, unless its workflow cannot continue without an answer."""
        ...


class Answering(Protocol):
    """The open questions, and how to answer them."""

    async def inbox(self, session_id: str = "*") -> list[Interaction]:
        """The open questions of all sessions or of one, oldest first."""
        ...

    async def interaction(self, interaction_id: str) -> Interaction:
        """One question, open or closed; InteractionNotFound if it doesn't exist."""
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
        """Answer a question. The first answer counts; any later one raises AlreadyAnswered."""
        ...
