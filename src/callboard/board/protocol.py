"""`Board`: everything that people and programs can do with sessions, questions and plates.

`Callboard` does it in this process, `Client` over HTTP. Whatever needs a board takes this protocol,
or the part of it that it needs. `tests/contract/test_board.py` holds both to it.
"""

from typing import Protocol

from callboard.board.hook_backlog import HookBacklog
from callboard.board.plate import Plate
from callboard.board.question_protocols import Answering, Questions
from callboard.board.session_protocols import (
    SessionControl,
    SessionHistory,
    SessionReading,
    SessionRunning,
)
from callboard.board.tokens import BoardTokens
from callboard.clock import Clock
from callboard.engine.statistics import Overview, WorkflowStats
from callboard.events.envelope import Event

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


# ---------------------------------------------------------------------- statistics


class BoardStatistics(Protocol):
    """How runs went, over the last days, today included.

    `utc_offset` is in minutes, east of UTC: when a day starts.
    """

    async def overview(self, *, days: int = 30, utc_offset: int = 0) -> Overview:
        """All workflows: how many runs, how they ended, how long they took."""
        ...

    async def workflow(
        self, workflow: str, *, days: int = 30, utc_offset: int = 0
    ) -> WorkflowStats:
        """One workflow, with the time people took and what failed last."""
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

    @property
    def statistics(self) -> BoardStatistics:
        """How runs went."""
        ...

    @property
    def tokens(self) -> BoardTokens:
        """Who may come in, and as whom."""
        ...

    async def close(self) -> None:
        """Close the database or the connections."""
        ...
