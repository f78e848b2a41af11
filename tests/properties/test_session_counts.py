"""Counting what has changed gives what counting everything gives."""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.errors import CallboardError
from callboard.events.rows import Change, Query
from callboard.log.protocol import Base, Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite_material import changing, described, happened, session_row

names = st.sampled_from(["a", "b", "c", "d", "e"])
changes = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.sampled_from([None, "p"]),
        "ended": st.sampled_from([None, "completed", "failed", "cancelled"]),
        "paused": st.integers(0, 1),
        "pending": st.integers(0, 2),
    },
)


@dataclass
class Started:
    session: str
    row: dict[str, object]


@dataclass
class Changed:
    session: str
    row: dict[str, object]


@dataclass
class Forked:
    session: str
    base: str


@dataclass
class Grown:
    """Events that change no row."""

    session: str
    events: int


@dataclass
class Deleted:
    session: str


@dataclass
class Counted:
    pass


steps = st.one_of(
    st.builds(Started, names, changes),
    st.builds(Changed, names, changes),
    st.builds(Forked, names, names),
    st.builds(Grown, names, st.integers(1, 30)),
    st.builds(Deleted, names),
    st.builds(Counted),
)


async def take(log: SqliteLog, step: object) -> None:
    match step:
        case Started(session, row):
            put = changing(session_row(session, **row))  # pyright: ignore[reportArgumentType]
            await log.append(session, [put], Writing(expect=0))
        case Changed(session, row):
            change = Change("sessions", {"id": session}, row)  # pyright: ignore[reportArgumentType]
            await log.append(session, [changing(change)])
        case Forked(session, base):
            made = [changing(session_row(session))]
            await log.append(session, made, Writing(base=Base(base, 1)))
        case Grown(session, events):
            await log.append(session, [happened() for _ in range(events)])
        case Deleted(session):
            await log.delete(session)
        case _:
            await log.session_counts()


async def both(steps: list[tuple[bool, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        mine, other = (SqliteLog.open(Path(folder, "x.db"), described) for _ in range(2))
        for is_mine, step in steps:
            try:
                await take(mine if is_mine else other, step)
            except CallboardError:
                continue
        for log in (mine, other):
            query = Query("sessions", columns=("status",), count=True)
            wanted = {row["status"]: row["count"] for row in await log.rows(query)}
            found = await log.session_counts()
            assert {status: count for status, count in found.items() if count} == wanted
        await mine.close()
        await other.close()


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.booleans(), steps), max_size=25))
def test_both_ways_to_count_agree(steps: list[tuple[bool, object]]):
    asyncio.run(both(steps))
