"""Sessions in a list: newest first, page by page, each with what is open in it."""

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
"""How many sessions' questions are looked for before others get their turn."""

LISTED = 3
"""How many open questions a session shows in a list."""

SHOWN = 100
"""How many it shows by itself. `pending_count` says how many there are."""

_LISTED_SIZE, _SHOWN_SIZE = 262_144, 1_048_576
"""How many characters these questions may have in all: prompts and configs can be long."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Which sessions are meant: those that fit everything that is given.

    `text` is something that the id, the workflow, the phase or the title contains.
    """

    status: str | None = None
    workflow: str | None = None
    parent: str | None = None
    text: str | None = None

    def query(self) -> Query:
        """The question to the view of sessions, newest first."""
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
    """The newest sessions that fit, or all of them."""
    return await _described(log, await log.rows(replace(sought.query(), limit=limit)), now_ms)


async def session_page(
    log: EventLog, sought: Sought, limit: int, cursor: str | None, now_ms: int
) -> SessionPage:
    """The newest sessions that fit, or those after the place that a cursor tells."""
    if limit < 1:
        raise ValidationError(f"limit must be 1 or more, not {limit}.", field="limit")
    place = None if cursor is None else place_of(cursor)
    # One more than is shown tells whether there is another page.
    rows = await log.rows(replace(sought.query(), limit=limit + 1, beyond=place))
    shown = rows[:limit]
    following = cursor_of(shown[-1]) if len(rows) > limit else None
    return SessionPage(await _described(log, shown, now_ms), following)


async def _described(log: EventLog, rows: Sequence[Row], now_ms: int) -> list[SessionInfo]:
    asking = await _pending(log, [row for row in rows if row["pending"]], now_ms)
    # Few sessions are driven at any moment, and only those have an owner to be looked at.
    driven = {row["id"] for row in rows if row["owner"] and await is_driven(log, row["id"])}
    return [
        session_info(row, asking.get(row["id"], ()), running=row["id"] in driven) for row in rows
    ]


async def session_alone(log: EventLog, session_id: str, now_ms: int) -> SessionInfo:
    """One session, and what is open in it."""
    row = await session_row(log, session_id)
    questions = await _oldest(log, row["id"], SHOWN, _SHOWN_SIZE) if row["pending"] else []
    lengths = accumulate(map(length_of, questions))
    # The first is always shown: without it no one could say what the session waits for.
    asking = [
        interaction(question, now_ms)
        for question, length in zip(questions, lengths, strict=True)
        if question is questions[0] or length <= _SHOWN_SIZE
    ]
    return session_info(row, asking, running=await is_driven(log, row["id"]))


async def _pending(
    log: EventLog, sessions: Sequence[Row], now_ms: int
) -> dict[str, list[Interaction]]:
    """The first open questions of these sessions, oldest first, until they get too long."""
    asking: dict[str, list[Interaction]] = {}
    room = _LISTED_SIZE
    for number, session in enumerate(sessions, 1):
        # One session at a time: to look for those of many, the database reads all of them, however
        # large, before it gives the first.
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
    # Those that would not be shown are not even read.
    query = Query("human_interactions", where, order="created_at", limit=limit, size=size)
    return await log.rows(query)
