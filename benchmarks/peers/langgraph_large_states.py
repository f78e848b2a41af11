"""LangGraph with a large state: an answer, the first step, and one more message in a long list.

`durability="sync"` throughout: what a node made is on the disk before the next one starts. One
connection, one compiled graph, a thread of its own for every sample.
"""

import argparse
import asyncio
import json
import operator
import sqlite3
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from common import clock, large_content, on_a_fresh_database, spread
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command
from langgraph_letter import letter
from pydantic import BaseModel


class Message(BaseModel):
    role: str
    content: str
    at: int = 0


class State(TypedDict):
    items: Annotated[list[str], operator.add]
    messages: Annotated[list[Message], operator.add]
    steps: int
    approved: bool


class Watch:
    drafted = 0.0
    started = 0.0
    steps: ClassVar[list[float]] = []


def one_more(typed: bool, text: str) -> dict[str, Any]:
    return {"messages": [Message(role="agent", content=text)]} if typed else {"items": [text]}


def build(saver: Any, typed: bool) -> Any:
    def draft(state: State) -> dict[str, Any]:
        Watch.drafted = clock()
        return one_more(typed, "draft")

    def send(state: State) -> dict[str, Any]:
        Watch.started = clock()
        return one_more(typed, "sent")

    return letter(saver, State, draft, send)


def build_loop(saver: Any, steps: int) -> Any:
    def work(state: State) -> dict[str, Any]:
        Watch.steps.append(clock())
        return {**one_more(True, "one more"), "steps": state["steps"] + 1}

    graph = StateGraph(State)
    graph.add_node("work", work)
    graph.add_edge(START, "work")
    graph.add_conditional_edges("work", lambda s: "work" if s["steps"] < steps else END)
    return graph.compile(checkpointer=saver)


def config(id: str | None = None, limit: int = 25) -> dict[str, Any]:
    thread = {"thread_id": id or str(uuid.uuid4())}
    return {"configurable": thread, "recursion_limit": limit}


def first_state(kind: str, size: int) -> dict[str, Any]:
    found = large_content(kind, size)
    if kind == "messages":
        return {"messages": [Message(**one) for one in found], "steps": 0}
    return {"items": found, "steps": 0}


async def answers(options: argparse.Namespace, saver: Any, invoke: Callable[..., Any]) -> None:
    """Make the sessions, then answer them: here, or in a process that has not seen them."""
    typed = options.kind == "messages"
    state, samples, threads = first_state(options.kind, options.size), [], []
    graph = build(saver, typed)
    for _ in range(options.warm + options.count):
        thread = config()
        began = clock()
        await invoke(graph, state, thread)
        if options.case == "first":
            samples.append(Watch.drafted - began)
        elif options.case == "warm":
            answered = clock()
            await invoke(graph, Command(resume="yes"), thread)
            samples.append(Watch.started - answered)
        else:
            threads.append(thread["configurable"]["thread_id"])
    if options.case == "cold":
        print(json.dumps(threads))
    else:
        report(samples, options.warm)


async def resume(options: argparse.Namespace, saver: Any, invoke: Callable[..., Any]) -> None:
    graph, samples = build(saver, options.kind == "messages"), []
    for thread in options.resume.split(","):
        answered = clock()
        await invoke(graph, Command(resume="yes"), config(thread))
        samples.append(Watch.started - answered)
    report(samples, options.warm)


async def appending(options: argparse.Namespace, saver: Any, invoke: Callable[..., Any]) -> None:
    state = first_state("messages", options.size)
    await invoke(build_loop(saver, options.count), state, config(limit=options.count + 10))
    steps = [after - before for before, after in zip(Watch.steps, Watch.steps[1:], strict=False)]
    report(steps, options.warm)


def report(samples: list[float], warm: int) -> None:
    found = spread(samples[warm:])
    print(json.dumps({k: v * 1000 if k != "n" else v for k, v in found.items()}))


async def run(options: argparse.Namespace, path: Path) -> None:
    work = resume if options.resume else appending if options.case == "append" else answers
    if options.mode == "async":
        async with AsyncSqliteSaver.from_conn_string(str(path)) as saver:
            saver.serde = JsonPlusSerializer(allowed_msgpack_modules=[Message])

            async def ainvoke(graph: Any, given: Any, thread: Any) -> Any:
                return await graph.ainvoke(given, thread, durability="sync")

            await work(options, saver, ainvoke)
        return
    connection = sqlite3.connect(path, check_same_thread=False)
    serde = JsonPlusSerializer(allowed_msgpack_modules=[Message])

    async def invoke(graph: Any, given: Any, thread: Any) -> Any:
        return graph.invoke(given, thread, durability="sync")

    await work(options, SqliteSaver(connection, serde=serde), invoke)
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["sync", "async"], default="sync")
    parser.add_argument("--case", choices=["warm", "cold", "first", "append"], default="warm")
    parser.add_argument("--kind", choices=["text", "messages"], default="text")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--warm", type=int, default=5)
    parser.add_argument("--resume", default="", help="answer these threads of --path")
    parser.add_argument("--path", type=Path)
    options = parser.parse_args()
    on_a_fresh_database(options, lambda path: asyncio.run(run(options, path)))


if __name__ == "__main__":
    main()
