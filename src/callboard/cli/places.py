"""Where sessions are: what commands need of a place, whether it is a database or a server."""

# ruff: noqa: D102 - each method is documented where it is done: `callboard.app`, `callboard.client`

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from callboard.cli.picture import PhaseShape
from callboard.clock import Clock
from callboard.engine.operations import Forked
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.engine.workflow import Workflow
from callboard.events.envelope import Event
from callboard.interactions.records import Interaction
from callboard.log.protocol import Lease
from callboard.state.session import SessionView

T = TypeVar("T")


class Questions(Protocol):
    """Every question there is."""

    async def find(
        self, *, status: str | None = None, session_id: str = "*"
    ) -> list[Interaction]: ...
    async def complete(
        self,
        interaction_id: str,
        outcome: str,
        *,
        error: str | None = None,
        by: str | None = None,
        via: str | None = None,
    ) -> Interaction: ...


class Plates(Protocol):
    """Every session of a coding agent: plates, or what a server tells of them as JSON."""

    async def all(self, *, dismissed: bool = False) -> Sequence[Any]: ...
    async def get(self, plate_id: str) -> Any: ...


class Running(Protocol):
    """A session that was begun; awaiting it ends when the session stops moving."""

    @property
    def session_id(self) -> str: ...
    def __await__(self) -> Any: ...


class Board(Protocol):
    """Sessions, and what can be done to them: a `Callboard`, or a `Client` of a server."""

    @property
    def clock(self) -> Clock: ...
    @property
    def people(self) -> Questions: ...
    @property
    def plates(self) -> Plates: ...

    def run(
        self,
        workflow: Workflow | str,
        input: Any = None,
        *,
        human_input: object | None = None,
        on_event: Callable[[Event], Any] | None = None,
        source: Mapping[str, str] | None = None,
    ) -> Running: ...

    async def drive(
        self,
        session_id: str,
        *,
        human_input: object | None = None,
        on_event: Callable[[Event], Any] | None = None,
    ) -> SessionInfo: ...

    async def sessions(
        self, *, status: str | None = None, workflow: str | None = None, limit: int | None = None
    ) -> list[SessionInfo]: ...

    async def session_page(
        self,
        *,
        parent: str | None = None,
        q: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> SessionPage: ...

    async def session(self, session_id: str) -> SessionInfo: ...
    async def lease(self, session_id: str) -> Lease | None: ...
    async def view(self, session_id: str, at: int | None = None) -> SessionView: ...
    async def events(
        self, session_id: str, after: int = 0, limit: int | None = None
    ) -> list[Event]: ...
    def tail(self, session_id: str, after: int = 0) -> AsyncIterator[Event]: ...
    async def state(self, session_id: str, at: int | None = None) -> Any: ...
    async def diff(self, session_id: str, before: int, after: int) -> list[dict[str, Any]]: ...
    async def inbox(self, session_id: str = "*") -> list[Interaction]: ...
    async def interaction(self, interaction_id: str) -> Interaction: ...

    async def answer(
        self,
        interaction_id: str,
        value: Any = None,
        *,
        by: str | None = None,
        via: str = "python",
    ) -> Interaction: ...

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: str | None = None,
        reason: str | None = None,
    ) -> bool: ...

    async def resume(self, session_id: str, *, by: str | None = None) -> bool: ...

    async def cancel(
        self, session_id: str, *, by: str | None = None, reason: str | None = None
    ) -> bool: ...

    async def fork(  # noqa: PLR0913 - as `Callboard` has it
        self,
        session_id: str,
        *,
        phase: str | None = None,
        occurrence: int | str | None = None,
        position: int | None = None,
        edits: Sequence[Mapping[str, Any]] | None = None,
        run: bool = True,
        by: str | None = None,
    ) -> Forked: ...


@dataclass(frozen=True, slots=True)
class Startable:
    """A workflow that `run` can start: itself where it runs here, else its name."""

    workflow: Workflow | str
    source: Mapping[str, str] | None = None

    @property
    def loaded(self) -> list[Workflow]:
        """What has to be known here to run it."""
        return [] if isinstance(self.workflow, str) else [self.workflow]


class Place(Protocol):
    """A database on this machine, or a server."""

    @property
    def watched(self) -> bool:
        """Whether something there drives sessions by itself, so that nobody here has to."""
        ...

    def drives(self, workflow: str) -> bool:
        """Whether the sessions of a workflow go on there by themselves."""
        ...

    def command(self, *words: str) -> str:
        """A command line of Callboard's on this place, as a shell takes it."""
        ...

    def open(
        self, workflows: Sequence[Workflow] = (), *, create: bool = False
    ) -> AbstractAsyncContextManager[Board]:
        """What is there; with the workflows that are to be run here."""
        ...

    def ask(self, work: Callable[[Board], Awaitable[T]]) -> T:
        """Open it, do something with it, and close it again."""
        ...

    def startable(self, given: str) -> Startable:
        """What `run` is to start, by what was typed for it."""
        ...

    def needed(self, info: SessionInfo, file: str | None) -> list[Workflow]:
        """What has to be known here for a session to go on; an error if it cannot."""
        ...

    def shapes(self, info: SessionInfo, file: str | None) -> Sequence[PhaseShape]:
        """The phases of a session's workflow; an error if they cannot be found."""
        ...
