"""What becomes of a question, written by its row alone: so that it costs the same whatever the
session's state weighs, and so that what closes a question closes it once."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

from callboard.clock import Clock
from callboard.engine.answering import RAN_OUT, already, closed, unknown
from callboard.engine.tasks import described
from callboard.errors import PositionConflict, SessionOwned
from callboard.events import names
from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import Query
from callboard.ids import event_id
from callboard.interactions.configs import blocks, halts
from callboard.interactions.kinds import WHOLE, manner_of
from callboard.interactions.records import Interaction, interaction
from callboard.log.protocol import EventLog, Writing

ANSWERED = ("completed", "approved", "rejected")

_CLOSED = {
    "timeout": RAN_OUT,
    "cancelled": "was cancelled",
    "failed": "has failed",
}
_QUIET = (names.CLAIMED, names.RELEASED, names.CONTRIBUTED)

Told = tuple[str, dict[str, Any]]
"""An event as name and payload."""


class Questions:
    """The questions of a log, one at a time."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def find(self, interaction_id: str) -> Interaction:
        """A question, open or closed."""
        rows = await self._log.rows(Query("human_interactions", {"id": interaction_id}))
        if not rows:
            raise unknown(interaction_id)
        return interaction(rows[0], self._clock.now_ms())

    async def find_open(self, interaction_id: str) -> Interaction:
        """A question that is open; else the error that says what became of it."""
        found = await self.find(interaction_id)
        if found.status in ANSWERED:
            raise already(interaction_id, _decided(found), awaited=found.awaited)
        if found.status != "pending":
            raise closed(interaction_id, _CLOSED.get(found.status, "is closed"))
        if found.accepted is not None:
            raise already(interaction_id, found.accepted, awaited=False)
        return found

    async def write(
        self, interaction_id: str, build: Callable[[Interaction], Told | None]
    ) -> Interaction | None:
        """Append what `build` makes of the question while it is open; again after a conflict.

        Returns the question as it was, or None when there was nothing to write.
        """
        stream = (await self.find_open(interaction_id)).stream
        # One after the other: of many at once, each would make all the others begin again.
        turn = self._turns.setdefault(stream, asyncio.Lock())
        async with turn:
            return await self._write(stream, interaction_id, build)

    async def _write(
        self, stream: str, interaction_id: str, build: Callable[[Interaction], Told | None]
    ) -> Interaction | None:
        while True:
            # In this order: what closes the question after the row was read, moves the head.
            head = await self._log.head(stream)
            asked = await self.find_open(interaction_id)
            told = build(asked)
            if told is None:
                return None
            before = await self._log.read(stream, head - 1, limit=1)
            if not before:
                continue  # Deleted meanwhile, by another process.
            try:
                await self._append(asked, told, before[0])
            except (PositionConflict, SessionOwned):
                continue
            return asked

    async def _append(self, asked: Interaction, told: Told, before: Event) -> None:
        """Append what happened to a question, and the end of its task if that closes it."""
        task = await self._task(asked) if told[0] in names.CLOSES_QUESTION else None
        ending = [] if task is None else [(names.TASK_COMPLETED, task)]
        events = chained([told, *ending], self._clock.now_ms(), before.id)
        # Somebody has to go on with it: whoever drives the session.
        moves = asked.awaited or task is not None or halts(asked.type, asked.config)
        writing = Writing(expect=before.position)
        if not moves or told[0] in _QUIET:
            writing = await unmoved(self._log, asked.stream, before.position)
        await self._log.append(asked.stream, events, writing)

    async def _task(self, asked: Interaction) -> dict[str, Any] | None:
        """The task that ends with a question, if it has one."""
        if asked.session_id is None or not blocks(asked.type, asked.config):
            return None
        rows = await self._log.rows(Query("tasks", {"id": asked.id, "status": "running"}))
        return described(asked.id, rows[0]["title"]) if rows else None


def chained(told: Sequence[Told], now_ms: int, cause: str | None = None) -> list[NewEvent]:
    """Events of one append, each caused by the one before it."""
    events: list[NewEvent] = []
    for name, payload in told:
        events.append(NewEvent(event_id(), name, payload, now_ms, caused_by=cause))
        cause = events[-1].id
    return events


async def unmoved(log: EventLog, stream: str, head: int) -> Writing:
    """How to append what gives nobody anything to do: a stream that was settled stays so."""
    lease = await log.lease(stream)
    settled = lease is not None and lease.owner is None and lease.settled == head
    return Writing(expect=head, settle=settled)


def _decided(found: Interaction) -> Any:
    return found.response if manner_of(found.type) in WHOLE else found.response["value"]
