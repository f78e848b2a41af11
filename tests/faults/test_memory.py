"""Callers who send without end and readers who do not read: memory stays within its budget."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests import server_flows
from tests.servers import TOKEN, Server, serving

from callboard import Callboard
from callboard.testing.log_suite_material import happened

MB = 1_048_576
SESSION = "large"
EVENT = 10 * MB
BODY = 4 * MB
OTHER = {"Authorization": f"Bearer {TOKEN}"}


def resident(server: Server) -> int:
    """Bytes of memory that the server uses now."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


class Peak:
    """The most memory that a server uses while this is open."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.before = self.most = resident(server)

    async def __aenter__(self) -> "Peak":
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()

    async def _watch(self) -> None:
        while True:
            self.most = max(self.most, resident(self._server))
            await asyncio.sleep(0.01)

    @property
    def growth(self) -> int:
        print(f"grew by {(self.most - self.before) // MB} MB")
        return self.most - self.before


async def with_a_large_event(db: Path) -> None:
    """A database with a session whose second event is large."""
    async with Callboard.open(db, [server_flows.trip]) as board:
        await board.start("trip", "Lisbon", session_id=SESSION)
        await board.log.append(SESSION, [happened("agent:note", {"text": "x" * EVENT})])


async def connection(server: Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    # A small buffer, so that the system does not read what the client does not.
    return await asyncio.open_connection("127.0.0.1", server.port, limit=1024)


def head(method: str, path: str, *more: str) -> bytes:
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {TOKEN}",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


async def metric(http: httpx.AsyncClient, name: str) -> float:
    text = (await http.get("/metrics")).text
    [line] = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


async def settles(http: httpx.AsyncClient, most: int) -> bool:
    async with asyncio.timeout(90):
        while await metric(http, "callboard_memory_used_bytes") > most:
            await asyncio.sleep(0.05)
    return True


async def whole_event(http: httpx.AsyncClient) -> int:
    """Read the large event from a stream, as a reader that does read."""
    got = 0
    accept = {"Accept": "text/event-stream"}
    async with http.stream("GET", f"/sessions/{SESSION}/events", headers=accept) as response:
        assert response.status_code == 200
        async for part in response.aiter_bytes():
            got += len(part)
            if got > EVENT:
                break
    return got


async def works(http: httpx.AsyncClient) -> None:
    """A small command and a reader are served."""
    question: dict[str, Any] = {"type": "approval", "prompt": "Go on?"}
    asked = await http.post("/interactions", json=question)
    assert asked.status_code == 201, asked.text
    assert await whole_event(http) > EVENT


@asynccontextmanager
async def attacked(tmp_path: Path, memory: int) -> AsyncGenerator[tuple[Server, httpx.AsyncClient]]:
    db = tmp_path / "x.db"
    await with_a_large_event(db)
    options = [f"--memory={memory}MB"]
    async with (
        serving(db, server_flows.__file__, options=options) as server,
        server.client() as http,
    ):
        http.timeout = httpx.Timeout(120)  # Some 100 MB are sent and dropped before its turn comes.
        await works(http)  # What every server needs once is not counted below.
        yield server, http


@asynccontextmanager
async def unread(server: Server, path: str, accept: str, count: int) -> AsyncGenerator[None]:
    """Readers that ask and do not read, until they leave without a word."""
    writers: list[asyncio.StreamWriter] = []
    try:
        for _ in range(count):
            reader, writer = await connection(server)
            writers.append(writer)
            reader._transport.pause_reading()  # type: ignore[attr-defined]
            writer.write(head("GET", path, f"Accept: {accept}"))
        yield
    finally:
        for writer in writers:
            writer.transport.abort()


@pytest.mark.parametrize(
    ("accept", "count"),
    [
        ("text/event-stream", 150),
        pytest.param("application/json", 40, marks=pytest.mark.long),
    ],
    ids=["streams", "answers"],
)
async def test_readers_that_do_not_read_share_what_waits_for_them(
    tmp_path: Path, accept: str, count: int
):
    async with attacked(tmp_path, 128) as (server, http), Peak(server) as peak:
        async with unread(server, f"/sessions/{SESSION}/events", accept, count):
            await works(http)
            assert peak.growth < 1.5 * 128 * MB
        assert await settles(http, 17 * MB)


async def sending(server: Server) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A client that sends all of a body but its end."""
    reader, writer = await connection(server)
    writer.write(head("POST", "/interactions", f"Content-Length: {BODY}"))
    writer.write(b" " * (BODY - 10))
    return reader, writer


async def unfinished(tmp_path: Path, memory: int, count: int) -> None:
    async with attacked(tmp_path, memory) as (server, http), Peak(server) as peak:
        clients = [await sending(server) for _ in range(count)]
        refused = [asyncio.create_task(reader.readline()) for reader, _ in clients]
        async with asyncio.timeout(90):
            await asyncio.wait(refused, return_when=asyncio.FIRST_COMPLETED)
            await works(http)
            while sum(task.done() for task in refused) < count - memory * MB // 4 // BODY - 1:
                await asyncio.sleep(0.02)
        assert all(b" 503 " in task.result() for task in refused if task.done())
        assert peak.growth < 1.5 * memory * MB
        for task, (_, writer) in zip(refused, clients, strict=True):
            task.cancel()
            writer.transport.abort()
        assert await settles(http, 17 * MB)
        whole = {"type": "approval", "prompt": "x" * (BODY // 2)}
        assert (await http.post("/interactions", json=whole)).status_code == 201


async def test_bodies_that_never_end_are_refused_before_memory_runs_out(tmp_path: Path):
    await unfinished(tmp_path, 128, 80)


@pytest.mark.long
async def test_hundreds_of_bodies_that_never_end(tmp_path: Path):
    await unfinished(tmp_path, 256, 240)
