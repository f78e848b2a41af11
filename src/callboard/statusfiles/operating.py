"""Operations on sessions that leave word in their status files, when nobody drives them."""

from typing import Any

from callboard.clock import Clock
from callboard.engine.operations import Operations
from callboard.events.authors import By
from callboard.log.protocol import EventLog
from callboard.statusfiles.publishing import note


class NotedOperations(Operations):
    """Answer, pause and cancel as ever; then the status files say so."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        super().__init__(log, clock)
        self._events = log

    async def answer(
        self,
        interaction_id: str,
        value: Any = None,
        *,
        approved: bool | None = None,
        by: By = None,
        via: str | None = None,
    ) -> str | None:
        """Answer a question; returns its session, if it has one."""
        session_id = await super().answer(interaction_id, value, approved=approved, by=by, via=via)
        if session_id is not None:
            await note(self._events, session_id)
        return session_id

    async def pause(
        self,
        session_id: str,
        *,
        interrupt: bool = False,
        by: By = None,
        reason: str | None = None,
    ) -> bool:
        """Ask a session to pause; whether that was new."""
        was_new = await super().pause(session_id, interrupt=interrupt, by=by, reason=reason)
        await note(self._events, session_id)
        return was_new

    async def cancel(self, session_id: str, *, by: By = None, reason: str | None = None) -> bool:
        """End a session for good; whether it had not ended already."""
        was_new = await super().cancel(session_id, by=by, reason=reason)
        await note(self._events, session_id)
        return was_new
