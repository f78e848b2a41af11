"""Claim: appends in groups of 64 on PostgreSQL, encoding included, ≥ 60 % of bare SQL.

64 tasks append one event at a time, each to a stream of its own, each waiting until the server has
its event on the disk. psycopg then writes the very same rows into another database of the same
server, in commits of the same sizes, with the statement that our log uses and all its arrays made
beforehand: no event loop, no encoding, no checks, no positions to give. A second peer only inserts
the events, and keeps neither the heads of streams nor the counter.

The server is one of its own, with the settings that PostgreSQL comes with. An event is an
`agent:completed` with an output of 200 random characters.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import pictures
from common import (
    HERE,
    PEERS,
    ROOT,
    Result,
    Row,
    brief,
    call,
    data_folder,
    finish,
    progress,
    random_text,
    scratch,
)

sys.path.insert(0, str(ROOT))

from tools.postgres_server import PostgresServer, running_server

WIDTH = 64
DRAWN = {1: 2_000, 4: 4_000, 16: 12_000, 256: 64_000}
"""Other numbers of tasks, which are only drawn, and how many events they append."""
BARE = {"same statement": [], "only inserts": ["--inserts"]}
PLOT = HERE / "postgres_appends.png"
WARM = 20
SETTINGS = ("shared_buffers=128MB",)


async def ours(url: str, count: int, width: int) -> dict[str, Any]:
    from callboard.clock import SystemClock
    from callboard.events.envelope import NewEvent
    from callboard.ids import event_id
    from callboard.log.postgres.log import PostgresLog
    from callboard.state.rows import project

    rng, clock = random.Random(1), SystemClock()
    each = count // width

    def event(number: int) -> NewEvent:
        payload = {
            "agent": "work",
            "phase": "work",
            "visit": number,
            "run": f"work#{number}",
            "attempt": 1,
            "output": random_text(rng, 200),
            "durationMs": 1,
        }
        return NewEvent(event_id(), "agent:completed", payload, clock.now_ms())

    lanes = [[event(number) for number in range(WARM + each)] for _ in range(width)]
    log = PostgresLog.open(url, project=project)
    await log.last_sequence()
    sizes = watch_commits(log)

    async def lane(number: int, begin: int, end: int) -> None:
        for one in lanes[number][begin:end]:
            await log.append(f"stream-{number}", [one])

    await asyncio.gather(*(lane(number, 0, WARM) for number in range(width)))
    sizes.clear()
    started, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(lane(number, WARM, WARM + each) for number in range(width)))
    seconds, used = time.perf_counter() - started, time.process_time() - used
    await log.close()
    assert sum(sizes) == each * width, sizes
    return {
        "per_second": each * width / seconds,
        "seconds": seconds,
        "own_cpu_us": used / (each * width) * 1e6,
        "commits": len(sizes),
        "median_size": statistics.median(sizes),
        "sizes": sizes,
    }


def watch_commits(log: Any) -> list[int]:
    """The sizes of the commits that the log makes from now on."""
    sizes: list[int] = []
    queue = log._live().queue
    commit = queue._commit

    async def noted(group: Any) -> Any:
        sizes.append(sum(len(request.events) for request in group))
        return await commit(group)

    queue._commit = noted
    return sizes


def prepared(server: PostgresServer) -> str:
    """A database with our tables and nothing in them."""
    from callboard.clock import SystemClock
    from callboard.log.postgres.connections import PostgresAddress
    from callboard.log.postgres.setup import set_up

    url = server.create()
    set_up(PostgresAddress.parse(url, 30.0), SystemClock())
    return url


def measure(quick: bool = False) -> Result:
    rounds, count = (3, 16_000) if quick else (7, 64_000)
    progress(f"postgres_appends: {WIDTH} tasks, one event each at a time")
    with (
        scratch() as folder,
        running_server(PostgresServer, SETTINGS, None, data_folder()) as server,
    ):
        runs = compared(server, folder, WIDTH, rounds, count)
        others = {} if quick else DRAWN
        drawn = {width: compared(server, folder, width, 3, few) for width, few in others.items()}
    if drawn:
        draw(drawn | {WIDTH: runs})
    return told(runs)


def compared(
    server: PostgresServer, folder: Path, width: int, rounds: int, count: int
) -> dict[str, list[dict[str, Any]]]:
    """All sides in turn, with so many tasks."""
    here, bare = Path(__file__).resolve(), PEERS / "bare_postgres.py"
    runs: dict[str, list[dict[str, Any]]] = {"ours": [], **{name: [] for name in BARE}}
    for number in range(rounds):
        source, sizes = prepared(server), folder / "sizes.json"
        mine = call(
            sys.executable,
            here,
            "--side",
            f"--count={count}",
            f"--width={width}",
            f"--url={source}",
        )
        sizes.write_text(json.dumps(mine.pop("sizes")))
        runs["ours"].append(mine)
        for name, options in BARE.items():
            target = prepared(server)
            runs[name].append(call(sys.executable, bare, source, target, str(sizes), *options))
        for name, side in runs.items():
            progress(f"  {width} tasks, round {number + 1}/{rounds}  {name}: {brief(side[-1])}")
    return runs


def draw(runs: dict[int, dict[str, list[dict[str, Any]]]]) -> None:
    """Events per second by how many tasks append at once, which is the size of groups."""
    sides = {
        "ours": ("Callboard", pictures.OURS),
        "same statement": ("psycopg, the same statement", pictures.THEIRS),
        "only inserts": ("psycopg, only inserts", pictures.QUIETER),
    }

    def paint(axes: Any) -> None:
        for name, (label, colour) in sides.items():
            points = {
                width: statistics.median(run["per_second"] for run in found[name])
                for width, found in runs.items()
            }
            pictures.curve(axes, points, label, colour)
        pictures.logarithmic(axes, sorted(runs))
        axes.set_xlabel("tasks that append one event each at a time")
        axes.set_ylabel("events per second")
        axes.set_title("Appends to PostgreSQL, each event durable", loc="left")
        axes.legend(frameon=False)

    pictures.draw(PLOT, paint)


def told(runs: dict[str, list[dict[str, Any]]]) -> Result:
    rates = {
        name: statistics.median(run["per_second"] for run in side) for name, side in runs.items()
    }
    # The median of the rounds' shares: noise moves it less than the quotient of two medians.
    shares = {
        name: statistics.median(
            mine["per_second"] / bare["per_second"]
            for mine, bare in zip(runs["ours"], runs[name], strict=True)
        )
        for name in ("same statement", "only inserts")
    }

    def row(claim: str, name: str, bar: bool) -> Row:
        return Row(
            claim,
            "≥ 60 %" if bar else "–",
            f"{rates['ours']:,.0f}/s",
            f"{rates[name]:,.0f}/s (psycopg, {name})",
            f"{shares[name]:.0%}",
            shares[name] >= 0.6 if bar else None,
        )

    first = runs["ours"][0]
    return Result(
        "postgres_appends",
        rows=[
            row(
                f"PostgreSQL: appends/s, groups of {WIDTH}, encoding included",
                "same statement",
                True,
            ),
            row("the same, bare SQL without heads and counter", "only inserts", False),
        ],
        notes=[
            f"{first['commits']:,} commits of {first['median_size']:.0f} events in the first "
            f"round, {first['own_cpu_us']:.0f} µs of our own processor time for each event; bare "
            "SQL repeats each round's own commits on the same server, with fsync."
        ],
        data={"rates": rates, "shares": shares, "runs": runs},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--count", type=int, default=64_000)
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--url")
    options = parser.parse_args()
    if options.side:
        print(json.dumps(asyncio.run(ours(options.url, options.count, options.width))))
    else:
        finish(measure(options.quick))


if __name__ == "__main__":
    main()
