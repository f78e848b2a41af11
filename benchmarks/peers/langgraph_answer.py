"""LangGraph: from `Command(resume=…)` to the first line of the node after the one that asked.

The asking node calls `interrupt()`; its answer and its result are durable before the next node
starts (`durability="sync"`). One connection, one compiled graph, a thread of its own for every
sample.
"""

import argparse
import asyncio
import json
import operator
import random
import sqlite3
import sys
import time
import uuid
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import random_text, scratch, spread
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from langgraph_letter import letter


class State(TypedDict):
    items: Annotated[list[str], operator.add]
    approved: bool


class Watch:
    started = 0.0


def build(saver: Any) -> Any:
    def draft(state: State) -> dict[str, list[str]]:
        return {"items": ["draft"]}

    def send(state: State) -> dict[str, list[str]]:
        Watch.started = time.perf_counter()
        return {"items": ["sent"]}

    return letter(saver, State, draft, send)


def config() -> dict[str, Any]:
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


def sync(path: Path, count: int, warm: int, first: list[str]) -> list[float]:
    connection = sqlite3.connect(path, check_same_thread=False)
    graph, samples = build(SqliteSaver(connection)), []
    for number in range(warm + count):
        thread = config()
        graph.invoke({"items": first}, thread, durability="sync")
        answered = time.perf_counter()
        result = graph.invoke(Command(resume="yes"), thread, durability="sync")
        assert result["items"][-1] == "sent"
        assert result["approved"]
        if number >= warm:
            samples.append(Watch.started - answered)
    connection.close()
    return samples


async def tasks(path: Path, count: int, warm: int, first: list[str]) -> list[float]:
    samples = []
    async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
        graph = build(saver)
        for number in range(warm + count):
            thread = config()
            await graph.ainvoke({"items": first}, thread, durability="sync")
            answered = time.perf_counter()
            result = await graph.ainvoke(Command(resume="yes"), thread, durability="sync")
            assert result["items"][-1] == "sent"
            assert result["approved"]
            if number >= warm:
                samples.append(Watch.started - answered)
    return samples


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["sync", "async"], default="sync")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--warm", type=int, default=20)
    parser.add_argument("--state", type=int, default=0, help="bytes of text in the state")
    options = parser.parse_args()
    rng = random.Random(1)
    first = [
        random_text(rng, min(2000, options.state - at)) for at in range(0, options.state, 2000)
    ]
    with scratch() as folder:
        path = folder / "langgraph.db"
        if options.mode == "sync":
            samples = sync(path, options.count, options.warm, first)
        else:
            samples = asyncio.run(tasks(path, options.count, options.warm, first))
    print(
        json.dumps(
            {key: value * 1000 if key != "n" else value for key, value in spread(samples).items()}
        )
    )


if __name__ == "__main__":
    main()
