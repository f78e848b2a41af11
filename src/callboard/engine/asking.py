"""Questions that are put from outside a workflow's own steps: in a session, or standing alone."""

from collections.abc import Mapping
from typing import Any

from callboard.clock import Clock
from callboard.engine.loading import not_found
from callboard.engine.resolving import Told, chained, unmoved
from callboard.engine.tasks import task_payload
from callboard.errors import ConflictError, PositionConflict, SessionExists, SessionOwned
from callboard.events import names
from callboard.events.rows import Query
from callboard.ids import keyed_id, short_id
from callboard.log.protocol import EventLog, Writing


class Asking:
    """Puts questions into a log."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    async def alone(self, payload: Mapping[str, Any], key: str | None = None) -> str:
        """Put a question that belongs to no session; returns its id.

        Its stream has its id. No session has it: a stream can be begun only once.
        """
        while True:
            id = short_id() if key is None else keyed_id("standalone", key)
            asked = (names.REQUESTED, {"id": id, **payload, "standalone": True})
            try:
                writing = Writing(expect=0, settle=True)
                await self._log.append(id, chained([asked], self._clock.now_ms()), writing)
            except SessionExists:
                if key is None:
                    continue
            return id

    async def within(
        self, session_id: str, payload: Mapping[str, Any], key: str | None = None
    ) -> str:
        """Put a question in a session that has not ended, and open its task; returns its id."""
        id = short_id() if key is None else keyed_id(session_id, key)
        while True:
            # In this order: what ends the session after the row was read, moves the head.
            head = await self._log.head(session_id)
            if key is not None and await self._is_known(id):
                return id
            await self._check_open(session_id)
            told: list[Told] = [(names.REQUESTED, {"id": id, **payload})]
            task = task_payload(told[0][1])
            if task is not None:
                told.append((names.TASK_STARTED, task))
            try:
                writing = await unmoved(self._log, session_id, head)
                await self._log.append(session_id, chained(told, self._clock.now_ms()), writing)
            except (PositionConflict, SessionOwned):
                continue
            return id

    async def _is_known(self, id: str) -> bool:
        return bool(await self._log.rows(Query("human_interactions", {"id": id})))

    async def _check_open(self, session_id: str) -> None:
        rows = await self._log.rows(Query("sessions", {"id": session_id}))
        if not rows:
            raise not_found(session_id)
        if rows[0]["ended"]:
            raise ConflictError(
                f"Session {session_id} has ended ({rows[0]['ended']}), and nothing can be "
                "asked in it. Ask without a session.",
                session_id=session_id,
            )
