"""LangGraph: `get_state` at one checkpoint out of many, and a fork there (`update_state`), with a
state of 10 KB.

The state is a table of 100 texts of about 100 bytes; every step replaces one of them, as on our
side. Each sample is taken cold: caches of the operating system dropped, the database opened again,
the graph compiled again.
"""

import argparse
import json
import random
import sqlite3
import sys
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import drop_caches, folder_bytes, random_text, scratch, spread
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

FIELDS, SIZE = 100, 90


def merge(cells: dict[str, str], changed: dict[str, str]) -> dict[str, str]:
    return {**cells, **changed}


class State(TypedDict):
    cells: Annotated[dict[str, str], merge]


def build(connection: sqlite3.Connection, steps: int, rng: random.Random) -> Any:
    count = 0

    def work(state: State) -> dict[str, dict[str, str]]:
        nonlocal count
        count += 1
        return {"cells": {f"field{rng.randrange(FIELDS):02d}": random_text(rng, SIZE)}}

    graph = StateGraph(State)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    graph.add_conditional_edges(
        "work", lambda state: "work" if count < steps else END, ["work", END]
    )
    return graph.compile(checkpointer=SqliteSaver(connection))


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, check_same_thread=False)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--forks", type=int, default=50)
    options = parser.parse_args()
    rng = random.Random(1)
    first = {f"field{n:02d}": random_text(rng, SIZE) for n in range(FIELDS)}
    with scratch() as folder:
        path = folder / "langgraph.db"
        connection = connect(path)
        graph = build(connection, options.steps, rng)
        thread = {"configurable": {"thread_id": "one"}, "recursion_limit": options.steps + 10}
        started = time.perf_counter()
        graph.invoke({"cells": first}, thread, durability="sync")
        built = time.perf_counter() - started
        ids = [
            row[0]
            for row in connection.execute(
                "SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id"
            )
        ]
        connection.close()
        stored = folder_bytes(folder)

        def at(checkpoint: str) -> dict[str, Any]:
            return {
                "configurable": {
                    "thread_id": "one",
                    "checkpoint_ns": "",
                    "checkpoint_id": checkpoint,
                }
            }

        cold, how = [], ""
        for _ in range(options.samples):
            how = drop_caches(folder)
            connection = connect(path)
            graph = build(connection, 0, rng)
            started = time.perf_counter()
            snapshot = graph.get_state(at(rng.choice(ids[2:])))
            cold.append((time.perf_counter() - started) * 1000)
            assert len(snapshot.values["cells"]) == FIELDS
            connection.close()

        forks = []
        for _ in range(options.forks):
            drop_caches(folder)
            connection = connect(path)
            graph = build(connection, 0, rng)
            started = time.perf_counter()
            graph.update_state(at(rng.choice(ids[2:])), {"cells": {}})
            forks.append((time.perf_counter() - started) * 1000)
            connection.close()
        added = (folder_bytes(folder) - stored) / options.forks
    print(
        json.dumps(
            {
                "checkpoints": len(ids),
                "stored": stored,
                "build_seconds": built,
                "cold": how,
                "state_ms": spread(cold),
                "fork_ms": spread(forks),
                "fork_bytes": added,
            }
        )
    )


if __name__ == "__main__":
    main()
