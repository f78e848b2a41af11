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
        """One page of sessions, newest first; `cursor` is `next_cursor` of the previous page.

        `q` is text to find in the id, the workflow, the phase or the title.
        """
        ...

    async def session(self, session_id: str) -> SessionInfo:
        """One session, with its open questions; SessionNotFound if it doesn't exist."""
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
        """The events of all streams, each with its position in the log; by default, only new ones.

        `on_connect` is called whenever a connection is made: nothing is missed between what you
        read after that call and the events from this stream.
        """
        ...


class SessionHistory(Protocol):
    """Look at a session at any position."""

    async def view(self, session_id: str, at: int | None = None) -> SessionView:
        """Everything known about a session at a position."""
        ...

    async def state(self, session_id: str, at: int | None = None) -> Any:
        """The state at a position: plain JSON, or the workflow's own type if it is loaded here."""
        ...

    async def diff(self, session_id: str, before: int, after: int) -> list[dict[str, Json]]:
        """What changed in the state between two positions, as a JSON Patch."""
        ...

    def export(self, session_id: str, *, format: str = "json") -> AsyncIterator[bytes]:
        """A session with its events and state as one `json` or `markdown` document, in chunks."""
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
    """A session that was started; await it to find out how it stopped."""

    @property
    def session_id(self) -> str:
        """Its session."""
        ...

    def __await__(self) -> Generator[object, None, RunResult]:
        """Wait until it ends, pauses, or waits for someone who can't be asked here."""
        ...


class SessionRunning(Protocol):
    """Start sessions, and drive them."""

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

    def run(  # noqa: PLR0913 - public API, all by keyword
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
        """Drive a session, or follow a server that does, until it waits, pauses or ends."""
        ...


class SessionControl(Protocol):
    """Control a session."""

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
        """Resume a paused session; False if it was not paused, NotResumable if it has ended."""
        ...

    async def cancel(
        self, session_id: str, *, by: str | None = None, reason: str | None = None
    ) -> bool:
        """Cancel a session; False if it had already ended."""
        ...

    async def rename(
        self, session_id: str, title: str | None, *, by: str | None = None
    ) -> SessionInfo:
        """Change a session's title, even after it ended; None removes it."""
        ...

    async def fork(  # noqa: PLR0913 - public API, all by keyword
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
        """Fork a session: start a new one from a point in this one; `session` is its id."""
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
        """Retry a failed session: fork it at the phase that failed; ConflictError if none did.

        `at` is another point: a position, or a phase, which means its last visit.
        """
        ...

    async def delete(self, session_id: str) -> None:
        """Permanently delete a session, cancelling it first if it is still open. Forks are kept."""
        ...
