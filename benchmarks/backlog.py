"""Claims: the server reads at least 1,000 spooled hooks a second, and neither a permission nor the
death of an agent's process waits behind them.

The spool holds what 20 sessions reported while no server ran. The server starts; meanwhile further
hooks are spooled at 150 a second. The rate counts from when the server listens to when all that
was there before has been recorded. Just after the start, an agent asks for a permission over HTTP,
and then its process is killed: the latencies are from that moment to when `GET /interactions` and
`GET /plates` show it. The peer under the rate is the least that any reader does: it sorts the
files, parses each payload, inserts it into SQLite with a commit for each hundred (WAL,
`synchronous=FULL`), and removes the file.
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from common import Result, Row, finish, progress, scratch
from hooks import payload
from serving import Caller, Process, running, serve, until

BAR_RATE = 1_000
BAR_PERMISSION_MS = 1_000
BAR_DEATH_MS = 2_500
SESSIONS = 20
PER_SECOND = 150


def spool(folder: Path, number: int) -> None:
    """Leave one hook's payload there, as the hooks' own shell command does."""
    unfinished = folder / f"claude.0.{number:07}.0"
    unfinished.write_bytes(payload(number % SESSIONS, number // SESSIONS))
    unfinished.rename(unfinished.with_suffix(".0.json"))


def ours(count: int) -> dict[str, float]:
    from callboard.board.hook_folders import hooks_folder, make_folders, spool_folder

    with scratch() as folder:
        hooks = hooks_folder(folder / "callboard.db")
        make_folders(hooks)
        there = spool_folder(hooks)
        for number in range(count):
            spool(there, number)
        ended = threading.Event()

        def go_on() -> None:
            number = count
            while not ended.wait(1 / PER_SECOND):
                spool(there, number)
                number += 1

        raining = threading.Thread(target=go_on)
        agent = subprocess.Popen(["sleep", "1000"])
        try:
            with running(serve(folder)) as server:
                raining.start()
                found = overtaking(server, agent)
                done = until(lambda: is_read(there, count), every=0.05)
                found["rate"] = count / (done - server.listening)
        finally:
            agent.kill()
            agent.wait()
            ended.set()
            raining.join()
        return found


def overtaking(server: Process, agent: "subprocess.Popen[bytes]") -> dict[str, float]:
    """How long a permission and a death take, in ms, while the server reads a backlog."""
    asks: dict[str, Any] = {
        "session_id": "asks",
        "cwd": "/home/sam/shop",
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": "make deploy"},
        "callboard": {"pid": agent.pid, "hold": "asked-by-benchmark"},
    }
    looking, holding = Caller(server.url), Caller(server.url)
    began = time.monotonic()
    held = threading.Thread(target=lambda: holding("POST", "/hooks/claude", asks), daemon=True)
    held.start()
    pending = "/interactions?status=pending"
    asked = until(lambda: bool(looking("GET", pending)["interactions"]))
    agent.kill()
    agent.wait()
    killed = time.monotonic()

    def is_closed() -> bool:
        plates = looking("GET", "/plates")["plates"]
        return any(one["sessionId"] == "asks" and one["status"] == "closed" for one in plates)

    noticed = until(is_closed)
    looking.close()
    return {"permission": 1000 * (asked - began), "death": 1000 * (noticed - killed)}


def is_read(there: Path, count: int) -> bool:
    """Whether none of the first so many hooks is there any more, or in a reader's hands."""
    files = [*there.glob("*.json"), *there.glob("claimed/*/*.json")]
    return all(int(file.name.split(".")[-3]) >= count for file in files)


def bare(count: int) -> float:
    """Hooks per second that the least of all readers takes."""
    with scratch() as folder:
        there = folder / "spool"
        there.mkdir()
        for number in range(count):
            spool(there, number)
        database = sqlite3.connect(folder / "bare.db", isolation_level=None)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
        database.execute("CREATE TABLE events (session TEXT, name TEXT, payload TEXT)")
        began = time.monotonic()
        files = sorted(os.scandir(there), key=lambda one: (one.stat().st_mtime_ns, one.name))
        for first in range(0, len(files), 100):
            taken = files[first : first + 100]
            bodies = [Path(one.path).read_text(encoding="utf-8") for one in taken]
            told = [json.loads(body) for body in bodies]
            rows = [
                (one["session_id"], one["hook_event_name"], body)
                for one, body in zip(told, bodies, strict=True)
            ]
            database.execute("BEGIN")
            database.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
            database.execute("COMMIT")
            for one in taken:
                Path(one.path).unlink()
        took = time.monotonic() - began
        database.close()
        return count / took


def measure(quick: bool = False) -> Result:
    count, repeats = (2_000, 1) if quick else (5_000, 3)
    progress(f"backlog: {count} spooled hooks, {repeats} times")
    runs, floors = [ours(count) for _ in range(repeats)], [bare(count) for _ in range(repeats)]

    def middle(name: str) -> float:
        return statistics.median(run[name] for run in runs)

    rate, floor = middle("rate"), statistics.median(floors)
    return Result(
        "backlog",
        rows=[
            Row(
                f"{count:,} spooled hooks read, beside {PER_SECOND}/s that are new",
                f"≥ {BAR_RATE:,}/s",
                f"{rate:,.0f}/s",
                f"{floor:,.0f}/s (parse, insert, remove)",
                f"{rate / floor:.2f}",
                rate >= BAR_RATE,
            ),
            Row(
                "a permission asked meanwhile, in the inbox",
                f"≤ {BAR_PERMISSION_MS / 1000:g} s",
                f"{middle('permission'):.0f} ms",
                "–",
                "–",
                middle("permission") <= BAR_PERMISSION_MS,
            ),
            Row(
                "an agent killed meanwhile, closed on the board",
                f"≤ {BAR_DEATH_MS / 1000:g} s",
                f"{middle('death'):.0f} ms",
                "–",
                "–",
                middle("death") <= BAR_DEATH_MS,
            ),
        ],
        notes=[
            f"{repeats} runs, medians; slowest permission "
            f"{max(run['permission'] for run in runs):.0f} ms, slowest death "
            f"{max(run['death'] for run in runs):.0f} ms. Processes are looked at once a second.",
        ],
        data={"runs": runs, "bare": floors},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    finish(measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
