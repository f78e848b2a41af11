"""A WebSocket client for one local program: text messages over a Unix socket (RFC 6455).

Not a library, because none of our dependencies brings one, and Codex's app server needs less than a
page of the protocol. Messages are bounded, and nothing here blocks the event loop.
"""

import asyncio
import base64
import os
import struct
from typing import Final, Self

LARGEST: Final = 1024 * 1024
"""Maximum bytes of a message. A larger one ends the connection."""
_LONGEST_HEAD: Final = 16 * 1024
_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_LAST, _MASKED = 0x80, 0x80


class WebSocketError(ConnectionError):
    """The other side doesn't speak the protocol, hung up, or sent too much."""


class WebSocket:
    """An open connection. One task reads and writes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, path: str) -> Self:
        """Connect to a socket; OSError if that fails, or if it isn't a WebSocket server."""
        reader, writer = await asyncio.open_unix_connection(path, limit=_LONGEST_HEAD)
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key.encode() + b"\r\n\r\n"
        )
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            if head.split(b" ", 2)[1:2] != [b"101"]:
                raise WebSocketError("it did not switch to WebSocket")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            writer.close()
            raise WebSocketError("it did not answer") from error
        except BaseException:
            writer.close()
            raise
        return cls(reader, writer)

    async def send(self, message: bytes) -> None:
        """Send a text message."""
        await self._write(_TEXT, message)

    async def receive(self) -> bytes:
        """The next text message; WebSocketError if there won't be one."""
        parts, size = [b""], 0
        while True:
            kind, is_last, data = await self._frame(LARGEST - size)
            if kind == _CLOSE:
                raise WebSocketError("it closed the connection")
            if kind == _PING:
                await self._write(_PONG, data)
            if kind >= _CLOSE:  # Control frames may come between the parts of a message.
                continue
            parts.append(data)
            size += len(data)
            if is_last:
                return b"".join(parts)

    def close(self) -> None:
        """Disconnect."""
        self._writer.close()

    async def _frame(self, largest: int) -> tuple[int, bool, bytes]:
        try:
            first, length = await self._reader.readexactly(2)
            if length == 126:
                (length,) = struct.unpack("!H", await self._reader.readexactly(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", await self._reader.readexactly(8))
            elif length & _MASKED:
                raise WebSocketError("a server may not mask")
            if length > largest:
                raise WebSocketError("a message is too large")
            return first & 0xF, bool(first & _LAST), await self._reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            raise WebSocketError("it hung up") from error

    async def _write(self, kind: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", _LAST | kind, _MASKED | size)
        elif size < 65_536:
            head = struct.pack("!BBH", _LAST | kind, _MASKED | 126, size)
        else:
            head = struct.pack("!BBQ", _LAST | kind, _MASKED | 127, size)
        # Clients have to mask, to protect proxies. There are none here.
        mask = os.urandom(4)
        key = int.from_bytes((mask * (size // 4 + 1))[:size])
        masked = (int.from_bytes(data) ^ key).to_bytes(size)
        self._writer.write(head + mask + masked)
        await self._writer.drain()
