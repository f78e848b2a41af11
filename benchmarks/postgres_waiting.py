"""Claim: 100,000 sessions that wait for people have no jobs, and cost nothing while they wait.

They wait in a PostgreSQL database, in copies of one session that the engine ran until it waited, as
in `waiting`. A server (`--driver procrastinate`) and a worker are started on it, and another pair
on an empty database beside it, at the same time: what disturbs the machine disturbs both. Then all
are left alone. Counted are procrastinate's jobs, and how much of a core a server, a worker and the
processes of PostgreSQL that work on the database take: with 100,000 waiting, no more than with
none, give or take a thousandth of a core. Of all rounds, each with new processes, those count in
which the host took the least from this machine. Afterwards some questions are answered, which shows
that the sessions still work.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from common import Result, Row, call, finish, progress, quietest, scratch
from databases import PostgresServer, pids, postgres, serve_on, version, work_on
from serving import Caller, Process, idle_shares, running
from waiting import COMES_TO_REST, fill, use

SESSIONS = 100_000
ALLOWED = 0.001
"""Of a core: what the same server takes differs by as much from one minute to the next."""
PARTS = ("server", "worker", "postgresql")
ANSWERS = 5
JOBS = "SELECT count(*) FROM procrastinate_jobs"


PAIRS = ("empty", "full")


def backends(server: PostgresServer) -> dict[str, dict[str, int]]:
    """Nanoseconds that PostgreSQL's processes have run, by the database that they work on."""
    found: dict[str, dict[str, int]] = {}
    for pid in pids(server):
        with suppress(OSError):  # It has just ended.
            title = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
            ran = Path(f"/proc/{pid}/schedstat").read_text().split()[0]
            database = next((word for word in title.split() if word.startswith("test_")), "")
            found.setdefault(database, {})[str(pid)] = int(ran)
    return found


def rest(
    server: PostgresServer, databases: Sequence[str], processes: Sequence[Process], seconds: float
) -> dict[str, float]:
    """What each takes while no one calls."""
    before, began = backends(server), time.monotonic()
    shares = idle_shares(processes, seconds)
    after, took = backends(server), time.monotonic() - began

    def spent(database: str) -> float:
        old = before.get(database, {})
        new = after.get(database, {})
        return sum(ran - old.get(pid, 0) for pid, ran in new.items()) / 1e9 / took

    names = [f"{pair} {part}" for pair in PAIRS for part in ("server", "worker")]
    found = dict(zip(names, shares, strict=True)) | {"shared": spent("")}
    return found | {
        f"{pair} postgresql": spent(name) for pair, name in zip(PAIRS, databases, strict=True)
    }


def once(server: PostgresServer, urls: Sequence[str], seconds: float) -> dict[str, float]:
    """Start a server and a worker on each database, leave them alone, then answer."""
    options = ("--driver=procrastinate",)
    names = [url.rpartition("/")[2] for url in urls]
    with ExitStack() as stack:
        pairs: list[tuple[Process, Process]] = []
        for url in urls:
            folder = stack.enter_context(scratch())
            serving = stack.enter_context(running(serve_on(folder, url, *options)))
            pairs.append((serving, stack.enter_context(running(work_on(folder, url, *options)))))
        time.sleep(COMES_TO_REST)
        found = rest(server, names, [process for pair in pairs for process in pair], seconds)
        for pair, name, (serving, _) in zip(PAIRS, names, pairs, strict=True):
            ((jobs,),) = server.execute(JOBS, name)
            ask = Caller(serving.url)
            used = use(serving, ask, 5, ANSWERS)
            ask.close()
            found |= {f"{pair} jobs": float(jobs), f"{pair} completed": used["completed_ms"]}
    return found


def run(count: int, rounds: int, most: int, seconds: float) -> dict[str, Any]:
    with postgres() as server:
        urls = {pair: server.create() for pair in PAIRS}
        made = asyncio.run(fill(urls["full"], count))
        # As many as are answered, and no more.
        asyncio.run(fill(urls["empty"], ANSWERS * most + 1))
        progress(f"  {count:,} sessions made in {made['seconds']:.0f} s")
        server.execute("CHECKPOINT")
        server.execute("VACUUM ANALYZE", urls["full"].rpartition("/")[2])

        def one() -> dict[str, float]:
            found = once(server, list(urls.values()), seconds)
            progress(f"  full {taken(found, 'full'):.2%}, empty {taken(found, 'empty'):.2%}")
            return found

        return {"about": version(server), "made": made, "rounds": quietest(rounds, most, one)}


def taken(one: dict[str, float], pair: str) -> float:
    """How much of a core one round's processes on a database took."""
    return sum(one[f"{pair} {part}"] for part in PARTS)


def measure(quick: bool = False) -> Result:
    count, rounds, most, seconds = (5_000, 2, 2, 8) if quick else (SESSIONS, 5, 8, 12)
    progress(f"postgres_waiting: {count:,} sessions that wait for people, for workers")
    here = Path(__file__).resolve()
    sizes = (f"--count={count}", f"--rounds={rounds}", f"--most={most}", f"--rest={seconds}")
    found = call(sys.executable, here, "--side", *sizes)

    def middle(figure: str) -> float:
        return statistics.median(one[figure] for one in found["rounds"])

    full, empty = (
        statistics.median(taken(one, pair) for one in found["rounds"]) for pair in ("full", "empty")
    )
    # Of each round, because both were measured at the same time.
    more = statistics.median(taken(one, "full") - taken(one, "empty") for one in found["rounds"])
    jobs = max(one["full jobs"] for one in found["rounds"])
    detail = {
        pair: ", ".join(f"{part} {middle(f'{pair} {part}'):.2%}" for part in PARTS)
        for pair in PAIRS
    }
    return Result(
        "postgres_waiting",
        rows=[
            Row(
                f"PostgreSQL: {count:,} sessions waiting: jobs",
                "none",
                f"{jobs:.0f}",
                "–",
                "–",
                jobs == 0,
            ),
            Row(
                f"PostgreSQL: {count:,} sessions waiting: a server and a worker, idle",
                "as with none",
                f"{full:.2%} of a core",
                f"{empty:.2%} (ours, none waiting)",
                f"{100 * more:+.2f} points",
                more <= ALLOWED,
            ),
            Row(
                f"PostgreSQL: {count:,} sessions waiting: answer one, until it has completed",
                "–",
                f"p50 {middle('full completed'):.0f} ms",
                f"p50 {middle('empty completed'):.0f} ms (ours, few waiting)",
                f"{middle('full completed') / middle('empty completed'):.2f}×",
                None,
            ),
        ],
        notes=[
            f"{rounds} round(s) of {seconds} s, both at the same time; {found['about']}. Idle: "
            f"with {count:,} waiting {detail['full']}; with none {detail['empty']}; PostgreSQL's "
            f"processes for both {middle('shared'):.2%}. Meanwhile, each process beats twice a "
            "second, and one of each pair looks for work as often. Medians over the rounds, also "
            f"of their differences; in these, the host took {middle('stolen'):.2%} of the "
            f"processors' time. {ANSWERS} answers on each database in a round.",
        ],
        data=found,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--count", type=int, default=SESSIONS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=int, default=8, help="rounds to choose the quietest from")
    parser.add_argument("--rest", type=float, default=12.0, help="seconds of doing nothing")
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.count, given.rounds, given.most, given.rest)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
