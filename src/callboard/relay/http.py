"""Just enough HTTP for a relay: requests to one server, over TLS unless it is on this machine.

The usual clients take more memory than the rest of a relay together.
"""

import asyncio
import contextlib
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from callboard.errors import ValidationError
from callboard.relay.certificates import tls_context, tls_problem

CONNECT_WITHIN: Final = 10.0
REPLY_WITHIN: Final = 60.0
LARGEST_REPLY: Final = 1_048_576

_LONGEST_HEAD: Final = 65_536
_LONGEST_LINE: Final = 1024
_PART: Final = 65_536
_NO_BODY: Final = (204, 304)
_CLOSED: Final = (OSError, EOFError, asyncio.LimitOverrunError, ssl.SSLError)


class HttpFailed(Exception):
    """No complete response came. The message says why, for people.

    is_stale: the connection was made for an earlier request, and may have been closed since. A
    new one may work at once. What was sent may have arrived, or not.
    """

    def __init__(self, why: str, *, is_stale: bool = False) -> None:
        super().__init__(why)
        self.is_stale = is_stale


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """The address of a server."""

    host: str
    port: int
    is_secure: bool
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> "ServerUrl":
        """Read a URL. Without TLS, it has to name this machine: the token would be readable."""
        try:
            parts = urlsplit(text.strip())
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise ValidationError(f"{text!r} is not a URL.", field="server") from error
        if parts.scheme not in ("http", "https") or not host or parts.username or parts.query:
            raise ValidationError(
                f"{text!r} is not the address of a server. Use https://HOST or, on this machine, "
                "http://127.0.0.1:PORT.",
                field="server",
            )
        is_secure = parts.scheme == "https"
        if not is_secure and not is_this_machine(host):
            raise ValidationError(
                f"{host} is another machine, and http:// would send the token unencrypted. Use "
                "https://, for example behind a proxy that has a certificate.",
                field="server",
            )
        prefix = parts.path.rstrip("/")
        return cls(host, port or (443 if is_secure else 80), is_secure, prefix)

    @property
    def named(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = 443 if self.is_secure else 80
        return host if self.port == usual else f"{host}:{self.port}"

    def __str__(self) -> str:
        """The URL."""
        return f"http{'s' if self.is_secure else ''}://{self.named}{self.prefix}"


def is_this_machine(host: str) -> bool:
    """Whether a name always means this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A response with its body. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def retry_after(self) -> float:
        """The seconds that the server asks to wait; 0 if it doesn't say."""
        told = self.headers.get("retry-after", "")
        return float(told) if told.isdecimal() and len(told) < 5 else 0.0


class HttpConnection:
    """One connection to a server, made when it is needed and used again while it lasts."""

    def __init__(self, url: ServerUrl, token: str, ca_file: Path | None = None) -> None:
        self._url = url
        self._token = token
        self._tls = tls_context(ca_file) if url.is_secure else None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def another(self) -> "HttpConnection":
        """A second connection to the same server, with the same certificates in memory."""
        made = copy(self)
        made._streams = None
        return made

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> HttpReply:
        """Send a request and read the whole response; HttpFailed if none comes."""
        parts: list[bytes] = []
        size = 0
        async with contextlib.aclosing(self.stream(path, body, headers)) as stream:
            reply = await anext(stream)
            assert isinstance(reply, HttpReply)
            async for part in stream:
                assert isinstance(part, bytes)
                size += len(part)
                if size > LARGEST_REPLY:
                    raise HttpFailed("the response is too large")
                parts.append(part)
        return HttpReply(reply.status, reply.headers, b"".join(parts))

    async def stream(
        self,
        path: str,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        silence: float = REPLY_WITHIN,
    ) -> AsyncGenerator[HttpReply | bytes]:
        """Send a request; yields the head of the response, then its body in parts.

        silence: after so many seconds without a part, the connection counts as lost.
        """
        is_complete, is_stale = False, self._streams is not None
        try:
            reader, writer = await self._connected()
            await _write(writer, self._head(path, len(body), headers or {}) + body, silence)
            async with asyncio.timeout(silence):
                reply = await _read_head(reader)
            yield reply
            async with contextlib.aclosing(_body(reader, reply, silence)) as parts:
                async for part in parts:
                    yield part
            is_complete = reply.headers.get("connection", "").lower() != "close"
        except TimeoutError as error:
            raise HttpFailed("the server doesn't respond", is_stale=is_stale) from error
        except _CLOSED as error:
            raise HttpFailed(self._reason(error), is_stale=is_stale) from error
        finally:
            if not is_complete:
                self.close()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            url = self._url
            async with asyncio.timeout(CONNECT_WITHIN):
                self._streams = await asyncio.open_connection(
                    url.host, url.port, ssl=self._tls, limit=_LONGEST_HEAD
                )
            if not url.is_secure:
                self._check_address(self._streams[1].get_extra_info("peername")[0])
        return self._streams

    def _check_address(self, address: str) -> None:
        """Not every system knows that names in `.localhost` mean this machine."""
        if not is_this_machine(address):
            raise HttpFailed(
                f"{self._url.host} is {address}, another machine, and http:// would send the token "
                "unencrypted. Use https://"
            )

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, ssl.SSLError):
            return tls_problem(error, self._url.host, self._url.port)
        if isinstance(error, OSError):
            return error.strerror or str(error)
        return "the connection was closed"

    def _head(self, path: str, length: int, headers: Mapping[str, str]) -> bytes:
        lines = [
            f"POST {self._url.prefix}{path} HTTP/1.1",
            f"Host: {self._url.named}",
            f"Content-Length: {length}",
        ]
        if self._token:
            lines.append(f"Authorization: Bearer {self._token}")
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def close(self) -> None:
        """Close the connection; the next request makes another one."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


async def _write(writer: asyncio.StreamWriter, data: bytes, silence: float) -> None:
    """Send it in parts: a large batch takes longer than a server may be silent."""
    for place in range(0, len(data), _PART):
        writer.write(data[place : place + _PART])
        async with asyncio.timeout(silence):
            await writer.drain()


async def _read_head(reader: asyncio.StreamReader) -> HttpReply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not rest[:3].isdecimal():
        raise HttpFailed("the response is not HTTP")
    pairs = (line.partition(":") for line in lines)
    return HttpReply(int(rest[:3]), {name.strip().lower(): told.strip() for name, _, told in pairs})


async def _body(
    reader: asyncio.StreamReader, reply: HttpReply, silence: float
) -> AsyncGenerator[bytes]:
    if reply.status in _NO_BODY:
        return
    if reply.headers.get("transfer-encoding", "").lower().endswith("chunked"):
        while size := await _chunk_size(reader, silence):
            async for part in _exactly(reader, size, silence):
                yield part
            await _line(reader, silence)
        await _line(reader, silence)
        return
    length = reply.headers.get("content-length", "")
    if not length.isdecimal():
        raise HttpFailed("the response has no length")
    async for part in _exactly(reader, int(length), silence):
        yield part


async def _line(reader: asyncio.StreamReader, silence: float) -> bytes:
    async with asyncio.timeout(silence):
        return await reader.readuntil(b"\r\n")


async def _chunk_size(reader: asyncio.StreamReader, silence: float) -> int:
    line = await _line(reader, silence)
    if len(line) > _LONGEST_LINE:
        raise HttpFailed("the response is not HTTP")
    try:
        return int(line.partition(b";")[0], 16)
    except ValueError as error:
        raise HttpFailed("the response is not HTTP") from error


async def _exactly(
    reader: asyncio.StreamReader, size: int, silence: float
) -> AsyncGenerator[bytes]:
    while size:
        async with asyncio.timeout(silence):
            part = await reader.read(min(size, _PART))
        if not part:
            raise HttpFailed("the connection was closed")
        size -= len(part)
        yield part
