"""Claim: after `kill -9` of a worker, another one has started its agent again within 3 s, with
Temporal within 4 s.

Two workers share a PostgreSQL database, work comes through procrastinate or Temporal, and a
session's agent runs on one of them. That worker is killed with SIGKILL. Measured until the agent
starts again, on the other one.

Beside it DBOS on the same PostgreSQL. Without its Conductor no other process takes over: the same
executor is started again at once, as a supervisor would do, and that start is part of its figure.
And Temporal with its dev server: an activity whose heartbeat timeout is a second, on two workers.
"""

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

import pictures
from common import (
    HERE,
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
from databases import postgres, serve_on, temporal_of_our_own, version, work_on
from recovery import runs_of
from serving import Caller, Process, running, until

BARS = {"procrastinate": 3.0, "temporal": 4.0}
DBOS, TEMPORAL = "DBOS", "Temporal"
EVERY = 0.002
PLOT = HERE / "takeover.png"


def started(folder: Path, times: int) -> bool:
    return sum(runs_of(folder).values()) >= times


def ours(folder: Path, url: str, driver: str) -> float:
    server = serve_on(folder, url, f"--driver={driver}")
    with running(server):
        first = work_on(folder, url, f"--driver={driver}")
        try:
            ask = Caller(server.url)
            given = {"folder": str(folder), "at": "first"}
            ask("POST", "/sessions", {"workflowId": "held", "input": given})
            until(lambda: started(folder, 1), every=EVERY)
            # Only now there is another one, so that it is known which of them has the session.
            with running(work_on(folder, url, f"--driver={driver}")):
                time.sleep(2)  # an idle worker that has been there for a while
                began = time.monotonic()
                first.kill()
                took = until(lambda: started(folder, 2), every=EVERY) - began
                (folder / "gate").touch()
            ask.close()
        finally:
            first.kill()
    return took


def peer(folder: Path, url: str) -> float:
    command = [str(peers_python()), str(PEERS / "dbos_recovery.py"), str(folder), "1"]
    os.environ["DBOS_BENCH_URL"] = url.replace("postgresql://", "postgresql+psycopg://")
    server = Process([*command, "start"], folder / "server.log")
    try:
        until(lambda: started(folder, 1), every=EVERY)
        time.sleep(2)
        began = time.monotonic()
    finally:
        server.kill()
    server = Process([*command, "again"], folder / "server.log")
    try:
        return until(lambda: started(folder, 2), every=EVERY) - began
    finally:
        server.kill()


def temporal(folder: Path) -> float:
    command = [str(peers_python()), str(PEERS / "temporal_takeover.py"), str(folder)]
    log = folder / "server.log"
    with running(Process([*command, "server"], log)) as server:
        first = Process([*command, server.url], log)
        try:
            until(lambda: started(folder, 1), every=EVERY)
            with running(Process([*command, server.url], log)):
                time.sleep(2)
                began = time.monotonic()
                first.kill()
                return until(lambda: started(folder, 2), every=EVERY) - began
        finally:
            first.kill()


def run(side: str, rounds: int) -> dict[str, Any]:
    with postgres() as server:
        waits = []
        for _ in range(rounds):
            with scratch() as folder:
                if side == TEMPORAL:
                    waits.append(temporal(folder))
                elif side == DBOS:
                    waits.append(peer(folder, server.create()))
                else:
                    with temporal_of_our_own(folder, side):
                        waits.append(ours(folder, server.create(), side))
        return {
            "p50": statistics.median(waits),
            "most": max(waits),
            "waits": waits,
            "about": version(server),
        }


def measure(quick: bool = False) -> Result:
    here, kills = Path(__file__).resolve(), 2 if quick else 5
    progress("takeover: kill -9 of a worker, until its agent runs on another one")
    sides = [
        Side(name, here, (f"--side={name}", f"--kills={kills}"), peer=False)
        for name in (*BARS, DBOS, TEMPORAL)
    ]
    runs = alternate(sides, 1)
    theirs = {
        "procrastinate": (DBOS, "the same executor started again"),
        "temporal": (TEMPORAL, ""),
    }

    def row(driver: str) -> Row:
        mine, (name, how) = runs[driver][0], theirs[driver]
        other = runs[name][0]
        return Row(
            f"kill -9 of a worker ({driver}): its agent runs on another one",
            f"≤ {BARS[driver]:g} s",
            f"{mine['most']:.2f} s at most, p50 {mine['p50']:.2f} s",
            f"{other['most']:.2f} s at most, p50 {other['p50']:.2f} s ({name}"
            f"{', ' + how if how else ''})",
            f"{mine['p50'] / other['p50']:.2f}",
            mine["most"] <= BARS[driver],
        )

    if not quick:
        draw({name: found for name, (found,) in runs.items()})
    return Result(
        "takeover",
        rows=[row(driver) for driver in BARS],
        notes=[
            f"{kills} kills each, on new databases; {runs[DBOS][0]['about']}. Both workers and the "
            "server were on this machine. A worker is considered dead after a second without beats."
        ],
        data={"runs": runs},
    )


def draw(runs: dict[str, dict[str, Any]]) -> None:
    """Every kill, and the bars."""
    sides = {
        "procrastinate": ("Callboard, procrastinate", pictures.OURS),
        "temporal": ("Callboard, Temporal", pictures.OURS),
        DBOS: ("DBOS, started again", pictures.OTHERS),
        TEMPORAL: ("Temporal, 1 s heartbeat", pictures.THEIRS),
    }

    def paint(axes: Any) -> None:
        for place, (name, (_, colour)) in enumerate(reversed(sides.items())):
            waits = runs[name]["waits"]
            axes.plot(waits, [place] * len(waits), "o", color=colour, alpha=0.6)
            if name in BARS:
                bar = BARS[name]
                axes.plot([bar, bar], [place - 0.3, place + 0.3], color=pictures.QUIETER)
        axes.plot([], [], color=pictures.QUIETER, label="the bar")
        axes.set_yticks(range(len(sides)), [label for label, _ in reversed(sides.values())])
        axes.set_ylim(-0.6, len(sides) - 0.4)
        axes.set_xlim(left=0)
        axes.set_xlabel("seconds from kill -9 of a worker until its agent runs again, each kill")
        axes.set_title("Takeover by another worker", loc="left")
        axes.legend(frameon=False, loc="lower right")

    pictures.draw(PLOT, paint, size=(8, 3.4))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", choices=[*BARS, DBOS, TEMPORAL], help="run one side once")
    parser.add_argument("--kills", type=int, default=5)
    given = parser.parse_args()
    if given.side:
        print(json.dumps(run(given.side, given.kills)))
    else:
        finish(measure(given.quick))


if __name__ == "__main__":
    main()
