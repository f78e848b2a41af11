"""Finds sessions that have work to do from rows alone, without folding any session."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from callboard.clock import Clock
from callboard.events.rows import Query, Row
from callboard.log.protocol import EventLog

PAGE = 500
"""How many sessions to look for at once."""

# Sorts after every possible session id.
_LAST = "\U0010ffff"

Wanted = Callable[[Sequence[str]], Awaitable[list[str]]]
"""Which of these sessions to look at."""


@dataclass(frozen=True, slots=True)
class DueSessions:
    """Sessions to look at, whether there may be more, and when the next one is due."""

    sessions: list[str]
    more: bool
    next_at: int | None


def is_behind(row: Row) -> bool:
    """Whether there is something in a session's stream that has not been acted on."""
    return row["stream_settled"] < row["stream_head"]


class Lookout:
    """Finds streams that have grown since they were settled, and sessions that are due.

    Those whose turn for a slot of a limit has come are due as well. A waiting session is neither,
    so any number of them costs nothing.
    """

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._width = PAGE

    async def look(self, wanted: Wanted) -> DueSessions:
        """Find about one page of sessions that are wanted."""
        now = self._clock.now_ms()
        unsettled, more_unsettled = await self._unsettled(wanted)
        due, more_due = await self._due(now, wanted)
        called = await wanted(await self._log.slots.due())
        return DueSessions(
            list(dict.fromkeys([*unsettled, *due, *called])),
            more_unsettled or more_due,
            await self._next_at(now),
        )

    async def standing(self, sessions: Sequence[str]) -> dict[str, Row]:
        """How long the streams of these sessions are, and who drives them."""
        if not sessions:
            return {}
        rows = await self._log.rows(Query("sessions", one_of=("id", sessions)))
        return {row["id"]: row for row in rows}

    async def row(self, session_id: str) -> Row | None:
        """The row of a session, with the status of its stream; both are read at once."""
        rows = await self._log.rows(Query("sessions", {"id": session_id}, with_stream=True))
        return rows[0] if rows else None

    async def is_due(self, session_id: str) -> bool:
        """Whether a session's timer has run out, or there is a slot for it."""
        due = ("at", self._clock.now_ms())
        rows = await self._log.rows(Query("wakeups", {"session": session_id}, at_most=due, limit=1))
        return bool(rows) or bool(await self._log.slots.due(session_id))

    async def _unsettled(self, wanted: Wanted) -> tuple[list[str], bool]:
        while True:
            page = await self._log.unsettled(self._width)
            found = await wanted(page)
            full = len(page) == self._width
            if not full and len(page) < self._width // 8:
                self._width = max(PAGE, self._width // 2)
            if not full or len(found) >= PAGE // 2:
                return found, full
            # The first ones aren't for us, and would hide the others forever.
            self._width *= 4

    async def _due(self, now: int, wanted: Wanted) -> tuple[list[str], bool]:
        found: list[str] = []
        page = await self._due_page(now, None)
        while page and len(found) < PAGE:
            found += await wanted([row["session"] for row in page])
            full = len(page) == PAGE
            page = await self._due_page(now, page[-1]) if full else []
        return found, bool(page)

    async def _due_page(self, now: int, last: Row | None) -> list[Row]:
        beyond = None if last is None else (last["at"], last["session"], last["key"])
        query = Query("wakeups", at_most=("at", now), beyond=beyond, order="at", limit=PAGE)
        return await self._log.rows(query)

    async def _next_at(self, now: int) -> int | None:
        later = Query("wakeups", beyond=(now, _LAST, _LAST), order="at", limit=1)
        rows = await self._log.rows(later)
        return rows[0]["at"] if rows else None
