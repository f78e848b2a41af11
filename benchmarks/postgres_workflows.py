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

What holds several processes back is watched while they run (`postgres_pressure`). Beside it they
run once more with a sequence in place of the counter's row, which each commit keeps locked: that
shows what the row costs. It can't be used, because tails would miss events.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pictures
import postgres_pressure
import psycopg
from common import HERE, PEERS, Result, Row, brief, finish, peers_python, progress, scratch
from databases import PostgresServer, postgres, version, work_on
from lanes import run_lanes, together
from postgres_appends import prepared, watch_commits
from serving import until

PLOT = HERE / "postgres_workflows.png"
BATCH = 16

WIDTHS = (1, 16, 64)
PROCESSES = (1, 2, 4)
HERE_SCRIPT = str(Path(__file__).resolve())
OURS, DBOS, LANGGRAPH, TEMPORAL = "ours", "DBOS", "LangGraph", "Temporal"
UNCOUNTED = "without the counter"
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

        await board.connect()
        sizes = watch_commits(board.log)
        found = await run_lanes(once, width, count, warm, warmed=sizes.clear)
        return found | {"commits": len(sizes), "events": sum(sizes)}


@dataclass(frozen=True)
class Contender:
    """A side at one width, in so many processes."""

    who: str
    width: int
    processes: int
    command: tuple[str, ...]
    count: int
    uses_postgres: bool = True
    is_counted: bool = True
    """Whether sequences come from the counter's row, as they do."""

    @property
    def name(self) -> str:
        where = "" if self.processes == 1 else f", {self.processes} processes"
        return f"{self.who}, {self.width} at once{where}"

    def run(self, server: PostgresServer) -> dict[str, Any]:
        share = self.processes
        sizes = [f"--width={max(1, self.width // share)}", f"--count={self.count // share}"]
        command = [*self.command, *sizes, "--warm=16"]
        if not self.uses_postgres:
            return together([command] * share)
        if self.who not in (OURS, UNCOUNTED):
            return together([[*command, f"--url={server.create()}"]] * share)
        url = prepared(server)
        if not self.is_counted:
            server.execute(postgres_pressure.UNCOUNTED, url.rpartition("/")[2])
        watch = postgres_pressure.Watch(server, url)
        return together([[*command, f"--url={url}"]] * share, watch) | watch.found()


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
        for _ in range(count // BATCH):
            await asyncio.gather(*(board.start("five", "go") for _ in range(BATCH)))
        while driver.queued:
            await asyncio.sleep(0.01)
        await driver.stop(0)
        return began


def queued(server: PostgresServer, workers: int, count: int) -> dict[str, Any]:
    """How quickly workers end what was queued while they had nothing else to do."""
    url = server.create()
    with scratch() as folder:
        options = ("--concurrency=16",)
        asyncio.run(queue(url, 0))  # So that all tables are there.
        running = [work_on(folder, url, *options, flows=HERE / "five.py") for _ in range(workers)]
        try:
            # One connection, because to look with new ones would take much of the processors' time.
            with psycopg.connect(url, autocommit=True) as link:
                asyncio.run(queue(url, BATCH))
                wait_for_ends(link, BATCH)
                began = asyncio.run(queue(url, count))
                wait_for_ends(link, BATCH + count)
                seconds = time.monotonic() - began
        finally:
            for worker in running:
                worker.kill()
    return {"per_second": count / seconds, "seconds": seconds}


def wait_for_ends(link: psycopg.Connection[Any], count: int) -> None:
    ended = "SELECT count(*) FROM sessions WHERE ended = 'completed'"
    until(lambda: link.execute(ended).fetchone() == (count,), every=0.02)


def contenders(part: float) -> list[Contender]:
    mine = (sys.executable, HERE_SCRIPT, "--side")
    python = str(peers_python())
    dbos, langgraph = str(PEERS / "dbos_postgres.py"), str(PEERS / "langgraph_postgres.py")
    temporal = (python, str(PEERS / "temporal_workflows.py"))

    def sized(full: int) -> int:
        return max(min(full, 64), int(full * part))

    cases = [(1, 1), *((width, share) for width in (16, 64) for share in PROCESSES)]
    found = [
        Contender(OURS, width, share, mine, sized(192 if width == 1 else 1280))
        for width, share in cases
    ]
    found += [
        Contender(UNCOUNTED, 16, share, mine, sized(1280), is_counted=False) for share in PROCESSES
    ]
    found += [
        Contender(f"{DBOS} {mode}", width, share, (python, dbos, mode), sized(128))
        for mode, width, share in (
            ("threads", 1, 1),
            ("threads", 16, 1),
            ("tasks", 16, 1),
            ("tasks", 64, 1),
            ("tasks", 16, 2),
            ("tasks", 16, 4),
        )
    ]
    found += [
        Contender(LANGGRAPH, width, share, (python, langgraph), sized(128))
        for width, share in ((1, 1), (16, 1), (64, 1), (16, 2), (16, 4))
    ]
    found += [
        Contender(
            TEMPORAL, width, 1, temporal, sized(16 if width == 1 else 64), uses_postgres=False
        )
        for width in WIDTHS
    ]
    return found


def measure(quick: bool = False) -> Result:
    rounds, part = (1, 0.25) if quick else (3, 1.0)
    sides: dict[str, Callable[[PostgresServer], dict[str, Any]]] = {
        side.name: side.run for side in contenders(part)
    }
    for workers in PROCESSES:
        amount = BATCH * int(32 * part)
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
    found = told(runs, rounds, about)
    if not quick:
        draw(found.data["rates"])
    return found


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
        *(scaling(runs, processes) for processes in PROCESSES[1:]),
    ]
    for rest in ("1 at once", "64 at once", "16 at once, 2 processes"):
        rows += [against(DBOS, rest, None), against(LANGGRAPH, rest, None)]
    rows += [queue_row(rates, workers) for workers in PROCESSES[1:]]
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
            "What limits several processes, in their middle round:",
            *limits(runs),
        ],
        data={"rates": rates, "runs": runs},
    )


def scaling(runs: dict[str, list[dict[str, Any]]], processes: int) -> Row:
    one, more = runs["ours, 16 at once"], runs[f"ours, 16 at once, {processes} processes"]
    rates = [statistics.median(run["per_second"] for run in side) for side in (more, one)]
    # The median of the rounds' ratios: noise moves it less than the quotient of two medians.
    ratio = statistics.median(
        several["per_second"] / single["per_second"]
        for several, single in zip(more, one, strict=True)
    )
    bar = processes == PROCESSES[1]
    return Row(
        f"PostgreSQL: the same in {processes} processes, 16 at once in all",
        f"≥ {SCALES:g}× one" if bar else "–",
        f"{rates[0]:,.0f}/s",
        f"{rates[1]:,.0f}/s (ours, one process)",
        f"{ratio:.2f}×",
        ratio >= SCALES if bar else None,
    )


def queue_row(rates: dict[str, float], workers: int) -> Row:
    one, more = rates["1 worker(s)"], rates[f"{workers} worker(s)"]
    return Row(
        f"PostgreSQL: through procrastinate, {workers} workers",
        "–",
        f"{more:,.0f}/s",
        f"{one:,.0f}/s (ours, one worker)",
        f"{more / one:.2f}×",
        None,
    )


def limits(runs: dict[str, list[dict[str, Any]]]) -> list[str]:
    """What held processes back, in each side's middle round."""
    lines: list[str] = []
    for who in (OURS, UNCOUNTED):
        for share in PROCESSES:
            name = Contender(who, 16, share, (), 0).name
            ranked = sorted(runs[name], key=lambda one: one["per_second"])
            lines.append(postgres_pressure.told(name, ranked[len(ranked) // 2], cores()))
    return lines


def cores() -> int:
    return os.cpu_count() or 1


def draw(rates: dict[str, float]) -> None:
    """Workflows per second by how many run at once, and by processes."""

    def rate(who: str, width: int, processes: int) -> float | None:
        """Of a peer's ways, the quicker one."""
        rest = Contender("", width, processes, (), 0).name
        found = [
            value for name, value in rates.items() if name.startswith(who) and name.endswith(rest)
        ]
        return max(found, default=None)

    def paint(at_once: Any, processes: Any) -> None:
        for who, label, colour in (
            (OURS, "Callboard", pictures.OURS),
            (LANGGRAPH, "LangGraph PostgresSaver", pictures.THEIRS),
            (DBOS, "DBOS", pictures.OTHERS),
            (TEMPORAL, "Temporal (dev server)", pictures.QUIETER),
        ):
            by_width = {width: rate(who, width, 1) for width in WIDTHS}
            by_share = {share: rate(who, 16, share) for share in PROCESSES}
            for axes, points in ((at_once, by_width), (processes, by_share)):
                known = {at: value for at, value in points.items() if value is not None}
                pictures.curve(axes, known, label, colour)
        queued = {share: rates[f"{share} worker(s)"] for share in PROCESSES}
        pictures.curve(processes, queued, "Callboard, through procrastinate", "#93c5fd")
        processes.sharey(at_once)
        pictures.logarithmic(at_once, list(WIDTHS))
        pictures.logarithmic(processes, list(PROCESSES))
        at_once.set_title("Five-phase workflows on PostgreSQL, every step durable", loc="left")
        at_once.set_xlabel("workflows at once, in one process")
        at_once.set_ylabel("workflows per second")
        processes.set_xlabel(f"processes, 16 workflows at once in all, on {cores()} cores")
        processes.legend(frameon=False, fontsize="small")

    pictures.draw(PLOT, paint, columns=2, size=(10, 4.6))


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
