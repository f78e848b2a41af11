"""sse-starlette on uvicorn: one event every 10 ms, put into a queue for each reader.

As its documentation does it: an `EventSourceResponse` for each reader, fed by an asyncio.Queue of
its own. The event's JSON is made once for all; nothing is written to a disk. Events are kept in a
list, from which a reader that comes back with `Last-Event-ID` is given what it missed.
"""

import argparse
import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Header
from sse_starlette import EventSourceResponse, ServerSentEvent

END = -1


class Stream:
    def __init__(self, gate: Path, count: int, every: float) -> None:
        self.gate, self.count, self.every = gate, count, every
        self.events: list[str] = []
        self.over = False
        self.queues: set[asyncio.Queue[int]] = set()

    async def run(self) -> None:
        while not self.gate.exists():
            await asyncio.sleep(0.01)
        began = time.monotonic()
        for number in range(self.count):
            if (late := time.monotonic() - began) > self.count * self.every:
                break
            await asyncio.sleep(number * self.every - late)
            self.add(number)
        self.over = True
        for queue in self.queues:
            queue.put_nowait(END)

    def add(self, number: int) -> None:
        """An event as large as ours are on the wire."""
        event = {
            "id": "019a0000-0000-7000-8000-000000000000",
            "sessionId": "0123456789ab",
            "position": number + 1,
            "name": "tick",
            "_tag": "tick",
            "version": 1,
            "payload": {"agent": "tick", "run": "tick:1", "attempt": 1, "at": time.time_ns()},
            "timestamp": "2026-01-31T12:00:00.123Z",
            "causedBy": "019a0000-0000-7000-8000-000000000000",
        }
        self.events.append(json.dumps(event, separators=(",", ":")))
        for queue in self.queues:
            queue.put_nowait(number)

    async def read(self, after: int) -> AsyncIterator[ServerSentEvent]:
        queue: asyncio.Queue[int] = asyncio.Queue()
        self.queues.add(queue)
        try:
            upto = len(self.events)
            over = self.over
            for number in range(after, upto):
                yield self.frame(number)
            while not over:
                number = await queue.get()
                if number == END:
                    return
                yield self.frame(number)
        finally:
            self.queues.discard(queue)

    def frame(self, number: int) -> ServerSentEvent:
        return ServerSentEvent(data=self.events[number], id=str(number + 1))


def build(stream: Stream) -> FastAPI:
    app = FastAPI()

    @app.get("/events")
    async def events(last_event_id: str | None = Header(default=None)) -> EventSourceResponse:
        return EventSourceResponse(stream.read(int(last_event_id or 0)))

    return app


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gate", type=Path, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--every", type=float, default=0.01)
    given = parser.parse_args()
    listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
    stream = Stream(given.gate, given.count, given.every)
    config = uvicorn.Config(build(stream), log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    ticking = asyncio.create_task(stream.run())
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
    await serving
    ticking.cancel()


if __name__ == "__main__":
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
