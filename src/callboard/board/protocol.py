"""`Board`: everything that people and programs can do with sessions, questions and plates.

`Callboard` does it in this process, `Client` over HTTP. Code that needs a board takes this
protocol, or just the part that it needs. `tests/contract/test_board.py` tests both.
"""

from typing import Protocol

from callboard.board.conversations import BoardConversations
from callboard.board.hook_backlog import HookBacklog
from callboard.board.limits import BoardLimits
from callboard.board.messages import BoardMessages
from callboard.board.plate import Plate
from callboard.board.plate_changes import BoardChanges
from callboard.board.question_protocols import Answering, Questions
from callboard.board.relay_hosts import BoardHosts
from callboard.board.session_protocols import (
    SessionControl,
    SessionHistory,
    SessionReading,
    SessionRunning,
)
from callboard.board.starting import BoardStarting
from callboard.board.tokens import BoardTokens
from callboard.board.usage_reports import BoardUsage
from callboard.clock import Clock
from callboard.engine.statistics import Overview, WorkflowStats
from callboard.engine.workers import WorkerOverview
from callboard.events.envelope import Event

# ---------------------------------------------------------------------- plates


class BoardPlates(Protocol):
    """Every coding agent session: find and change them, and report processes."""

    async def all(self, *, dismissed: bool = False) -> list[Plate]:
        """Every plate, those that need a person first; with `dismissed`, hidden ones too."""
        ...

    async def backlog(self) -> HookBacklog:
        """Hook reports that no server has read yet, and that plates don't show so far."""
        ...

    async def get(self, plate_id: str) -> Plate:
        """One plate; PlateNotFound if it doesn't exist or was dismissed."""
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
        """Name it, pin it, or mark it as seen. An empty name removes the name."""
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
        """Report that a client is about to start; returns the plate that waits for it."""
        ...

    async def stopped(
        self,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
    ) -> int:
        """Report that a client's process has ended; returns how many plates that closed."""
        ...


# ---------------------------------------------------------------------- statistics


class BoardStatistics(Protocol):
    """How runs went over the last days, including today.

    `utc_offset` is in minutes east of UTC, and determines when a day starts.
    """

    async def overview(self, *, days: int = 30, utc_offset: int = 0) -> Overview:
        """All workflows: how many runs, how they ended, how long they took."""
        ...

    async def workflow(
        self, workflow: str, *, days: int = 30, utc_offset: int = 0
    ) -> WorkflowStats:
        """One workflow, with the time people took and what failed last."""
        ...


# ---------------------------------------------------------------------- workers


class BoardWorkers(Protocol):
    """The processes that drive sessions."""

    async def workers(self, session_id: str | None = None) -> WorkerOverview:
        """Who drives which sessions, and the sessions that no running worker can drive.

        With a session, only the workers that drive it or have its workflow, and what they do with
        it; SessionNotFound if it doesn't exist.
        """
        ...


# ---------------------------------------------------------------------- all of it


class Board(
    SessionReading,
    SessionHistory,
    SessionRunning,
    SessionControl,
    Answering,
    BoardWorkers,
    Protocol,
):
    """Sessions, questions and plates, in this process or on a server."""

    @property
    def clock(self) -> Clock:
        """The clock of this board."""
        ...

    @property
    def people(self) -> Questions:
        """Every question."""
        ...

    @property
    def plates(self) -> BoardPlates:
        """Every coding agent session."""
        ...

    @property
    def messages(self) -> BoardMessages:
        """Messages to coding agents."""
        ...

    @property
    def statistics(self) -> BoardStatistics:
        """How runs went."""
        ...

    @property
    def usage(self) -> BoardUsage:
        """What agents have used, and the budget."""
        ...

    @property
    def tokens(self) -> BoardTokens:
        """The access tokens."""
        ...

    @property
    def limits(self) -> BoardLimits:
        """How many agents of a kind may run at once."""
        ...

    @property
    def hosts(self) -> BoardHosts:
        """The machines whose coding agents are on the board."""
        ...

    @property
    def conversations(self) -> BoardConversations:
        """What coding agents did, step by step."""
        ...

    @property
    def changes(self) -> BoardChanges:
        """What coding agents changed in their working trees."""
        ...

    @property
    def starting(self) -> BoardStarting:
        """Agents that run in terminals of Callboard."""
        ...

    async def close(self) -> None:
        """Close the database or the connections."""
        ...
