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

from common import (
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
WARM = 20
SETTINGS = ("shared_buffers=128MB",)


async def ours(url: str, count: int) -> dict[str, Any]:
    from callboard.clock import SystemClock
    from callboard.events.envelope import NewEvent
    from callboard.ids import event_id
    from callboard.log.postgres.log import PostgresLog
    from callboard.state.rows import project

    rng, clock = random.Random(1), SystemClock()
    each = count // WIDTH

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

    lanes = [[event(number) for number in range(WARM + each)] for _ in range(WIDTH)]
    log = PostgresLog.open(url, project=project)
    await log.last_sequence()
    sizes = watch_commits(log)

    async def lane(number: int, begin: int, end: int) -> None:
        for one in lanes[number][begin:end]:
            await log.append(f"stream-{number}", [one])

    await asyncio.gather(*(lane(number, 0, WARM) for number in range(WIDTH)))
    sizes.clear()
    started, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(lane(number, WARM, WARM + each) for number in range(WIDTH)))
    seconds, used = time.perf_counter() - started, time.process_time() - used
    await log.close()
    assert sum(sizes) == each * WIDTH, sizes
    return {
        "per_second": each * WIDTH / seconds,
        "seconds": seconds,
        "own_cpu_us": used / (each * WIDTH) * 1e6,
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
    here, bare = Path(__file__).resolve(), PEERS / "bare_postgres.py"
    progress(f"postgres_appends: {WIDTH} tasks, one event each at a time")
    runs: dict[str, list[dict[str, Any]]] = {"ours": [], "same statement": [], "only inserts": []}
    with (
        scratch() as folder,
        running_server(PostgresServer, SETTINGS, None, data_folder()) as server,
    ):
        for number in range(rounds):
            source, sizes = prepared(server), folder / "sizes.json"
            mine = call(sys.executable, here, "--side", f"--count={count}", f"--url={source}")
            sizes.write_text(json.dumps(mine.pop("sizes")))
            runs["ours"].append(mine)
            for name, options in (("same statement", []), ("only inserts", ["--inserts"])):
                target = prepared(server)
                runs[name].append(call(sys.executable, bare, source, target, str(sizes), *options))
            for name, side in runs.items():
                progress(f"  round {number + 1}/{rounds}  {name}: {brief(side[-1])}")
    return told(runs)


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
    parser.add_argument("--url")
    options = parser.parse_args()
    if options.side:
        print(json.dumps(asyncio.run(ours(options.url, options.count))))
    else:
        finish(measure(options.quick))


if __name__ == "__main__":
    main()
