"""LangGraph behind FastAPI: start a thread that asks, answer it, look at it. Nothing else.

`durability="sync"`, so that the answer is on the disk before the next node starts, as with us.
"""

import asyncio
import json
import operator
import socket
import sys
import time
import uuid
from typing import Annotated, Any, TypedDict

import uvicorn
from fastapi import FastAPI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from langgraph_letter import letter


class State(TypedDict):
    items: Annotated[list[str], operator.add]
    approved: bool


def graph(saver: Any) -> Any:
    async def draft(state: State) -> dict[str, list[str]]:
        return {"items": ["draft"]}

    async def send(state: State) -> dict[str, list[str]]:
        return {"items": [str(time.monotonic_ns())]}

    return letter(saver, State, draft, send)


def build(runs: Any) -> FastAPI:
    app = FastAPI()

    def config(thread: str) -> dict[str, Any]:
        return {"configurable": {"thread_id": thread}}

    @app.post("/threads")
    async def start(given: dict[str, str]) -> dict[str, str]:
        thread = uuid.uuid4().hex
        await runs.ainvoke({"items": [given["input"]]}, config(thread), durability="sync")
        return {"thread": thread}

    @app.post("/threads/{thread}/answer")
    async def answer(thread: str, given: dict[str, str]) -> dict[str, bool]:
        await runs.ainvoke(Command(resume=given["value"]), config(thread), durability="sync")
        return {"ok": True}

    @app.get("/threads/{thread}")
    async def show(thread: str) -> dict[str, Any]:
        return (await runs.aget_state(config(thread))).values

    return app


async def main(path: str) -> None:
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        config = uvicorn.Config(build(graph(saver)), log_level="warning", access_log=False)
        serving = asyncio.create_task(uvicorn.Server(config).serve(sockets=[listening]))
        print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
        await serving


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1]))
