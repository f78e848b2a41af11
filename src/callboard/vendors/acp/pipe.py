"""The messages of an agent, one in each line, read within bounds whatever it prints."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from callboard.events.codec import MOST_VALUES, values_so_far
from callboard.events.envelope import Json
from callboard.events.json_values import as_text, is_list, is_object

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a message. A longer line is dropped."""
_DEEPEST: Final = 100
_PIECE: Final = 262_144
_SHOWN: Final = 200
_MOST_TOLD: Final = 5
_INTERNAL: Final = -32603


class AgentPipe:
    """Moves JSON-RPC messages: a `Transport` of the protocol's library.

    room: awaited before each message, so that an agent that says more than we can report waits.
    tell: called with what a person should know about what the agent printed.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        room: Callable[[], Awaitable[None]],
        tell: Callable[[str], None],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._room = room
        self._tell = tell
        self._arrived = bytearray()
        self._skips = False
        self._told = 0
        self._after: dict[int, Callable[[], None]] = {}
        self.ended = asyncio.Event()
        """Set once the agent has closed its output."""

    def after(self, result: object, act: Callable[[], None]) -> None:
        """Call something once this result has been sent."""
        self._after[id(result)] = act

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message, and wait until the agent's pipe has taken it."""
        act = self._after.pop(id(message.get("result")), None)
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()
        if act is not None:
            act()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None once the agent has closed its output."""
        while True:
            await self._room()
            line = await self._line()
            if line is None:
                self.ended.set()
                return None
            if (message := self._read(line)) is not None:
                return message

    async def close(self) -> None:
        """Close the agent's input, which asks it to end."""
        self._writer.close()

    async def _line(self) -> bytes | None:
        start = 0
        while (end := self._arrived.find(b"\n", start)) < 0:
            start = len(self._arrived)
            if start > LARGEST:
                if not self._skips:
                    self._complain(f"The agent sent more than {LARGEST >> 20} MB at once.")
                self._skips = True
                self._arrived.clear()
                start = 0
            try:
                piece = await self._reader.read(_PIECE)
            except OSError:
                piece = b""
            if not piece:
                return None
            self._arrived += piece
        line = bytes(self._arrived[:end])
        del self._arrived[: end + 1]
        skipped, self._skips = self._skips, False
        return b"" if skipped else line

    def _read(self, line: bytes) -> dict[str, Any] | None:
        if not line.strip():
            return None
        # A few bytes of JSON can become a hundred in memory, and depth is hard on all who read it.
        if any(count > MOST_VALUES for count in values_so_far(line)):
            self._complain(f"The agent sent a message of more than {MOST_VALUES:,} values.")
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if _is_deep(message):
            self._complain(f"The agent sent a message of more than {_DEEPEST} levels.")
            return None
        if not is_object(message) or not _can_be_handled(message):
            said = line[:_SHOWN].decode("utf-8", "replace").strip()
            self._complain(f"The agent printed something that is not a message: {said}")
            return None
        return _with_error(message)

    def _complain(self, text: str) -> None:
        self._told += 1
        if self._told <= _MOST_TOLD:
            self._tell(text)


def _is_deep(message: Json) -> bool:
    level = [message]
    for _ in range(_DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: Json) -> Iterable[Json]:
    if is_object(value):
        return value.values()
    return value if is_list(value) else ()


def _can_be_handled(message: dict[str, object]) -> bool:
    """Whether the library can take it: it trusts the types of what it looks at."""
    method, id = message.get("method"), message.get("id")
    is_known = id is None or (isinstance(id, int | str) and not isinstance(id, bool))
    return is_known and (isinstance(method, str) or (method is None and "id" in message))


def _with_error(message: dict[str, object]) -> dict[str, object]:
    if "error" not in message or message.get("method") is not None or "result" in message:
        return message
    error = message["error"]
    told = error if is_object(error) else {"message": as_text(error)}
    code = told.get("code")
    known = code if isinstance(code, int) else _INTERNAL
    said = as_text(told.get("message")) or "The agent reported an error."
    return {**message, "error": {"code": known, "message": said, "data": told.get("data")}}
