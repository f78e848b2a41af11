"""Just enough HTTP for a hook: one request, one response."""

import _socket
import time

from callboard.disk.files import CLOEXEC, NOFOLLOW, NONBLOCK, posix

LARGEST_ANSWER = 16 * 1024 * 1024
CONNECT_WITHIN = 0.25
LOOK_EVERY = 0.5
"""How many seconds pass before checking again whether the response is still needed."""

_LONGEST_HEAD = 65_536
_LONGEST_LINE = 1024
_LEAST = 0.001
_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""A server that listens on all addresses is reached under these, and accepts them as its host."""
_FOREIGN = 0o022
"""A file that others can write to can't be trusted."""


class Refused(Exception):
    """The server responded with an error."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Timeouts:
    """A time limit."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds left; TimeoutError if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class ServerAddress:
    """The server's address, and the token that lets a hook report to it."""

    __slots__ = ("host", "port", "token")

    def __init__(self, host: str, port: int, token: str) -> None:
        self.host = host
        self.port = port
        self.token = token

    def head(self, path: str, length: int) -> bytes:
        """The start of a request."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (
            f"POST {path} HTTP/1.1\r\nHost: {host}:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {length}\r\nConnection: close\r\n\r\n"
        ).encode()


def read_connection(folder: str) -> ServerAddress | None:
    """The server's address from its file; None if there is no such file, or it isn't ours."""
    flags = posix.O_RDONLY | CLOEXEC | NONBLOCK | NOFOLLOW
    try:
        file = posix.open(folder + "/connection", flags)
    except OSError:
        return None
    try:
        found = posix.fstat(file)
        if found.st_uid != posix.geteuid() or found.st_mode & _FOREIGN:
            return None
        lines = posix.read(file, 4096).decode("ascii", "replace").split("\n")
    except OSError:
        return None
    finally:
        posix.close(file)
    host, _, port = lines[0].strip().rpartition(":")
    token = lines[1].strip() if len(lines) > 1 else ""
    if not (host and port.isdigit() and (host + token).isprintable()):
        return None
    host = host.strip("[]")
    return ServerAddress(_HERE.get(host, host), int(port), token)


def ask(to: ServerAddress, path: str, body: bytes, patience: Timeouts) -> bytes:
    """Send a request; returns the body of the response. Raises OSError, ValueError or Refused."""
    socket = _socket.socket(_socket.AF_INET6 if ":" in to.host else _socket.AF_INET)
    try:
        socket.settimeout(max(_LEAST, min(CONNECT_WITHIN, patience.left())))
        try:
            socket.connect((to.host, to.port))
        except OverflowError as error:
            raise ValueError("no port") from error
        socket.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        socket.settimeout(max(_LEAST, patience.left()))
        socket.sendall(to.head(path, len(body)) + body)
        return _answer(_Reader(socket, patience))
    finally:
        socket.close()


def _answer(reader: "_Reader") -> bytes:
    first, *lines = reader.until(b"\r\n\r\n", _LONGEST_HEAD).split(b"\r\n")
    version, _, rest = first.partition(b" ")
    status = rest[:3]
    if not version.startswith(b"HTTP/1.") or not status.isdigit():
        raise ValueError("not an HTTP response")
    if not status.startswith(b"2"):
        raise Refused(int(status))
    pairs = [line.lower().partition(b":") for line in lines]
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    if fields.get(b"transfer-encoding", b"").endswith(b"chunked"):
        return reader.chunks()
    length = fields.get(b"content-length")
    return reader.rest() if length is None else reader.exactly(int(length))


class _Reader:
    """Reads from a socket, piece by piece."""

    def __init__(self, socket: _socket.socket, patience: Timeouts) -> None:
        self._socket = socket
        self._patience = patience
        self._got = bytearray()

    def until(self, end: bytes, most: int) -> bytes:
        while (at := self._got.find(end)) < 0:
            if len(self._got) > most:
                raise ValueError("too long")
            self._more()
        found = bytes(self._got[:at])
        del self._got[: at + len(end)]
        return found

    def exactly(self, size: int) -> bytes:
        if not 0 <= size <= LARGEST_ANSWER:
            raise ValueError("too large")
        while len(self._got) < size:
            self._more()
        found = bytes(self._got[:size])
        del self._got[:size]
        return found

    def chunks(self) -> bytes:
        found = bytearray()
        while size := int(self.until(b"\r\n", _LONGEST_LINE).partition(b";")[0], 16):
            found += self.exactly(size)
            self.exactly(2)
            if len(found) > LARGEST_ANSWER:
                raise ValueError("too large")
        return bytes(found)

    def rest(self) -> bytes:
        try:
            while len(self._got) <= LARGEST_ANSWER:
                self._more()
        except ConnectionError:
            return bytes(self._got)
        raise ValueError("too large")

    def _more(self) -> None:
        while True:
            self._socket.settimeout(min(self._patience.left(), LOOK_EVERY))
            try:
                got = self._socket.recv(65_536)
            except TimeoutError:
                continue
            if not got:
                raise ConnectionResetError
            self._got += got
            return
