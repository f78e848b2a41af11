"""Claim: appends per second at concurrency 64, encoding included, ≥ 40 % of bare sqlite3.

64 tasks append one event at a time, each to a stream of its own, each waiting until its event is
on the disk. Bare sqlite3 then writes the very same rows, encoded beforehand, into the same schema
in commits of the same sizes, with WAL and synchronous=FULL and one executemany per commit: no
event loop, no encoding, no checks, no positions to give.

An event is an `agent:completed` with an output of 200 random characters. The events are made
beforehand as Python objects; writing them as JSON is part of what is measured.
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
    Result,
    Row,
    brief,
    call,
    finish,
    progress,
    random_text,
    scratch,
)

WIDTH = 64


async def ours(path: Path, count: int, width: int) -> dict[str, Any]:
    from callboard.clock import SystemClock
    from callboard.events.envelope import NewEvent
    from callboard.ids import event_id
    from callboard.log.sqlite.log import SqliteLog
    from callboard.state.rows import project

    rng, clock = random.Random(1), SystemClock()
    each, warm = count // width, 20

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

    lanes = [[event(number) for number in range(warm + each)] for _ in range(width)]
    log = SqliteLog.open(path, project=project)
    sizes = watch_commits(log)

    async def lane(number: int, begin: int, end: int) -> None:
        for one in lanes[number][begin:end]:
            await log.append(f"stream-{number}", [one])

    await asyncio.gather(*(lane(number, 0, warm) for number in range(width)))
    sizes.clear()
    started = time.perf_counter()
    await asyncio.gather(*(lane(number, warm, warm + each) for number in range(width)))
    seconds = time.perf_counter() - started
    await log.close()
    assert sum(sizes) == each * width, sizes
    return {
        "per_second": each * width / seconds,
        "seconds": seconds,
        "commits": len(sizes),
        "median_size": statistics.median(sizes),
        "sizes": sizes,
    }


def watch_commits(log: Any) -> list[int]:
    """The sizes of the commits that the log makes from now on."""
    sizes: list[int] = []
    committer = log._committer
    commit = committer.commit

    def noted(group: Any) -> Any:
        sizes.append(sum(len(request.events) for request in group))
        return commit(group)

    committer.commit = noted
    return sizes


def measure(quick: bool = False) -> Result:
    rounds, count = (3, 16_000) if quick else (7, 64_000)
    here, bare = Path(__file__).resolve(), PEERS / "bare_sqlite.py"
    progress(f"appends: {WIDTH} tasks, one event each at a time")
    runs: dict[str, list[dict[str, Any]]] = {"ours": [], "bare": [], "bare with heads": []}
    for number in range(rounds):
        with scratch() as folder:
            path, sizes = folder / "callboard.db", folder / "sizes.json"
            mine = call(sys.executable, here, "--side", f"--count={count}", f"--path={path}")
            sizes.write_text(json.dumps(mine.pop("sizes")))
            runs["ours"].append(mine)
            runs["bare"].append(call(sys.executable, bare, str(path), str(sizes)))
            runs["bare with heads"].append(
                call(sys.executable, bare, str(path), str(sizes), "--heads")
            )
        for name, side in runs.items():
            progress(f"  round {number + 1}/{rounds}  {name}: {brief(side[-1])}")
    rates = {
        name: statistics.median(run["per_second"] for run in side) for name, side in runs.items()
    }
    # Each round compares one pair; the median of the pairs is less moved by noise than the
    # quotient of two medians.
    shares = {
        name: statistics.median(
            mine["per_second"] / bare["per_second"]
            for mine, bare in zip(runs["ours"], runs[name], strict=True)
        )
        for name in ("bare", "bare with heads")
    }

    def row(claim: str, name: str, bar: bool) -> Row:
        return Row(
            claim,
            "≥ 40 %" if bar else "–",
            f"{rates['ours']:,.0f}/s",
            f"{rates[name]:,.0f}/s (bare sqlite3)",
            f"{shares[name]:.0%}",
            shares[name] >= 0.4 if bar else None,
        )

    return Result(
        "appends",
        rows=[
            row(f"appends/s at concurrency {WIDTH}, encoding included", "bare", bar=True),
            row(
                "the same, bare sqlite3 also moving the heads of the streams",
                "bare with heads",
                False,
            ),
        ],
        notes=[
            f"{runs['ours'][0]['commits']:,} commits of {runs['ours'][0]['median_size']:.0f} "
            "events in the first round; bare sqlite3 repeats each round's own commits, and the "
            "share is the median of the rounds' shares."
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
    parser.add_argument("--path", type=Path)
    options = parser.parse_args()
    if not options.side:
        finish(measure(options.quick))
        return
    with scratch() as folder:
        path = options.path or folder / "callboard.db"
        print(json.dumps(asyncio.run(ours(path, options.count, options.width))))


if __name__ == "__main__":
    main()
