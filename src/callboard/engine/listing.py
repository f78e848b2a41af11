"""Sessions in a list: newest first, page by page, each with what is open in it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from callboard.engine.cursors import cursor_of, place_of
from callboard.engine.sessions import SessionInfo, SessionPage, session_info
from callboard.errors import ValidationError
from callboard.events.rows import Cell, Query, Row
from callboard.interactions.records import Interaction, interaction, length_of
from callboard.log.protocol import EventLog

_SEARCHED = ("id", "workflow", "phase")
_AT_ONCE = 20
"""How many sessions' questions one statement finds, where each has few."""

LISTED = 3
"""How many open questions a session shows in a list."""

SHOWN = 100
"""How many it shows by itself. `pending_count` says how many there are."""

_LISTED_SIZE, _SHOWN_SIZE = 262_144, 1_048_576
"""How many characters these questions may have in all: prompts and configs can be long."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Which sessions are meant: those that fit everything that is given.

    `text` is something that the id, the workflow or the phase contains.
    """

    status: str | None = None
    workflow: str | None = None
    parent: str | None = None
    text: str | None = None

    def query(self) -> Query:
        """The question to the view of sessions, newest first."""
        given: Mapping[str, Cell] = {
            "status": self.status,
            "workflow": self.workflow,
            "parent": self.parent,
        }
        return Query(
            "sessions",
            {column: value for column, value in given.items() if value is not None},
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
    driven = {row["id"] for row in rows if row["owner"] and await _is_driven(log, row["id"])}
    return [
        session_info(row, asking.get(row["id"], ()), running=row["id"] in driven) for row in rows
    ]


async def session_alone(log: EventLog, row: Row, now_ms: int) -> SessionInfo:
    """One session, and what is open in it."""
    questions = await _oldest(log, row["id"], SHOWN) if row["pending"] else []
    lengths = accumulate(map(length_of, questions))
    # The first is always shown: without it nobody could say what the session waits for.
    asking = [
        interaction(question, now_ms)
        for question, length in zip(questions, lengths, strict=True)
        if question is questions[0] or length <= _SHOWN_SIZE
    ]
    return session_info(row, asking, running=await _is_driven(log, row["id"]))


async def _pending(
    log: EventLog, sessions: Sequence[Row], now_ms: int
) -> dict[str, list[Interaction]]:
    """The first open questions of these sessions, oldest first."""
    asking: dict[str, list[Interaction]] = {}
    room = _LISTED_SIZE
    async for question in _first_few(log, sessions):
        room -= length_of(question)
        if room >= 0:
            of_session = asking.setdefault(question["execution_id"], [])
            of_session.append(interaction(question, now_ms))
    return asking


async def _first_few(log: EventLog, sessions: Sequence[Row]) -> AsyncIterator[Row]:
    few = [row["id"] for row in sessions if row["pending"] <= LISTED]
    for first in range(0, len(few), _AT_ONCE):
        some = few[first : first + _AT_ONCE]
        query = Query("human_interactions", {"status": "pending"}, one_of=("execution_id", some))
        for row in sorted(await log.rows(query), key=lambda row: (row["created_at"], row["id"])):
            yield row
    for row in sessions:
        if row["pending"] > LISTED:
            for question in await _oldest(log, row["id"], LISTED):
                yield question


async def _oldest(log: EventLog, session_id: str, limit: int) -> list[Row]:
    where = {"execution_id": session_id, "status": "pending"}
    return await log.rows(Query("human_interactions", where, order="created_at", limit=limit))


async def _is_driven(log: EventLog, session_id: str) -> bool:
    lease = await log.lease(session_id)
    return lease is not None and lease.owner is not None and lease.alive
