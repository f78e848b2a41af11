"""Claim: five-phase workflows per second on SQLite, every step durable.

At least 3× LangGraph's SqliteSaver with `durability="sync"` one at a time (4× is the aim; six bare
commits cap it at about 5×), at least 20× its AsyncSqliteSaver at concurrency 16, and at least 8×
and 20× DBOS on SQLite.

A workflow is five phases whose agent returns a short text that is appended to the state. Every
side does the same work in as many steps, and every step is on the disk before the next one starts.
Rounds alternate between all contenders, each round in a new process with a new database; medians
are compared.
"""

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

from common import PEERS, Result, Row, Side, alternate, finish, progress, scratch

WIDTH = 16
LANGGRAPH = "LangGraph sync, one at a time"


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


async def ours(path: Path, count: int, warm: int, width: int) -> dict[str, Any]:
    from callboard import Callboard

    five = define()
    async with Callboard.open(f"sqlite:///{path}", workflows=[five]) as board:

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
    return {"per_second": done / seconds, "cpu_ms": 1000 * busy / done, "seconds": seconds}


def measure(quick: bool = False) -> Result:
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
    serial, parallel = "5-phase workflows/s, one at a time", "5-phase workflows/s, 16 at once"
    return Result(
        "workflows",
        rows=[
            row(serial, one, LANGGRAPH, 3),
            row(parallel, many, "LangGraph async, 16 at once", 20),
            row(serial, one, "DBOS, one at a time", 8),
            row(parallel, many, dbos_many, 20),
            row(serial, one, "DBOS in WAL, one at a time", None),
            row(parallel, many, dbos_many_wal, None),
        ],
        notes=[
            f"LangGraph one at a time: {rates['ours, one at a time'] / rates[LANGGRAPH]:.2f}× "
            '(the aim is 4×). It runs `SqliteSaver` with `durability="sync"`, because its default, '
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
    options = parser.parse_args()
    if not options.side:
        finish(measure(options.quick))
        return
    with scratch() as folder:
        path = folder / "callboard.db"
        print(json.dumps(asyncio.run(ours(path, options.count, options.warm, options.width))))


if __name__ == "__main__":
    main()
