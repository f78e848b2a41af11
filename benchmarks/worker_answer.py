"""Claim: from an answer through a server to the start of the next agent on a worker: p50 ≤ 15 ms
(worker --driver local), ≤ 30 ms (procrastinate), ≤ 100 ms (Temporal).

The server drives nothing (`--driver none`, or an engine, which only queues there); one worker
in a process of its own does. Both share a PostgreSQL database. Measured as in `http_answer`: from
just before `POST /interactions/{id}/answer` is sent to the first line of the agent of the next
phase, by the clock that all processes share; every sample is a session of its own, one at a time.

There is no peer: none of them has questions over HTTP and separate workers. Beside it stands our
own server that drives its sessions itself, on the same PostgreSQL.
"""

import argparse
import json
import statistics
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from common import Result, Row, Side, alternate, finish, progress, scratch, spread
from databases import postgres, serve_on, temporal_of_our_own, version, work_on
from http_answer import ours
from serving import Caller, running

BARS_MS = {"local": 15, "procrastinate": 30, "temporal": 100, "temporal-standalone": 100}
ALONE = "one server"


def run(side: str, count: int, warm: int) -> dict[str, Any]:
    with postgres() as server, scratch() as folder, ExitStack() as stack:
        url = server.create()
        serves = {"local": "none", ALONE: "local"}.get(side, side)
        stack.enter_context(temporal_of_our_own(folder, side))
        answers = stack.enter_context(running(serve_on(folder, url, f"--driver={serves}")))
        if side != ALONE:
            stack.enter_context(running(work_on(folder, url, f"--driver={side}")))
        ask = Caller(answers.url)
        samples = [ours(ask) for _ in range(warm + count)][warm:]
        ask.close()
        about = version(server)
    waits = spread([(started - sent) / 1e6 for sent, _, started in samples])
    trips = spread([(replied - sent) / 1e6 for sent, replied, _ in samples])
    return waits | {"trip_p50": trips["p50"], "about": about}


def measure(quick: bool = False) -> Result:
    here = Path(__file__).resolve()
    rounds, count = (1, 40) if quick else (3, 80)
    progress("worker_answer: from an answer through a server to the next agent on a worker")
    sides = [
        Side(name, here, (f"--side={name}", f"--count={count}"), peer=False)
        for name in (*BARS_MS, ALONE)
    ]
    runs = alternate(sides, rounds)

    def middle(name: str, figure: str) -> float:
        return statistics.median(one[figure] for one in runs[name])

    alone = middle(ALONE, "p50")
    return Result(
        "worker_answer",
        rows=[
            Row(
                f"answer through a server → next agent on a worker (--driver {name})",
                f"p50 ≤ {bar} ms",
                f"p50 {middle(name, 'p50'):.1f} ms, p99 {middle(name, 'p99'):.1f} ms",
                f"p50 {alone:.1f} ms (ours, the server drives)",
                f"{middle(name, 'p50') / alone:.2f}",
                middle(name, "p50") <= bar,
            )
            for name, bar in BARS_MS.items()
        ],
        notes=[
            f"{rounds} round(s) of {count} answers, one at a time; medians over the rounds; "
            f"{runs[ALONE][0]['about']}. The reply to the POST takes "
            f"{middle('local', 'trip_p50'):.1f} ms of it (local), "
            f"{middle('procrastinate', 'trip_p50'):.1f} ms (procrastinate)."
        ],
        data={"runs": runs},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", choices=[*BARS_MS, ALONE], help="run one side once")
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--warm", type=int, default=10)
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.side, given.count, given.warm)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
