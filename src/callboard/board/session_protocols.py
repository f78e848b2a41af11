"""What a board does with sessions: the parts of `Board` that start, read and control them."""

from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

from callboard.engine.operations import Forked
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.engine.workflow import Workflow
from callboard.events.envelope import Event, Json
from callboard.events.failures import ErrorDescription
from callboard.events.json_values import Object
from callboard.events.status import Status
from callboard.log.protocol import Lease
from callboard.state.session import SessionView


class SessionReading(Protocol):
    """Find sessions, and read what happens in them."""

    async def sessions(
        self, *, status: str | None = None, workflow: str | None = None, limit: int | None = None
    ) -> list[SessionInfo]:
        """The sessions, newest first."""
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
        """One page of the sessions, newest first; `cursor` is `next_cursor` of the page before.

        `q` is text in the id, the workflow, the phase or the title.
        """
        ...

    async def session(self, session_id: str) -> SessionInfo:
        """One session, with its open questions; SessionNotFound when there is none."""
        ...

    async def events(
        self, session_id: str, after: int = 0, limit: int | None = None
    ) -> list[Event]:
        """A session's events after a position."""
        ...

    def tail(self, session_id: str, after: int = 0) -> AsyncIterator[Event]:
        """A session's history, then its events as they come; ends when the session does."""
        ...

    def tail_all(
        self, after: int | None = None, *, on_connect: Callable[[], None] | None = None
    ) -> AsyncIterator[tuple[int, Event]]:
        """The events of everything, each with its place in the log; from now on by default.

        `on_connect` is called whenever a connection is made: what is read after that call and what
        comes from here leave no gap.
        """
        ...


class SessionHistory(Protocol):
    """Look at a session at any position."""

    async def view(self, session_id: str, at: int | None = None) -> SessionView:
        """Everything that is known of a session at a position."""
        ...

    async def state(self, session_id: str, at: int | None = None) -> Any:
        """The state at a position: plain JSON, or the workflow's own type where it is loaded."""
        ...

    async def diff(self, session_id: str, before: int, after: int) -> list[dict[str, Json]]:
        """What changed in the state between two positions, as a JSON Patch."""
        ...

    def export(self, session_id: str, *, format: str = "json") -> AsyncIterator[bytes]:
        """A session, its events and its state as one document, `json` or `markdown`, in pieces."""
        ...

    async def lease(self, session_id: str) -> Lease:
        """Who drives a session, or drove it last. A server does not name the process."""
        ...


class RunResult(Protocol):
    """How a run stopped."""

    @property
    def session_id(self) -> str:
        """Its session."""
        ...

    @property
    def status(self) -> Status:
        """Ended, paused or waiting."""
        ...

    @property
    def error(self) -> ErrorDescription | None:
        """Why it failed, if it did."""
        ...


class StartedRun(Protocol):
    """A session that was started; await it to learn how it stopped."""

    @property
    def session_id(self) -> str:
        """Its session."""
        ...

    def __await__(self) -> Generator[object, None, RunResult]:
        """Wait until it ends, pauses, or waits for someone who cannot be asked here."""
        ...


class SessionRunning(Protocol):
    """Start sessions, and keep them going."""

    async def start(
        self,
        workflow: str | None = None,
        input: object = None,
        *,
        session_id: str | None = None,
        title: str | None = None,
    ) -> str:
        """Start a session and return its id. The name is optional when there is one workflow."""
        ...

    def run(  # noqa: PLR0913 - the public face, all by keyword
        self,
        workflow: Workflow | str,
        input: object = None,
        *,
        human_input: object | None = None,
        session_id: str | None = None,
        on_event: Callable[[Event], object] | None = None,
        source: Mapping[str, str] | None = None,
        title: str | None = None,
    ) -> StartedRun:
        """Start a session and follow it; its questions go to `human_input`."""
        ...

    async def drive(
        self,
        session_id: str,
        *,
        human_input: object | None = None,
        on_event: Callable[[Event], object] | None = None,
    ) -> SessionInfo:
        """Keep a session going, or watch a server do so, until it waits, pauses or ends."""
        ...


class SessionControl(Protocol):
    """Change the course of a session."""

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """Pause a session; False if it was paused or had already ended."""
        ...

    async def resume(self, session_id: str, *, by: str | None = None) -> bool:
        """Resume a paused session; False if it was not paused."""
        ...

    async def cancel(
        self, session_id: str, *, by: str | None = None, reason: str | None = None
    ) -> bool:
        """Cancel a session; False if it had already ended."""
        ...

    async def rename(
        self, session_id: str, title: str | None, *, by: str | None = None
    ) -> SessionInfo:
        """Give a session another title, also after it ended; None takes its title away."""
        ...

    async def fork(  # noqa: PLR0913 - the public face, all by keyword
        self,
        session_id: str,
        *,
        phase: str | None = None,
        occurrence: int | str | None = None,
        event_index: int | None = None,
        position: int | None = None,
        edits: Sequence[Object] | None = None,
        run: bool = True,
        session: str | None = None,
        by: str | None = None,
    ) -> Forked:
        """Start a new session from a point of this one; `session` chooses its id."""
        ...

    async def retry(
        self,
        session_id: str,
        *,
        at: int | str | None = None,
        edits: Sequence[Object] | None = None,
        run: bool = True,
        by: str | None = None,
    ) -> Forked:
        """Retry a failed session: a fork at the phase that failed, else ConflictError.

        `at` is another point: a position, or a phase, whose last visit is meant.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a session, cancelled first if it has not ended. Its forks stay whole."""
        ...
