"""Claim: after `kill -9`, 1,000 running sessions are driven to their end within 10 s, and nothing
that had completed runs twice.

1,000 sessions of three phases, a third of them held in the agent of the first phase, a third in
that of the second, a third in that of the third: all run at once. The server is killed with SIGKILL
and started again on the same database. Measured from the start of the new process to the moment
the last session has completed. Every agent notes its `ctx.key` in a file as it starts: a key whose
`agent:completed` was in the log before the kill must be in the file once, and one that was in
flight twice, because it is run once more.

Shown beside it: the same with 64 sessions driven at once, which is what a server does by default,
and DBOS on SQLite, which also takes up what was running when it is launched again.
"""

import argparse
import json
import sqlite3
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

from common import (
    PEERS,
    Result,
    Row,
    Side,
    alternate,
    finish,
    peers_python,
    progress,
    scratch,
)
from serving import Caller, Process, mb, serve, until

SESSIONS = 1000
BAR = 10.0
PHASES = ("first", "second", "third")


def runs_of(folder: Path) -> Counter[str]:
    """How often each run was started, by its key."""
    file = folder / "runs"
    if not file.exists():
        return Counter()
    return Counter(line.split()[0] for line in file.read_text().splitlines())


def completed_runs(path: Path) -> set[str]:
    """The keys of all runs that the log says have completed, read from the file itself."""
    from callboard.log.sqlite.log import SqliteLog

    async def read() -> set[str]:
        log = SqliteLog.open(path)
        try:
            return {
                f"{event.session_id}:{event.payload['run']}"
                for _, event in await log.read_all(0)
                if event.name == "agent:completed"
            }
        finally:
            await log.close()

    import asyncio

    return asyncio.run(read())


def ended(path: Path) -> int:
    """How many sessions have completed: by a reader beside the server, which costs it nothing."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        [[count]] = database.execute("SELECT count(*) FROM sessions WHERE ended = 'completed'")
        return count
    finally:
        database.close()


def ours(folder: Path, count: int, again: int) -> dict[str, Any]:
    path, rows = folder / "callboard.db", f"--concurrency={count}"
    server = serve(folder, rows)
    try:
        ask = Caller(server.url)
        for number in range(count):
            given = {"folder": str(folder), "at": PHASES[number % 3]}
            ask("POST", "/sessions", {"workflowId": "held", "input": given})
        # Those held in the first phase have one run, in the second two, in the third three.
        expected = sum(1 + number % 3 for number in range(count))
        until(lambda: len(runs_of(folder)) == expected, every=0.1)
        ask.close()
    finally:
        server.kill()
    before, done = runs_of(folder), completed_runs(path)
    (folder / "gate").touch()
    server = serve(folder, f"--concurrency={again}")
    try:
        last = until(lambda: ended(path) == count, every=0.02)
        memory, busy = server.memory(), server.busy()
    finally:
        server.stop()
    after = runs_of(folder)
    return {
        "seconds_to_end": last - server.began,
        "seconds_to_listen": server.listening - server.began,
        "in_flight": len(before) - len(done),
        "completed_before": len(done),
        "ran_twice": sum(after[key] > 1 for key in done),
        "missing": count * 3 - len(after),
        "run_again": sum(after[key] == 2 for key in before.keys() - done),
        "memory": memory,
        "busy": busy,
    }


def peer(folder: Path, count: int) -> dict[str, Any]:
    command = [str(peers_python()), str(PEERS / "dbos_recovery.py"), str(folder), str(count)]
    server = Process([*command, "start"], folder / "server.log")
    try:
        until(lambda: sum(runs_of(folder).values()) == sum(1 + n % 3 for n in range(count)), 600)
    finally:
        server.kill()
    before = runs_of(folder)
    (folder / "gate").touch()
    server = Process([*command, "again"], folder / "server.log")
    try:
        finished = folder / "finished"
        last = until(lambda: finished.exists() and finished.stat().st_size >= count, 600)
    finally:
        server.kill()
    after = runs_of(folder)
    return {
        "seconds_to_end": last - server.began,
        "seconds_to_listen": server.listening - server.began,
        "in_flight": count,
        "missing": count * 3 - len(after),
        "run_again": sum(after[key] > 1 for key in before),
    }


def run(side: str, count: int, again: int) -> dict[str, Any]:
    with scratch() as folder:
        began = time.monotonic()
        found = peer(folder, count) if side == "peer" else ours(folder, count, again)
        return found | {"seconds": time.monotonic() - began}


def measure(quick: bool = False) -> Result:
    rounds = 1 if quick else 3
    here = Path(__file__).resolve()
    progress(f"recovery: {SESSIONS:,} running sessions, kill -9, and again")
    sides = [
        Side("ours", here, ("--side=ours", f"--again={SESSIONS}"), peer=False),
        Side("ours, 64 at once", here, ("--side=ours", "--again=64"), peer=False),
        Side("DBOS", here, ("--side=peer",), peer=False),
    ]
    runs = alternate(sides, rounds)

    def middle(name: str, figure: str) -> float:
        return statistics.median(one[figure] for one in runs[name])

    mine, default, theirs = (middle(side.name, "seconds_to_end") for side in sides)
    all_ours = runs["ours"] + runs["ours, 64 at once"]
    twice = sum(one["ran_twice"] for one in all_ours)
    missing = sum(one["missing"] for one in all_ours)
    done = sum(one["completed_before"] for one in all_ours)
    uneven = sum(one["in_flight"] - one["run_again"] for one in all_ours)
    return Result(
        "recovery",
        rows=[
            Row(
                f"kill -9 with {SESSIONS:,} running sessions: all at their end again",
                f"≤ {BAR:g} s",
                f"{mine:.2f} s",
                f"{theirs:.2f} s (DBOS on SQLite)",
                f"{mine / theirs:.2f}",
                mine <= BAR,
            ),
            Row(
                "the same, 64 driven at once (the default)",
                f"≤ {BAR:g} s",
                f"{default:.2f} s",
                f"{theirs:.2f} s (DBOS on SQLite)",
                f"{default / theirs:.2f}",
                default <= BAR,
            ),
            Row(
                "the same: completed runs that ran twice, or never",
                "none",
                f"{twice} of {done:,}, {missing} missing",
                "–",
                "–",
                twice == 0 and missing == 0 and uneven == 0,
            ),
        ],
        notes=[
            f"{rounds} round(s); from the start of the new process, of which "
            f"{middle('ours', 'seconds_to_listen'):.2f} s pass before it listens. All "
            f"{SESSIONS:,} were in an agent when the server was killed; each of those agents was "
            "run once more, with the same key.",
            f"Processor of the new server: {middle('ours', 'busy'):.1f} s; memory "
            f"{mb(middle('ours', 'memory'))}.",
            "DBOS runs its workflows as async functions in one process, launched again with the "
            "same executor id; a step notes its key in the same way.",
        ],
        data={"runs": runs},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", choices=["ours", "peer"], help="run one side once")
    parser.add_argument("--count", type=int, default=SESSIONS)
    parser.add_argument("--again", type=int, default=SESSIONS, help="driven at once when restarted")
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.side, given.count, given.again)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
