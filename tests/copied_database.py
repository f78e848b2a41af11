"""A database with something of everything, and all that can be read of it."""

import asyncio
import random
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from callboard import Approval, Callboard, Phase, State, Workflow
from callboard.events.envelope import NewEvent
from callboard.events.event_name import Entry
from callboard.events.rows import KEYS, Query
from callboard.log.protocol import Writing
from callboard.testing.log_suite_material import AT, happened, several
from callboard.vendors.reports import Report


class Trip(State):
    city: str = ""
    plan: list[str] = []


def start(state: Trip, given: str) -> None:
    state.city = given


def planner(state: Trip) -> list[str]:
    return [f"see {state.city}", "eat " * 1000]


def keep(state: Trip, plan: list[str]) -> None:
    state.plan = plan


trip = Workflow(
    "trip",
    state=Trip,
    start=start,
    phases=[
        Phase(
            "plan",
            agent=planner,
            update=keep,
            human=Approval(lambda state: f"Go to {state.city}?" + "!" * 2000),
            next="end",
        ),
        Phase("end", terminal=True),
    ],
)


async def fill(path: Path) -> None:
    """Sessions, forks, a deleted one that a fork reads, odd events, plates, tokens and a limit."""
    async with Callboard.open(path, [trip]) as board:
        for session in ("waiting", "answered", "deleted"):
            await board.run(trip, f"Rome\x00\N{CHIPMUNK}{session}", session_id=session)
        (question,) = await board.inbox("answered")
        await board.answer(question.id, True, by="ada")
        await board.drive("answered")
        await board.fork("answered", position=5, run=False, session="child")
        await board.fork("deleted", position=5, run=False, session="orphan")
        await board.fork("orphan", position=5, run=False, session="grandchild")
        await board.delete("deleted")
        for session in ("s1", "s2"):
            await board.plates.hear(
                Report("claude", session, (Entry("session_start", {}),), project_path="/x\x00y")
            )
        await board.limits.set("openai", 8)
        await board.tokens.create("ci", "read", groups=["release"])
        await board.tokens.revoke((await board.tokens.create("old", "admin")).token.id)
        noise = random.Random(1).randbytes(500_000).hex()
        await board.log.append("odd", [happened("large", {"text": noise}), *several(40)])
        text = NewEvent("text", "counted", {"nul": "a\x00b"}, AT, caused_by="cause")
        await board.log.append("odd", [text], Writing(settle=True))
    board = Callboard.open(path)
    await board.log.append("owned", several(2), Writing(claim=True))
    board.log.crash()  # type: ignore[attr-defined]


def fill_once(folder: Path, path: Path) -> Path:
    """The same database for every test that changes its own copy of it."""
    made = folder / "made.db"
    if not made.exists():
        with ThreadPoolExecutor() as thread:  # The test has a loop of its own.
            thread.submit(asyncio.run, fill(made)).result()
    return Path(shutil.copy(made, path))


async def contents(board: Callboard) -> dict[str, object]:
    """Everything that can be read, by what it is."""
    log = board.log
    found: dict[str, object] = {
        "sequences": await log.read_all(0),
        "last": await log.last_sequence(),
        "counts": await log.session_counts(),
        "unsettled": await log.unsettled(),
        "sessions": _shown(await board.sessions()),
        "inbox": _shown(await board.inbox()),
        "questions": _shown(await board.people.find()),
        "plates": _shown(await board.plates.all()),
        "tokens": await log.tokens.list(),
        "limits": await log.slots.list(),
    }
    found |= {table: _shown(await log.rows(Query(table))) for table in KEYS}
    streams = {event.session_id for _, event in await log.read_all(0)} | {"deleted"}
    for stream in sorted(streams):
        head = await log.head(stream)
        found[stream] = (head, await log.lease(stream), await log.checkpoint(stream, head))
        found[f"{stream} events"] = await log.read(stream)
        if await log.rows(Query("sessions", {"id": stream})):
            states = [(await board.view(stream, at)).state for at in range(1, head + 1)]
            found[f"{stream} states"] = states
    return found


def _shown(rows: Sequence[object]) -> str:
    """PostgreSQL has no NUL in the texts of its rows."""
    ordered = [sorted(row.items()) if isinstance(row, dict) else row for row in rows]
    return repr(ordered).replace("\\x00", "\N{REPLACEMENT CHARACTER}")
