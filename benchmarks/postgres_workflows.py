"""Claim: five-phase workflows per second on PostgreSQL, every step durable.

At 16 at once, faster than DBOS and than LangGraph's AsyncPostgresSaver on the same PostgreSQL (the
aims are 4× and 3×), at least 5× Temporal's dev server, and in two processes at least 1.2× as fast
as in one (1.5×).

A workflow is that of `workflows`: five phases whose agent returns a short text that is appended to
the state. 1, 16 and 64 workflows run at once, in 1, 2 and 4 processes; every process starts its own
workflows and drives them itself, on all sides. Then `callboard worker` processes get theirs through
procrastinate: all are queued, and the time until the last has ended counts.

Rounds alternate between all contenders, each round with new processes and a new database; medians
are compared. One PostgreSQL server with fsync serves all but Temporal, whose dev server keeps its
data in a SQLite file.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import HERE, PEERS, Result, Row, brief, finish, peers_python, progress, scratch
from databases import PostgresServer, postgres, version, work_on
from lanes import run_lanes, together

WIDTHS = (1, 16, 64)
PROCESSES = (1, 2, 4)
HERE_SCRIPT = str(Path(__file__).resolve())
DBOS, LANGGRAPH, TEMPORAL = "DBOS", "LangGraph", "Temporal"
FASTER, SCALES, TIMES_TEMPORAL = 1.0, 1.2, 5.0


async def ours(url: str, width: int, count: int, warm: int) -> dict[str, Any]:
    from workflows import define

    from callboard import Callboard

    five = define()
    async with Callboard.open(url, workflows=[five]) as board:

        async def once(lane: int) -> None:
            result = await board.run(five, input="go")
            assert result.status == "completed", result
            assert list(result.state.items) == ["done"] * 5, result.state

        return await run_lanes(once, width, count, warm)


@dataclass(frozen=True)
class Contender:
    """A side at one width, in so many processes."""

    who: str
    width: int
    processes: int
    command: tuple[str, ...]
    count: int
    uses_postgres: bool = True

    @property
    def name(self) -> str:
        where = "" if self.processes == 1 else f", {self.processes} processes"
        return f"{self.who}, {self.width} at once{where}"

    def run(self, server: PostgresServer) -> dict[str, Any]:
        place = [f"--url={server.create()}"] if self.uses_postgres else []
        share = self.processes
        sizes = [f"--width={max(1, self.width // share)}", f"--count={self.count // share}"]
        return together([[*self.command, *place, *sizes, "--warm=16"]] * share)


async def queue(url: str, count: int) -> float:
    """Start sessions, and queue them, in a process that drives none; returns when it started."""
    from workflows import define

    from callboard import Callboard
    from callboard.drivers.choice import Driven, choose_driver

    async with Callboard.open(url, workflows=[define()]) as board:
        driven = Driven(board.log, board.driver, board.workflows, board.clock)
        driver = choose_driver("procrastinate", driven, 64, works=False)
        await driver.start()
        began = time.monotonic()
        for _ in range(count // 16):
            await asyncio.gather(*(board.start("five", "go") for _ in range(16)))
        while driver.queued:
            await asyncio.sleep(0.01)
        await driver.stop(0)
        return began


def queued(server: PostgresServer, workers: int, count: int) -> dict[str, Any]:
    """How quickly workers end what was queued while they had nothing else to do."""
    url = server.create()
    name = url.rpartition("/")[2]
    ended = "SELECT count(*) FROM sessions WHERE ended = 'completed'"
    with scratch() as folder:
        options = ("--concurrency=16",)
        asyncio.run(queue(url, 0))  # So that all tables are there.
        running = [work_on(folder, url, *options, flows=HERE / "five.py") for _ in range(workers)]
        try:
            asyncio.run(queue(url, 16))
            while server.execute(ended, name) != [(16,)]:
                time.sleep(0.02)
            began = asyncio.run(queue(url, count))
            while server.execute(ended, name) != [(16 + count,)]:
                time.sleep(0.02)
            seconds = time.monotonic() - began
        finally:
            for worker in running:
                worker.kill()
    return {"per_second": count / seconds, "seconds": seconds}


def contenders(part: float) -> list[Contender]:
    mine = (sys.executable, HERE_SCRIPT, "--side")
    python = str(peers_python())
    dbos, langgraph = str(PEERS / "dbos_postgres.py"), str(PEERS / "langgraph_postgres.py")
    temporal = (python, str(PEERS / "temporal_workflows.py"))

    def sized(full: int) -> int:
        return max(64, int(full * part))

    cases = [(1, 1), *((width, share) for width in (16, 64) for share in PROCESSES)]
    found = [
        Contender("ours", width, share, mine, sized(192 if width == 1 else 640))
        for width, share in cases
    ]
    found += [
        Contender(f"{DBOS} {mode}", width, share, (python, dbos, mode), sized(128))
        for mode, width, share in (
            ("threads", 1, 1),
            ("threads", 16, 1),
            ("tasks", 16, 1),
            ("tasks", 64, 1),
            ("tasks", 16, 2),
        )
    ]
    found += [
        Contender(LANGGRAPH, width, share, (python, langgraph), sized(128))
        for width, share in ((1, 1), (16, 1), (64, 1), (16, 2))
    ]
    return [*found, Contender(TEMPORAL, 16, 1, temporal, sized(64), uses_postgres=False)]


def measure(quick: bool = False) -> Result:
    rounds, part = (1, 0.25) if quick else (3, 1.0)
    sides: dict[str, Callable[[PostgresServer], dict[str, Any]]] = {
        side.name: side.run for side in contenders(part)
    }
    for workers in PROCESSES[:2]:
        amount = max(64, int(320 * part))
        sides[f"{workers} worker(s)"] = lambda server, workers=workers, amount=amount: queued(
            server, workers, amount
        )
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in sides}
    progress("postgres_workflows: five phases, every step durable, on PostgreSQL")
    with postgres() as server:
        about = version(server)
        for number in range(rounds):
            for name, run in sides.items():
                runs[name].append(run(server))
                progress(f"  round {number + 1}/{rounds}  {name}: {brief(runs[name][-1])}")
    return told(runs, rounds, about)


def told(runs: dict[str, list[dict[str, Any]]], rounds: int, about: str) -> Result:
    rates = {
        name: statistics.median(run["per_second"] for run in side) for name, side in runs.items()
    }

    def best(who: str, rest: str) -> tuple[str, float]:
        """The quicker of a peer's ways."""
        found = {name: rate for name, rate in rates.items() if name.startswith(who)}
        found = {name: rate for name, rate in found.items() if name.endswith(rest)}
        return max(found.items(), key=lambda one: one[1])

    def against(who: str, rest: str, least: float | None) -> Row:
        name, rate = best(who, rest)
        mine = rates[f"ours, {rest}"]
        return Row(
            f"PostgreSQL: five-phase workflows/s, {rest}",
            "–" if least is None else f"> {least:g}×",
            f"{mine:,.0f}/s",
            f"{rate:,.1f}/s ({name.partition(',')[0]})",
            f"{mine / rate:.1f}×",
            None if least is None else mine > least * rate,
        )

    at_once = "16 at once"
    rows = [
        against(DBOS, at_once, FASTER),
        against(LANGGRAPH, at_once, FASTER),
        against(TEMPORAL, at_once, TIMES_TEMPORAL),
        *(scaling(rates, processes) for processes in PROCESSES[1:]),
    ]
    for rest in ("1 at once", "64 at once", "16 at once, 2 processes"):
        rows += [against(DBOS, rest, None), against(LANGGRAPH, rest, None)]
    rows.append(queue_row(rates))
    busy = {name: statistics.median(one.get("cpu_ms", 0) for one in runs[name]) for name in runs}
    shown = ("ours, 16 at once", best(DBOS, at_once)[0], f"{LANGGRAPH}, 16 at once")
    return Result(
        "postgres_workflows",
        rows=rows,
        notes=[
            f"{rounds} round(s), {about}. Of DBOS's threads and async workflows the quicker is "
            "compared; LangGraph has a saver with a connection for each lane, because a saver lets "
            "one statement through at a time. Temporal's dev server isn't meant for production.",
            "All rates: " + ", ".join(f"{name}: {rate:,.1f}/s" for name, rate in rates.items()),
            "Processor time per workflow in our process, PostgreSQL's own not included: "
            + ", ".join(f"{name}: {busy[name]:.1f} ms" for name in shown)
            + ". All processes, PostgreSQL's included, share this machine's cores.",
        ],
        data={"rates": rates, "runs": runs},
    )


def scaling(rates: dict[str, float], processes: int) -> Row:
    one, more = rates["ours, 16 at once"], rates[f"ours, 16 at once, {processes} processes"]
    bar = processes == PROCESSES[1]
    return Row(
        f"PostgreSQL: the same in {processes} processes, 16 at once in all",
        f"≥ {SCALES:g}× one" if bar else "–",
        f"{more:,.0f}/s",
        f"{one:,.0f}/s (ours, one process)",
        f"{more / one:.2f}×",
        more >= SCALES * one if bar else None,
    )


def queue_row(rates: dict[str, float]) -> Row:
    one, two = rates["1 worker(s)"], rates["2 worker(s)"]
    return Row(
        "PostgreSQL: through procrastinate, two workers",
        "–",
        f"{two:,.0f}/s",
        f"{one:,.0f}/s (ours, one worker)",
        f"{two / one:.2f}×",
        None,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--url")
    parser.add_argument("--count", type=int, default=640)
    parser.add_argument("--warm", type=int, default=16)
    parser.add_argument("--width", type=int, default=16)
    given = parser.parse_args()
    if given.side:
        found = asyncio.run(ours(given.url, given.width, given.count, given.warm))
        print(json.dumps(found))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
