"""Codex's app server, played: a WebSocket on a Unix socket, and the status of one thread."""

import asyncio
import json
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

SESSION = "01a1e879-f446-7fa1-8b56-79ef39fdaa76"

Peer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"


def framed(data: bytes, first: int = 0x81) -> bytes:
    if len(data) < 126:
        return bytes([first, len(data)]) + data
    return bytes([first, 127]) + struct.pack("!Q", len(data)) + data


async def unmasked(reader: asyncio.StreamReader) -> bytes:
    _, length = await reader.readexactly(2)
    size = length & 0x7F
    if size == 126:
        (size,) = struct.unpack("!H", await reader.readexactly(2))
    mask = await reader.readexactly(4)
    data = await reader.readexactly(size)
    return bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))


@asynccontextmanager
async def listening(path: Path, peer: Peer) -> AsyncGenerator[str]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await peer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_unix_server(talk, path):
        yield str(path)


class PlayedAppServer:
    """Answers what is asked at first, and then tells what a test wants it to."""

    def __init__(self) -> None:
        self.status: Any = {"type": "active", "activeFlags": []}
        self.writer: asyncio.StreamWriter | None = None

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SWITCHED + framed(b'{"method": "configWarning", "params": null}'))
        while True:
            asked = json.loads(await unmasked(reader))
            replies = {
                "initialize": {},
                "thread/loaded/list": {"data": [SESSION, 7]},
                "thread/read": {"thread": {"id": SESSION, "status": self.status}},
            }
            if "id" in asked:
                reply = {"id": asked["id"], "result": replies[asked["method"]]}
                writer.write(framed(json.dumps(reply).encode()))
                self.writer = writer

    def changes(self, at_ms: int, **status: Any) -> None:
        params = {"threadId": SESSION, "status": status}
        told = {"method": "thread/status/changed", "params": params, "emittedAtMs": at_ms}
        assert self.writer is not None
        self.writer.write(framed(json.dumps(told).encode()))
