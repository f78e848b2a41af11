"""`Board`: everything that people and programs can do with sessions, questions and plates.

`Callboard` does it in this process, `Client` over HTTP. Whatever needs a board takes this protocol,
or the part of it that it needs. `tests/contract/test_board.py` holds both to it.
"""

from collections.abc import Sequence
from typing import Protocol

from callboard.board.hook_backlog import HookBacklog
from callboard.board.plate import Plate
from callboard.board.session_protocols import (
    SessionControl,
    SessionHistory,
    SessionReading,
    SessionRunning,
)
from callboard.clock import Clock
from callboard.events.envelope import Event
from callboard.events.json_values import Object
from callboard.interactions.records import Interaction

# ---------------------------------------------------------------------- questions


class Questions(Protocol):
    """Every question to a person, from whatever asked it: find, ask, claim and close them."""

    async def find(
        self,
        *,
        status: str | None = None,
        session_id: str = "*",
        type: str | None = None,
        limit: int | None = None,
    ) -> list[Interaction]:
        """Questions, oldest first; by default in any status and of all sessions."""
        ...

    async def get(self, interaction_id: str) -> Interaction:
        """One question, open or closed; InteractionNotFound when there is none."""
        ...

    async def ended(self, interaction_id: str) -> Interaction:
        """Wait until a question is closed, by any process."""
        ...

    async def ask(
        self,
        *,
        type: str,
        prompt: str,
        options: Sequence[str] | None = None,
        config: Object | None = None,
        session_id: str | None = None,
        key: str | None = None,
    ) -> Interaction:
        """Ask a question, in a session or on its own. Under the same `key` it is asked once."""
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


# ---------------------------------------------------------------------- plates


class BoardPlates(Protocol):
    """Every session of a coding agent: find and change them, report processes."""

    async def all(self, *, dismissed: bool = False) -> list[Plate]:
        """Every plate, those that need a person first; with `dismissed`, hidden ones too."""
        ...

    async def backlog(self) -> HookBacklog:
        """What hooks reported and no server has read yet: so far, plates do not show it."""
        ...

    async def get(self, plate_id: str) -> Plate:
        """One plate; PlateNotFound when there is none."""
        ...

    async def events(self, plate_id: str, after: int = 0) -> list[Event]:
        """What happened on a plate after a position."""
        ...

    async def change(
        self,
        plate_id: str,
        *,
        name: str | None = None,
        pinned: bool | None = None,
        seen: bool | None = None,
    ) -> Plate:
        """Name it, pin it, mark it as seen. An empty name removes the name."""
        ...

    async def dismiss(self, plate_id: str) -> Plate:
        """Take it off the board, until a session starts on it again."""
        ...

    async def register(
        self,
        agent: str,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
    ) -> Plate:
        """Report that a client is about to start; gives the plate that waits for it."""
        ...

    async def stopped(
        self,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
    ) -> int:
        """Report that a client's process has ended; gives how many plates that closed."""
        ...


# ---------------------------------------------------------------------- all of it


class Board(SessionReading, SessionHistory, SessionRunning, SessionControl, Answering, Protocol):
    """Sessions, questions and plates, in this process or on a server."""

    @property
    def clock(self) -> Clock:
        """The time, as this board counts it."""
        ...

    @property
    def people(self) -> Questions:
        """Every question."""
        ...

    @property
    def plates(self) -> BoardPlates:
        """Every session of a coding agent."""
        ...

    async def close(self) -> None:
        """Close the database or the connections."""
        ...
