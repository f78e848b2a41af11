"""LangGraph: threads that wait at `interrupt()`, and how long it takes to find them all.

There is no list of threads: the newest checkpoint of each is asked for, and waits if it has a
pending write of an interrupt. The ids of the threads are read by SQL, which is kinder than
`SqliteSaver.list`, because that reads every checkpoint of every thread.
"""

import argparse
import json
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import scratch
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    items: list[str]


def build(saver: Any) -> Any:
    def draft(state: State) -> dict[str, list[str]]:
        return {"items": [*state["items"], "draft"]}

    def ask(state: State) -> dict[str, list[str]]:
        return {"items": [*state["items"], interrupt("Send it?")]}

    graph = StateGraph(State)
    graph.add_node("draft", draft)
    graph.add_node("ask", ask)
    for before, after in [(START, "draft"), ("draft", "ask"), ("ask", END)]:
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    count = parser.parse_args().count
    with scratch() as folder:
        path = folder / "langgraph.db"
        connection = sqlite3.connect(path, check_same_thread=False)
        saver = SqliteSaver(connection)
        graph = build(saver)
        began = time.perf_counter()
        for number in range(count):
            config = {"configurable": {"thread_id": f"thread-{number}"}}
            graph.invoke({"items": ["go"]}, config, durability="sync")
        made = time.perf_counter()
        threads = connection.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
        waiting = 0
        for (thread,) in threads:
            found = saver.get_tuple({"configurable": {"thread_id": thread}})
            assert found is not None
            waiting += any(write[1] == "__interrupt__" for write in found.pending_writes or ())
        listed = time.perf_counter()
        size = path.stat().st_size
        connection.close()
    assert waiting == count, waiting
    print(json.dumps({"make_s": made - began, "list_s": listed - made, "bytes": size}))


if __name__ == "__main__":
    main()
