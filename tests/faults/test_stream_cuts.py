"""A stream that is cut anywhere, also in the middle of a frame, is read on without a gap."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from tests.listening import connected, listening
from tests.servers import Server, serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"


class CuttingProxy:
    """Passes bytes on, and drops the connection after so many from the server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cut_after: int | None = None
        self.cuts = 0

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with connected(self.port) as (upstream_reader, upstream_writer):
            sending = asyncio.create_task(_copy(reader, upstream_writer))
            try:
                await self._answer(upstream_reader, writer)
            except ConnectionError:
                pass
            finally:
                sending.cancel()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = self.cut_after
        while data := await reader.read(65536):
            if left is not None and len(data) >= left:
                writer.write(data[:left])
                await writer.drain()
                self.cuts += 1
                break
            writer.write(data)
            await writer.drain()
            left = None if left is None else left - len(data)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


@asynccontextmanager
async def cutting(server: Server) -> AsyncGenerator[tuple[CuttingProxy, httpx.AsyncClient]]:
    proxy = CuttingProxy(server.port)
    headers = {**server.client().headers, "Host": f"127.0.0.1:{server.port}"}
    async with (
        listening(proxy.accept) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers) as http,
    ):
        yield proxy, http


async def read_some(http: httpx.AsyncClient, path: str, after: int) -> list[tuple[int, str]]:
    """The whole frames that come before the connection ends, however it does."""
    got: list[tuple[int, str]] = []
    headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
    try:
        async with http.stream("GET", path, headers=headers) as answer:
            place, data = 0, None
            async for line in answer.aiter_lines():
                if line.startswith("id: "):
                    place = int(line[4:])
                elif line.startswith("data: "):
                    data = line[6:]
                elif not line and data is not None:
                    got.append((place, json.loads(data)["id"]))
                    data = None
    except httpx.TransportError:
        pass
    return got


async def test_cut_after_every_byte_count(tmp_path: Path):
    async with serving(tmp_path / "x.db", FLOWS) as server, server.client() as direct:
        body = {"workflowId": "count", "input": 3}
        session = (await direct.post("/sessions", json=body)).json()["sessionId"]
        path = f"/sessions/{session}/events"
        async with asyncio.timeout(90):
            expected = await read_some(direct, path, 0)
        assert [place for place, _ in expected] == list(range(1, len(expected) + 1))
        async with cutting(server) as (proxy, http):
            # From within the head of the answer to beyond its end, in uneven steps.
            for first in range(50, 8_000, 97):
                got: list[tuple[int, str]] = []
                proxy.cut_after = first
                while len(got) < len(expected):
                    got += await read_some(http, path, got[-1][0] if got else 0)
                    # Each time a little further, so that it comes to an end.
                    proxy.cut_after += 149
                assert got == expected
            assert proxy.cuts > 100


async def test_cut_after_every_event(tmp_path: Path):
    async with serving(tmp_path / "x.db", FLOWS) as server, server.client() as http:
        body = {"workflowId": "count", "input": 5}
        session = (await http.post("/sessions", json=body)).json()["sessionId"]
        path = f"/sessions/{session}/events"
        got: list[int] = []
        async with asyncio.timeout(90):
            while True:
                headers = {"Accept": "text/event-stream", "Last-Event-ID": str(len(got))}
                async with http.stream("GET", path, headers=headers) as answer:
                    if answer.status_code == 204:
                        break
                    async for line in answer.aiter_lines():
                        if line.startswith("id: "):
                            got.append(int(line[4:]))
                            break
        assert got == list(range(1, len(got) + 1))
        assert len(got) > 20
