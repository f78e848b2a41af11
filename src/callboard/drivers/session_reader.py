"""Reads sessions from a log: lists, pages, events, and the view at any position."""

from collections.abc import AsyncIterator, Callable

from callboard.clock import Clock
from callboard.display.session_export import exported
from callboard.drafts import patch
from callboard.drivers.execution import with_final_state
from callboard.engine.listing import Sought, list_sessions, session_alone, session_page
from callboard.engine.loading import not_found, session_row, view_at
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.engine.workers import WorkerOverview, look_at_workers, look_at_workers_of
from callboard.events.envelope import Event
from callboard.events.names import TERMINAL
from callboard.log.protocol import EventLog, Lease, Limit, Portion
from callboard.state.session import SessionView

_PAGE = Portion(1000, 1_048_576)
"""How much of a session to read at once for an export."""


class SessionReader:
    """Reads sessions from a log, no matter which process writes them."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self.log = log
        self.clock = clock

    async def sessions(
        self, *, status: str | None = None, workflow: str | None = None, limit: int | None = None
    ) -> list[SessionInfo]:
        """The sessions, newest first."""
        sought = Sought(status, workflow)
        return await list_sessions(self.log, sought, limit, self.clock.now_ms())

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
        sought = Sought(status, workflow, parent, q)
        return await session_page(self.log, sought, limit, cursor, self.clock.now_ms())

    async def session(self, session_id: str) -> SessionInfo:
        """One session, with its open questions."""
        return await session_alone(self.log, session_id, self.clock.now_ms())

    async def lease(self, session_id: str) -> Lease:
        """Who drives a session, or drove it last."""
        found = await self.log.lease(session_id)
        if found is None:
            raise not_found(session_id)
        return found

    async def workers(self, session_id: str | None = None) -> WorkerOverview:
        """Who drives which sessions, and the sessions that no running worker can drive."""
        if session_id is None:
            return await look_at_workers(self.log, self.clock)
        return await look_at_workers_of(self.log, self.clock, session_id)

    async def view(self, session_id: str, at: int | None = None) -> SessionView:
        """Everything known about a session at a position."""
        return await view_at(self.log, session_id, at)

    async def events(self, session_id: str, after: int = 0, limit: Limit = None) -> list[Event]:
        """A session's events after a position."""
        await session_row(self.log, session_id)
        events = await self.log.read(session_id, after, limit=limit)
        if events and events[-1].name == "workflow:completed":
            return with_final_state(events, (await self.view(session_id)).state)
        return events

    async def export(self, session_id: str, *, format: str = "json") -> AsyncIterator[bytes]:
        """A session with its events and state as one `json` or `markdown` document, in chunks."""
        info = await self.session(session_id)
        state = (await self.view(session_id, info.position)).state
        pages = self._pages(session_id, info.position)
        async for piece in exported(info, pages, state, format):
            yield piece

    async def _pages(self, session_id: str, upto: int) -> AsyncIterator[list[Event]]:
        after = 0
        while events := await self.log.read(session_id, after, upto, limit=_PAGE):
            yield events
            after = events[-1].position

    async def tail(self, session_id: str, after: int = 0) -> AsyncIterator[Event]:
        """A session's history, then its events as they come; ends with it.

        The session may start later.
        """
        async for event in self.log.tail(session_id, after):
            if event.name not in TERMINAL or await self._is_parents(session_id, event):
                yield event
                continue
            yield with_final_state([event], (await self.view(session_id)).state)[0]
            return

    async def _is_parents(self, session_id: str, event: Event) -> bool:
        """Whether an event is in the part that a fork shares with its parent."""
        row = await session_row(self.log, session_id)
        return event.position <= (row["fork_position"] or 0)

    async def tail_all(
        self, after: int | None = None, *, on_connect: Callable[[], None] | None = None
    ) -> AsyncIterator[tuple[int, Event]]:
        """The events of all streams with their positions in the log; by default, only new ones."""
        place = await self.log.last_sequence() if after is None else after
        if on_connect is not None:
            on_connect()
        async for placed in self.log.tail_all(place):
            yield placed

    async def diff(self, session_id: str, before: int, after: int) -> list[dict[str, object]]:
        """What changed in the state between two positions, as a JSON Patch."""
        old, new = await self.view(session_id, before), await self.view(session_id, after)
        return [dict(one) for one in patch.diff(old.state, new.state)]
