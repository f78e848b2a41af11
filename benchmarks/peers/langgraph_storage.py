"""LangGraph: one thread whose single node loops, each visit appending one random text to the
state.

`--channel add` is the list with `operator.add` that its documentation teaches. `--channel delta`
is `DeltaChannel` (beta), its answer to growing checkpoints, at its default snapshot frequency.
`durability="sync"`, WAL, one connection.
"""

import argparse
import json
import operator
import random
import sqlite3
import sys
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import itertools

from common import folder_bytes, random_text, scratch
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


class Adding(TypedDict):
    items: Annotated[list[str], operator.add]


def extend(items: list[str], writes: list[list[str]]) -> list[str]:
    return [*items, *(item for write in writes for item in write)]


class Delta(TypedDict):
    items: Annotated[list[str], DeltaChannel(extend)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--size", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--channel", choices=["add", "delta"], default="add")
    options = parser.parse_args()
    rng, starts = random.Random(options.seed), []
    texts = [random_text(rng, options.size) for _ in range(options.steps)]

    def work(state: Any) -> dict[str, list[str]]:
        starts.append(time.perf_counter())
        return {"items": [texts[len(starts) - 1]]}

    def onward(state: Any) -> str:
        return "work" if len(starts) < options.steps else END

    with scratch() as folder:
        connection = sqlite3.connect(folder / "langgraph.db", check_same_thread=False)
        graph = StateGraph(Adding if options.channel == "add" else Delta)
        graph.add_node("work", work)
        graph.add_edge(START, "work")
        graph.add_conditional_edges("work", onward, ["work", END])
        app = graph.compile(checkpointer=SqliteSaver(connection))
        config = {"configurable": {"thread_id": "one"}, "recursion_limit": options.steps + 10}
        result = app.invoke({"items": []}, config, durability="sync")
        ended = time.perf_counter()
        content = sum(len(item.encode()) for item in result["items"])
        assert len(result["items"]) == options.steps
        connection.close()
        stored = folder_bytes(folder)
    print(
        json.dumps(
            {
                "stored": stored,
                "content": content,
                "factor": stored / content if content else None,
                "per_second": options.steps / (ended - starts[0]),
                "seconds": ended - starts[0],
                "step_seconds": [
                    round(after - before, 7) for before, after in itertools.pairwise(starts)
                ],
            }
        )
    )


if __name__ == "__main__":
    main()
