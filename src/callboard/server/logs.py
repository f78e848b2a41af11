"""The server's log output: JSON lines for programs, short lines for a terminal.

Everything uses standard library logging, so a workflow's own messages look the same. Tokens and
codes are never logged: a request's query and headers are left out, and anything in a message that
looks like a secret is removed.
"""

import io
import logging
import os
import re
import select
import sys
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal, TextIO

import orjson

from callboard.display.lines import visible
from callboard.events.moments import from_ms, iso
from callboard.server.access.audit import writable
from callboard.server.request_metrics import NO_STATUS, ServedRequest

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer
    from rich.text import Text

Format = Literal["json", "text"]

_requests = logging.getLogger("callboard.requests")

# A last safeguard: no secret should get this far. Our tokens start with cb_; others are recognized
# by the text before them.
_SECRETS = re.compile(
    r"\bcb_[\w-]{8,}"
    r"|(?<=bearer )[^\s\"',]+"
    r"|(?<=[?&]code=)[^\s\"'&]+"
    r"|(?<=[?&]token=)[^\s\"'&]+"
    r"|(?<=callboard=)[^\s\"';]+",
    re.IGNORECASE,
)
_HINTS = ("cb_", "bearer ", "code=", "token=", "callboard=")
_REFUSED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)
_COLOURS = {"DEBUG": "dim", "INFO": "", "WARNING": "yellow", "ERROR": "bold red"}
_OFTEN = "/health"
_AT_ONCE: Final = 4096
"""A pipe that can be written to takes this many bytes without waiting (POSIX: at least 512)."""
_MOST_UNREAD: Final = 1_000_000
"""Bytes of log that wait for a reader; later messages are dropped, and counted."""


def install(wanted: Format | None = None, stream: TextIO | None = None) -> None:
    """Send all logs to standard error, replacing any earlier setup."""
    out = stream or sys.stderr
    if wanted is None:
        wanted = "text" if out.isatty() else "json"
    out = unblocked(out, _json_notice if wanted == "json" else _short_notice)
    handler = JsonLogLines(out) if wanted == "json" else ShortLines(out)
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for chatty in ("httpx", "httpcore", "asyncio", "procrastinate", "temporalio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    # The audit has its own file, and every command is in the request log.
    logging.getLogger("callboard.audit").setLevel(logging.WARNING)


def served(request: ServedRequest) -> None:
    """Log a finished request. Health checks are logged only if they fail."""
    often = request.route == _OFTEN and request.status == HTTPStatus.OK
    level = logging.DEBUG if often else _level(request.status)
    if not _requests.isEnabledFor(level):
        return
    fields = {
        "method": request.method,
        "path": request.path,
        "status": request.status,
        "ms": round(request.took * 1000, 1),
        "who": request.who,
    }
    status = "left" if request.status == NO_STATUS else str(request.status)
    who = f" {request.who}" if request.who else ""
    # Not `log`, which would look up the calling line, hundreds of times a second.
    told = (request.method, request.path, status, fields["ms"], who)
    record = _requests.makeRecord(
        _requests.name, level, "", 0, "%s %s %s %s ms%s", told, None, extra={"fields": fields}
    )
    _requests.handle(record)


def _level(status: int) -> int:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return logging.ERROR
    return logging.WARNING if status in _REFUSED else logging.INFO


def without_secrets(text: str) -> str:
    """The text without anything that looks like a token or a code."""
    # Few lines contain one, and searching for a few words is faster than matching the pattern.
    lowered = text.lower()
    if not any(hint in lowered for hint in _HINTS):
        return text
    return _SECRETS.sub("[secret]", text)


def _short_notice(dropped: int) -> str:
    return f"{dropped} messages were dropped, because nothing read them."


def _json_notice(dropped: int) -> str:
    line = {"level": "warning", "logger": __name__, "message": _short_notice(dropped)}
    return orjson.dumps(line).decode()


def unblocked(stream: TextIO, notice: Callable[[int], str] = _short_notice) -> TextIO:
    """The stream, such that writing to it never waits for its reader.

    Otherwise a server stops when someone presses Ctrl-S in its terminal, or scrolls in a pager.

    notice: the line to write after so many messages were dropped.
    """
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return stream  # It is in memory.
    if not hasattr(select, "poll"):
        return stream
    output = UnblockedOutput(number, stream.isatty(), notice)
    return io.TextIOWrapper(output, stream.encoding, "backslashreplace", write_through=True)


class UnblockedOutput(io.RawIOBase):
    """A terminal, a pipe or a file. What it doesn't take now is written later."""

    def __init__(self, number: int, is_terminal: bool, notice: Callable[[int], str]) -> None:
        super().__init__()
        self._number, self._is_terminal, self._notice = number, is_terminal, notice
        self._poll = select.poll()
        self._poll.register(number, select.POLLOUT)
        self._waiting: deque[bytes] = deque()
        self._size = self._dropped = 0

    @property
    def name(self) -> int:
        """The file descriptor."""
        return self._number

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._is_terminal

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: "Buffer", /) -> int:
        """Write as much as the reader takes now, and keep the rest."""
        told = bytes(data)
        self._drain()
        if self._size > _MOST_UNREAD:
            self._dropped += 1
            return len(told)
        notice = f"{self._notice(self._dropped)}\n".encode() if self._dropped else b""
        self._dropped = 0
        whole = notice + told
        self._waiting.extend(whole[at : at + _AT_ONCE] for at in range(0, len(whole), _AT_ONCE))
        self._size += len(whole)
        self._drain()
        return len(told)

    def _drain(self) -> None:
        while self._waiting and self._poll.poll(0):
            part = self._waiting.popleft()
            written = os.write(self._number, part)
            self._size -= written
            if written < len(part):
                self._waiting.appendleft(part[written:])


class JsonLogLines(logging.StreamHandler[TextIO]):
    """One JSON object per line: time, level, logger, message, and the fields of a request."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        fields: dict[str, object] = getattr(record, "fields", {})
        line: dict[str, object] = {
            "time": iso(from_ms(int(record.created * 1000))),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": writable(record.getMessage()),
            **fields,
        }
        if record.exc_info:
            line["error"] = writable(_FORMATTER.formatException(record.exc_info))
        text = orjson.dumps(line, default=str).decode()
        return without_secrets(text)


class ShortLines(logging.StreamHandler[TextIO]):
    """The time, the level if it matters, and the message, in color if the terminal wants it."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        from rich.console import Console  # Not for JSON, which most servers write.

        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record. Output that can't be printed is ignored."""
        try:
            self._console.print(self._line(record), soft_wrap=True)
        except Exception:
            self.handleError(record)

    def _line(self, record: logging.LogRecord) -> "Text":
        from rich.text import Text

        text = Text()
        text.append(f"{_FORMATTER.formatTime(record, '%H:%M:%S')} ", "dim")
        if record.levelno != logging.INFO:
            text.append(f"{record.levelname.lower()} ", _COLOURS.get(record.levelname, ""))
        message = visible(without_secrets(record.getMessage()), keep="\t")
        text.append(message, _COLOURS.get(record.levelname, ""))
        if record.exc_info:
            trace = without_secrets(_FORMATTER.formatException(record.exc_info))
            text.append(f"\n{visible(trace)}", "dim")
        return text


_FORMATTER = logging.Formatter()
