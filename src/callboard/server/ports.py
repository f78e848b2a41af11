"""What the server needs of a Callboard. `callboard.app` is above it and hands one in."""

from collections.abc import Mapping
from typing import Any, Protocol

from callboard.clock import Clock
from callboard.engine.inbox import Inbox
from callboard.engine.operations import Operations
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.engine.workflow import Workflow
from callboard.events.envelope import Event
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog, Limit
from callboard.state.session import SessionView


class Board(Protocol):
    """A log, the workflows that can be run, and what can be done to their sessions."""

    @property
    def log(self) -> EventLog:
        """Where everything is."""
        ...

    @property
    def workflows(self) -> Mapping[str, Workflow]:
        """What can be started, by name."""
        ...

    @property
    def operations(self) -> Operations:
        """What can be done to a session."""
        ...

    @property
    def people(self) -> Inbox:
        """What can be done to a question."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...

    async def session_page(
        self,
        *,
        status: str | None = None,
        workflow: str | None = None,
        parent: str | None = None,
        q: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> SessionPage:
        """A page of sessions, newest first."""
        ...

    async def session(self, session_id: str) -> SessionInfo:
        """How one session stands."""
        ...

    async def view(self, session_id: str, at: int | None = None) -> SessionView:
        """Everything that is known of a session at a position."""
        ...

    async def events(self, session_id: str, after: int = 0, limit: Limit = None) -> list[Event]:
        """A session's events after a position."""
        ...

    async def start(
        self,
        workflow: str | None,
        input: Any = None,
        *,
        session_id: str | None = None,
        by: str | None = None,
    ) -> str:
        """Begin a session; someone has to drive it."""
        ...

    async def delete(self, session_id: str, *, by: str | None = None) -> None:
        """Forget a session."""
        ...

    async def interaction(self, interaction_id: str) -> Interaction:
        """One question, open or closed."""
        ...
