"""Claim: five-phase workflows per second on SQLite, every step durable.

At least 2.3× LangGraph's SqliteSaver with `durability="sync"` one at a time (the aim is 3×; six
bare commits cap it at about 5×), at least 10× its AsyncSqliteSaver at concurrency 16 (16×), and at
least 4.5× and 15× DBOS on SQLite. At concurrency 16, a workflow takes at most 6× the processor time
(4×) that bare sqlite3 takes to write the same rows in the same commits.

A workflow is five phases whose agent returns a short text that is appended to the state. Every
side does the same work in as many steps, and every step is on the disk before the next one starts.
Rounds alternate between all contenders, each round in a new process with a new database; medians
are compared.
"""

import argparse
import asyncio
import json
import pickle
import sqlite3
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from common import PEERS, Result, Row, Side, alternate, call, finish, progress, scratch

WIDTH = 16
LANGGRAPH = "LangGraph sync, one at a time"
BARE = "bare sqlite3, the same commits"


def define() -> Any:
    from pydantic import Field

    from callboard import Context, Phase, State, Workflow, agent

    class Five(State):
        items: list[str] = Field(default_factory=list)

    @agent
    async def work(state: Five, ctx: Context) -> str:
        return "done"

    def keep(state: Five, output: str) -> None:
        state.items.append(output)

    phases = [Phase(f"p{n}", agent=work, update=keep, next=f"p{n + 1}") for n in range(1, 5)]
    phases.append(Phase("p5", agent=work, update=keep, terminal=True))
    return Workflow("five", state=Five, start=lambda state, input: None, phases=phases)


async def ours(
    path: Path, count: int, warm: int, width: int, recording: Path | None = None
) -> dict[str, Any]:
    from callboard import Callboard

    five = define()
    async with Callboard.open(f"sqlite:///{path}", workflows=[five]) as board:
        recorder = None if recording is None else Recorder(board.log)

        async def lane(runs: int) -> None:
            for _ in range(runs):
                result = await board.run(five, input="go")
                assert result.status == "completed", result
                assert list(result.state.items) == ["done"] * 5, result.state

        await asyncio.gather(*(lane(max(1, warm // width)) for _ in range(width)))
        each = max(1, count // width)
        started, busy = time.perf_counter(), time.process_time()
        await asyncio.gather(*(lane(each) for _ in range(width)))
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
    done = each * width
    if recorder is not None and recording is not None:
        recorder.save(recording, path, done + max(1, warm // width) * width)
    return {"per_second": done / seconds, "cpu_ms": 1000 * busy / done, "seconds": seconds}


class Recorder:
    """Stands in for the log's connection, and notes what each commit writes."""

    def __init__(self, log: Any) -> None:
        self._database = log._committer._database
        self._commits: list[list[tuple[str, list[Any]]]] = []
        log._committer._database = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def execute(self, sql: str, values: Any = ()) -> Any:
        if sql.startswith("BEGIN"):
            self._commits.append([])
        elif sql.startswith(("INSERT", "UPDATE", "DELETE")):
            self._commits[-1].append((sql, [values]))
        return self._database.execute(sql, values)

    def executemany(self, sql: str, rows: Any) -> Any:
        self._commits[-1].append((sql, list(rows)))
        return self._database.executemany(sql, rows)

    def save(self, recording: Path, path: Path, workflows: int) -> None:
        database = sqlite3.connect(path)
        tables = database.execute("SELECT name, sql FROM sqlite_master ORDER BY rowid").fetchall()
        (page_size,) = database.execute("PRAGMA page_size").fetchone()
        database.close()
        recorded = {
            "page_size": page_size,
            "schema": [sql for name, sql in tables if sql and not name.startswith("sqlite_")],
            "commits": [commit for commit in self._commits if commit],
            "workflows": workflows,
        }
        recording.write_bytes(pickle.dumps(recorded))


def measure(quick: bool = False) -> Result:
    with scratch() as folder:
        recording = folder / "commits"
        call(
            sys.executable,
            Path(__file__).resolve(),
            *("--side", f"--width={WIDTH}", "--count=1600", f"--record={recording}"),
        )
        return compare(quick, recording)


def compare(quick: bool, recording: Path) -> Result:
    rounds, part = (3, 0.25) if quick else (5, 1.0)

    def count(full: int) -> str:
        return f"--count={max(WIDTH, int(full * part))}"

    here = Path(__file__).resolve()
    langgraph, dbos = PEERS / "langgraph_workflows.py", PEERS / "dbos_workflows.py"
    sides = [
        Side("ours, one at a time", here, ("--side", "--width=1", count(800)), peer=False),
        Side(LANGGRAPH, langgraph, ("serial", count(300))),
        Side("DBOS, one at a time", dbos, ("serial", count(100))),
        Side("DBOS in WAL, one at a time", dbos, ("serial", "--journal=wal", count(100))),
        Side("ours, 16 at once", here, ("--side", f"--width={WIDTH}", count(3200)), peer=False),
        Side("LangGraph async, 16 at once", langgraph, ("concurrent", count(256))),
        Side("DBOS threads, 16 at once", dbos, ("threads", count(128))),
        Side("DBOS tasks, 16 at once", dbos, ("tasks", count(128))),
        Side("DBOS threads in WAL, 16 at once", dbos, ("threads", "--journal=wal", count(128))),
        Side("DBOS tasks in WAL, 16 at once", dbos, ("tasks", "--journal=wal", count(128))),
        Side(BARE, PEERS / "bare_commits.py", (str(recording),)),
    ]
    progress("workflows: five phases, every step durable")
    runs = alternate(sides, rounds)
    rates = {
        name: statistics.median(run["per_second"] for run in side) for name, side in runs.items()
    }
    busy = {name: statistics.median(run["cpu_ms"] for run in side) for name, side in runs.items()}
    one, many = rates["ours, one at a time"], rates["ours, 16 at once"]

    def row(claim: str, mine: float, peer: str, bar: float | None) -> Row:
        ratio = mine / rates[peer]
        return Row(
            claim,
            f"≥ {bar:g}×" if bar else "–",
            f"{mine:,.0f}/s",
            f"{rates[peer]:,.0f}/s ({peer.split(',')[0]})",
            f"{ratio:.1f}×",
            ratio >= bar if bar else None,
        )

    dbos_many, dbos_many_wal = (
        max(
            (f"DBOS {kind}{mode}, 16 at once" for kind in ("threads", "tasks")),
            key=lambda name: rates[name],
        )
        for mode in ("", " in WAL")
    )
    floor = busy["ours, 16 at once"] / busy[BARE]
    serial, parallel = "5-phase workflows/s, one at a time", "5-phase workflows/s, 16 at once"
    return Result(
        "workflows",
        rows=[
            row(serial, one, LANGGRAPH, 2.3),
            row(parallel, many, "LangGraph async, 16 at once", 10),
            row(serial, one, "DBOS, one at a time", 4.5),
            row(parallel, many, dbos_many, 15),
            row(serial, one, "DBOS in WAL, one at a time", None),
            row(parallel, many, dbos_many_wal, None),
            Row(
                "processor time per workflow, 16 at once",
                "≤ 6×",
                f"{busy['ours, 16 at once']:.2f} ms",
                f"{busy[BARE]:.2f} ms (bare sqlite3)",
                f"{floor:.1f}×",
                floor <= 6,
            ),
        ],
        notes=[
            f"LangGraph one at a time: {rates['ours, one at a time'] / rates[LANGGRAPH]:.2f}× "
            '(the aim is 3×). It runs `SqliteSaver` with `durability="sync"`, because its default, '
            '"async", may lose the last step in a crash; both sides use WAL and synchronous=FULL.',
            "DBOS is what a `sqlite:///` address gives: a rollback journal, because it has no "
            "setting for the journal. A file put into WAL beforehand makes it quicker; that is "
            "shown in the rows without a bar. Of its threads and its async workflows the quicker "
            "is compared.",
            "Processor time per workflow, which a busy machine changes less than rates: "
            + ", ".join(f"{name}: {busy[name]:.2f} ms" for name in busy)
            + ".",
        ],
        data={"rates": rates, "runs": runs},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", action="store_true", help="run our side once and print its JSON")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--warm", type=int, default=32)
    parser.add_argument("--width", type=int, default=1)
    parser.add_argument("--record", type=Path, help="with --side: note each commit's statements")
    options = parser.parse_args()
    if not options.side:
        finish(measure(options.quick))
        return
    with scratch() as folder:
        path = folder / "callboard.db"
        given = (path, options.count, options.warm, options.width, options.record)
        print(json.dumps(asyncio.run(ours(*given))))


if __name__ == "__main__":
    main()
