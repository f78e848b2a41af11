"""Claim: 100,000 sessions that wait for people have no jobs, and cost nothing while they wait.

They wait in a PostgreSQL database, in copies of one session that the engine ran until it waited, as
in `waiting`. A server (`--driver procrastinate`) and a worker are started on it, and on an empty
database beside it. Then all are left alone. Counted are procrastinate's jobs, and how much of a
core the server, the worker and PostgreSQL take: with 100,000 waiting, no more than with none, give
or take a thousandth of a core. Afterwards some questions are answered, which shows that the
sessions still work.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from common import Result, Row, call, finish, progress, scratch
from databases import PostgresServer, postgres, serve_on, version, work_on
from serving import Caller, Process, idle_shares, running
from waiting import COMES_TO_REST, fill, use

SESSIONS = 100_000
ALLOWED = 0.001
"""Of a core: what the same server takes differs by as much from one minute to the next."""
JOBS = "SELECT count(*) FROM procrastinate_jobs"


def backends(server: PostgresServer) -> float:
    """Seconds of processor time that PostgreSQL's processes have taken, ended ones included."""
    postmaster = int((server.data / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    fields = [
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        for pid in (str(postmaster), *children)
    ]
    own = sum(int(one[11]) + int(one[12]) for one in fields)
    ended = int(fields[0][13]) + int(fields[0][14])
    return (own + ended) / 100


def rest(server: PostgresServer, pair: tuple[Process, Process], seconds: float) -> dict[str, float]:
    """What each takes while no one calls."""
    before, began = backends(server), time.monotonic()
    serving, working = idle_shares(pair, seconds)
    spent = (backends(server) - before) / (time.monotonic() - began)
    return {"server": serving, "worker": working, "postgresql": spent}


def once(server: PostgresServer, url: str, seconds: float, answers: int) -> dict[str, Any]:
    """Start both on a database, leave them alone, then answer."""
    with scratch() as folder:
        options = ("--driver=procrastinate",)
        with (
            running(serve_on(folder, url, *options)) as serving,
            running(work_on(folder, url, *options)) as working,
        ):
            time.sleep(COMES_TO_REST)
            shares = rest(server, (serving, working), seconds)
            ((jobs,),) = server.execute(JOBS, url.rpartition("/")[2])
            ask = Caller(serving.url)
            used = use(serving, ask, 5, answers)
            ask.close()
            return {**shares, "jobs": jobs, **used}


def run(count: int, rounds: int, seconds: float) -> dict[str, Any]:
    answers = 5
    with postgres() as server:
        full, empty = server.create(), server.create()
        made = asyncio.run(fill(full, count))
        # As many as are answered, and no more.
        asyncio.run(fill(empty, answers * rounds + 1))
        progress(f"  {count:,} sessions made in {made['seconds']:.0f} s")
        server.execute("CHECKPOINT")
        server.execute("VACUUM ANALYZE", full.rpartition("/")[2])
        found: dict[str, Any] = {"about": version(server), "made": made, "full": [], "empty": []}
        for _ in range(rounds):
            for name, url in (("empty", empty), ("full", full)):
                found[name].append(once(server, url, seconds, answers))
    return found


def measure(quick: bool = False) -> Result:
    count, rounds, seconds = (5_000, 1, 10) if quick else (SESSIONS, 1, 25)
    progress(f"postgres_waiting: {count:,} sessions that wait for people, for workers")
    here = Path(__file__).resolve()
    options = (f"--count={count}", f"--rounds={rounds}", f"--rest={seconds}")
    found = call(sys.executable, here, "--side", *options)

    def middle(which: str, figure: str) -> float:
        return statistics.median(one[figure] for one in found[which])

    parts = ("server", "worker", "postgresql")
    full, empty = (sum(middle(which, part) for part in parts) for which in ("full", "empty"))
    jobs = max(one["jobs"] for one in found["full"])
    detail = {
        which: ", ".join(f"{part} {middle(which, part):.2%}" for part in parts)
        for which in ("full", "empty")
    }
    return Result(
        "postgres_waiting",
        rows=[
            Row(
                f"PostgreSQL: {count:,} sessions waiting: jobs",
                "none",
                f"{jobs}",
                "–",
                "–",
                jobs == 0,
            ),
            Row(
                f"PostgreSQL: {count:,} sessions waiting: a server and a worker, idle",
                "as with none",
                f"{full:.2%} of a core",
                f"{empty:.2%} (ours, none waiting)",
                f"{full / empty:.2f}×",
                full <= empty + ALLOWED,
            ),
            Row(
                f"PostgreSQL: {count:,} sessions waiting: answer one, until it has completed",
                "–",
                f"p50 {middle('full', 'completed_ms'):.0f} ms",
                f"p50 {middle('empty', 'completed_ms'):.0f} ms (ours, few waiting)",
                f"{middle('full', 'completed_ms') / middle('empty', 'completed_ms'):.2f}×",
                None,
            ),
        ],
        notes=[
            f"{rounds} round(s) of {seconds} s; {found['about']}. Idle: with {count:,} waiting "
            f"{detail['full']}; with none {detail['empty']}. Meanwhile, each process beats twice a "
            "second, and one of them looks for work as often.",
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
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rest", type=float, default=25.0, help="seconds of doing nothing")
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.count, given.rounds, given.rest)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
