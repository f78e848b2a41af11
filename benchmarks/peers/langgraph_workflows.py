"""LangGraph: workflows of five nodes, each appending one string to the state, every step durable.

`durability="sync"` writes each step before the next one starts. The saver turns on WAL itself;
SQLite's own default for `synchronous` is FULL and stays. One connection and one compiled graph
serve all runs; tracing is off.
"""

import argparse
import asyncio
import json
import operator
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import scratch
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    items: Annotated[list[str], operator.add]


def work(state: State) -> dict[str, list[str]]:
    return {"items": ["done"]}


async def work_async(state: State) -> dict[str, list[str]]:
    return {"items": ["done"]}


def build(node: Any, saver: Any) -> Any:
    graph = StateGraph(State)
    names = [f"p{n}" for n in range(1, 6)]
    for name in names:
        graph.add_node(name, node)
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


def config() -> dict[str, Any]:
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


def serial(path: Path, count: int, warm: int, durability: str) -> dict[str, Any]:
    connection = sqlite3.connect(path, check_same_thread=False)
    graph = build(work, SqliteSaver(connection))
    for _ in range(warm):
        graph.invoke({"items": []}, config(), durability=durability)
    started, busy = time.perf_counter(), time.process_time()
    for _ in range(count):
        result = graph.invoke({"items": []}, config(), durability=durability)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    assert result["items"] == ["done"] * 5
    modes = [
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous")
    ]
    connection.close()
    return {
        "per_second": count / seconds,
        "cpu_ms": 1000 * busy / count,
        "seconds": seconds,
        "journal": modes[0],
        "synchronous": modes[1],
    }


async def concurrent(
    path: Path, count: int, warm: int, width: int, durability: str
) -> dict[str, Any]:
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        graph = build(work_async, saver)

        async def lane(runs: int) -> None:
            for _ in range(runs):
                result = await graph.ainvoke({"items": []}, config(), durability=durability)
                assert result["items"] == ["done"] * 5

        await asyncio.gather(*(lane(max(1, warm // width)) for _ in range(width)))
        each = max(1, count // width)
        started, busy = time.perf_counter(), time.process_time()
        await asyncio.gather(*(lane(each) for _ in range(width)))
        seconds, busy = time.perf_counter() - started, time.process_time() - busy
    done = each * width
    return {"per_second": done / seconds, "cpu_ms": 1000 * busy / done, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["serial", "concurrent"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--warm", type=int, default=20)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--durability", default="sync")
    options = parser.parse_args()
    with scratch() as folder:
        path = folder / "langgraph.db"
        if options.mode == "serial":
            result = serial(path, options.count, options.warm, options.durability)
        else:
            result = asyncio.run(
                concurrent(path, options.count, options.warm, options.width, options.durability)
            )
    print(json.dumps(result))


if __name__ == "__main__":
    main()
