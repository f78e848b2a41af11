"""Lists of sessions: newest first, page by page, each with its open questions."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from callboard.engine.cursors import cursor_of, place_of
from callboard.engine.loading import is_driven, session_row
from callboard.engine.sessions import SessionInfo, SessionPage, session_info
from callboard.errors import ValidationError
from callboard.events.rows import Query, Row, where_given
from callboard.interactions.records import Interaction, interaction, length_of
from callboard.log.protocol import EventLog

_SEARCHED = ("id", "workflow", "phase", "title")
_AT_ONCE = 100
"""How many sessions to look up questions for before other tasks get to run."""

LISTED = 3
"""How many open questions a session shows in a list."""

SHOWN = 100
"""How many a session shows on its own. `pending_count` is the total."""

_LISTED_SIZE, _SHOWN_SIZE = 262_144, 1_048_576
"""How many characters these questions may have in total: prompts and configs can be long."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Which sessions to find: those that match everything given.

    `text` is text in the id, the workflow, the phase or the title.
    """

    status: str | None = None
    workflow: str | None = None
    parent: str | None = None
    text: str | None = None

    def query(self) -> Query:
        """The query for the view of sessions, newest first."""
        return Query(
            "sessions",
            where_given(status=self.status, workflow=self.workflow, parent=self.parent),
            order="created_at",
            descending=True,
            text=(_SEARCHED, self.text) if self.text else None,
        )


async def list_sessions(
    log: EventLog, sought: Sought, limit: int | None, now_ms: int
) -> list[SessionInfo]:
    """The newest matching sessions, or all of them."""
    return await _described(log, await log.rows(replace(sought.query(), limit=limit)), now_ms)


async def session_page(
    log: EventLog, sought: Sought, limit: int, cursor: str | None, now_ms: int
) -> SessionPage:
    """One page of matching sessions, newest first, starting after the cursor."""
    if limit < 1:
        raise ValidationError(f"limit must be 1 or more, not {limit}.", field="limit")
    place = None if cursor is None else place_of(cursor)
    # One more than the page shows whether there is another page.
    rows = await log.rows(replace(sought.query(), limit=limit + 1, beyond=place))
    shown = rows[:limit]
    following = cursor_of(shown[-1]) if len(rows) > limit else None
    return SessionPage(await _described(log, shown, now_ms), following)


async def _described(log: EventLog, rows: Sequence[Row], now_ms: int) -> list[SessionInfo]:
    asking = await _pending(log, [row for row in rows if row["pending"]], now_ms)
    # Few sessions are driven at any moment, and only those have an owner to check.
    driven = {row["id"] for row in rows if row["owner"] and await is_driven(log, row["id"])}
    return [
        session_info(row, asking.get(row["id"], ()), running=row["id"] in driven) for row in rows
    ]


async def session_alone(log: EventLog, session_id: str, now_ms: int) -> SessionInfo:
    """One session with its open questions."""
    row = await session_row(log, session_id)
    questions = await _oldest(log, row["id"], SHOWN, _SHOWN_SIZE) if row["pending"] else []
    lengths = accumulate(map(length_of, questions))
    # Always show the first one: otherwise there's no way to see what the session waits for.
    asking = [
        interaction(question, now_ms)
        for question, length in zip(questions, lengths, strict=True)
        if question is questions[0] or length <= _SHOWN_SIZE
    ]
    return session_info(row, asking, running=await is_driven(log, row["id"]))


async def _pending(
    log: EventLog, sessions: Sequence[Row], now_ms: int
) -> dict[str, list[Interaction]]:
    """The first open questions of these sessions, oldest first, up to a total size."""
    asking: dict[str, list[Interaction]] = {}
    room = _LISTED_SIZE
    for number, session in enumerate(sessions, 1):
        # One session at a time: for many sessions, the database would read all of their questions,
        # however large, before returning the first.
        for question in await _oldest(log, session["id"], LISTED, room):
            room -= length_of(question)
            if room >= 0:
                asking.setdefault(session["id"], []).append(interaction(question, now_ms))
        if room <= 0:
            break
        if number % _AT_ONCE == 0:
            await asyncio.sleep(0)
    return asking


async def _oldest(log: EventLog, session_id: str, limit: int, size: int) -> list[Row]:
    where = {"execution_id": session_id, "status": "pending"}
    # Don't even read those that would not be shown.
    query = Query("human_interactions", where, order="created_at", limit=limit, size=size)
    return await log.rows(query)
