"""Clients that connect and say nothing, say half, or never read: the others notice nothing."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from tests import server_flows
from tests.servers import TOKEN

from callboard import Callboard
from callboard.server import connection
from callboard.server.running import Address, bind, serve
from callboard.server.service import Service
from callboard.server.settings import ServerSettings
from callboard.server.wiring import prepare
from callboard.testing.log_suite_material import happened

PATIENCE = 90
REQUEST = (
    f"GET {{path}} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n{{more}}\r\n"
)


@asynccontextmanager
async def running(db: Path, settings: ServerSettings) -> AsyncGenerator[tuple[Address, Service]]:
    """A server in this process, on a real port, with settings that a test can wait for."""
    ready, stopping = asyncio.get_running_loop().create_future(), asyncio.Event()
    listening = bind(settings)
    async with Callboard.open(db, [server_flows.count, server_flows.trip]) as board:
        app, service = prepare(board, settings, db)
        task = asyncio.create_task(serve(app, service, listening, ready.set_result, stopping))
        try:
            yield await ready, service
        finally:
            stopping.set()
            await task


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLBOARD_TOKEN", TOKEN)


async def is_served(address: Address) -> bool:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=address.url, headers=headers) as http:
        return (await http.get("/sessions")).status_code == 200


async def dropped(reader: asyncio.StreamReader) -> bool:
    """Whether the server ends the connection, however it does."""
    async with asyncio.timeout(PATIENCE):
        try:
            while await reader.read(65536):
                pass
        except ConnectionError:
            pass
    return True


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /sess", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "],
    ids=["nothing", "half a line", "half a head"],
)
async def test_half_a_request_is_dropped(
    tmp_path: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "_HEAD_WITHIN", 0.3)
    async with running(tmp_path / "x.db", ServerSettings(port=0)) as (address, _):
        clients = [await asyncio.open_connection(address.host, address.port) for _ in range(50)]
        for _, writer in clients:
            writer.write(sent)
        assert await is_served(address)
        assert all(await asyncio.gather(*(dropped(reader) for reader, _ in clients)))
        for _, writer in clients:
            writer.close()


async def test_a_second_request_is_waited_for_no_longer_than_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "_HEAD_WITHIN", 0.3)
    async with running(tmp_path / "x.db", ServerSettings(port=0)) as (address, _):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(REQUEST.format(path="/health", more="").encode())
        assert b"200" in await reader.readline()
        writer.write(b"GET /heal")
        assert await dropped(reader)
        writer.close()


@pytest.mark.parametrize("part", [b"a" * 6, b"a: b\r\nX"], ids=["one", "many"])
async def test_a_head_that_is_too_large_is_refused(tmp_path: Path, part: bytes):
    async with running(tmp_path / "x.db", ServerSettings(port=0)) as (address, _):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX" + part * 12_000)
        assert b" 431 " in await reader.readline()
        assert await dropped(reader)
        writer.close()
        assert await is_served(address)


@pytest.mark.parametrize("part", [b"a" * 6, b"a: b\r\nX"], ids=["one", "many"])
async def test_a_head_without_end_is_dropped(tmp_path: Path, part: bytes):
    async with running(tmp_path / "x.db", ServerSettings(port=0)) as (address, _):
        _, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX")

        async def send_on() -> None:
            while True:
                writer.write(part * 1000)
                await writer.drain()
                await asyncio.sleep(0)

        with pytest.raises(ConnectionError):
            await send_on()
        writer.close()
        assert await is_served(address)


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00", b"\x00" * 500, b"NONSENSE\r\n\r\n"])
async def test_what_is_no_http_is_dropped(tmp_path: Path, sent: bytes):
    async with running(tmp_path / "x.db", ServerSettings(port=0)) as (address, _):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(sent)
        assert await dropped(reader)
        writer.close()
        assert await is_served(address)


async def test_half_a_body_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "_BODY_WITHIN", 0.3)
    async with running(tmp_path / "x.db", ServerSettings(port=0)) as (address, _):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        head = REQUEST.format(path="/sessions", more="Content-Length: 100\r\n")
        writer.write(head.replace("GET", "POST").encode() + b'{"workflowId": "cou')
        assert await dropped(reader)
        writer.close()
        assert await is_served(address)


async def test_a_reader_that_never_reads_is_cut_off(tmp_path: Path):
    settings = ServerSettings(port=0, patience=0.5, write_every=0.0)
    async with running(tmp_path / "x.db", settings) as (address, service):
        board, streams = service.board, service.streams
        session = await board.start("count", 1)
        path = f"/sessions/{session}/events"
        with socket.socket() as idle:
            idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            idle.connect((address.host, address.port))
            more = "Accept: text/event-stream\r\n"
            idle.sendall(REQUEST.format(path=path, more=more).encode())
            # More than the kernel keeps for somebody who does not read.
            for _ in range(200):
                await board.log.append(session, [happened("note", {"text": "x" * 100_000})])
            async with asyncio.timeout(PATIENCE):
                while not streams.cut:
                    await asyncio.sleep(0.05)
                while streams.reading:
                    await asyncio.sleep(0.05)
        assert streams.cut == 1
        assert await read_places(address, path, 200) == list(range(1, 201))


async def read_places(address: Address, path: str, count: int) -> list[int]:
    """The first places of a stream, by a reader that may be too slow and then returns."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream"}
    places: list[int] = []
    async with (
        asyncio.timeout(PATIENCE),
        httpx.AsyncClient(base_url=address.url, headers=headers, timeout=PATIENCE) as http,
    ):
        while len(places) < count:
            after = {"Last-Event-ID": str(places[-1] if places else 0)}
            with contextlib.suppress(httpx.RemoteProtocolError):
                async with http.stream("GET", path, headers=after) as stream:
                    async for line in stream.aiter_lines():
                        if line.startswith("id: ") and line != "id: 0":
                            places.append(int(line[4:]))
                        if len(places) == count:
                            break
    return places
