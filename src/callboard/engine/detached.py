"""Interactive sessions that outlived their workflow.

No driver handles the stream of such a session. People end it, or it times out here.
"""

from contextlib import suppress

from callboard.clock import Clock
from callboard.engine.questions import QuestionRows
from callboard.errors import ConflictError
from callboard.events import names
from callboard.events.event_name import Entry
from callboard.events.rows import Query, Row
from callboard.interactions.configs import KIND
from callboard.interactions.expiry import expired
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog


async def expire_detached(log: EventLog, clock: Clock, stream: str) -> None:
    """Time out the session in this stream if its deadline has passed; otherwise do nothing."""

    def build(asked: Interaction) -> Entry | None:
        return expired(asked.id) if asked.is_due(clock.now_ms()) and asked.is_detached else None

    questions = QuestionRows(log, clock)
    for row in await log.rows(Query("human_interactions", {"stream": stream, "status": "pending"})):
        with suppress(ConflictError):  # Someone has just ended it.
            await questions.write(await questions.find_open(row["id"]), build)


async def close_detached(log: EventLog, clock: Clock, session_id: str) -> list[str]:
    """Cancel the detached sessions that a session left open; returns all their streams."""
    questions = QuestionRows(log, clock)
    streams: list[str] = []
    for row in await _detached(log, session_id):
        if row["status"] == "pending":
            with suppress(ConflictError):  # Someone has just ended it.
                await questions.write(await questions.find_open(row["id"]), _withdrawn)
        streams.append(row["stream"])
    return streams


def _withdrawn(asked: Interaction) -> Entry:
    reason = "its session was deleted"
    return names.INPUT_CANCELLED({"id": asked.id, "outcome": "cancelled", "reason": reason})


async def _detached(log: EventLog, session_id: str) -> list[Row]:
    rows = await log.rows(Query("human_interactions", {"execution_id": session_id, "type": KIND}))
    return [row for row in rows if row["stream"] != session_id]
