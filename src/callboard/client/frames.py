"""Parses server-sent events: bytes in, frames out, however the bytes are split."""

import re
from typing import Final, NamedTuple

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """One message. `id` is the last one sent, with this frame or before it."""

    data: str
    id: str | None = None
    event: str = "message"


class FrameParser:
    """Takes bytes as they arrive and returns the frames that they complete.

    An empty line completes a frame; one that is cut off before that is never returned.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        """The id to reconnect with; a frame without data can set it too."""
        self._pieces: list[bytes] = []
        self._after_return = False
        self._begun = False
        self._data: list[str] = []
        self._event = ""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that end in these bytes."""
        if self._after_return and data:
            # The line already ended with the previous bytes; this is the second half of its CRLF.
            self._after_return = False
            data = data.removeprefix(b"\n")
        *lines, rest = _LINE_END.split(data)
        if not lines:
            self._pieces.append(rest)
            return []
        self._after_return = data.endswith(b"\r")
        lines[0] = b"".join([*self._pieces, lines[0]])
        self._pieces = [rest]
        return [frame for line in lines if (frame := self._line(line)) is not None]

    def _line(self, line: bytes) -> Frame | None:
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._finish()
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self.last_id = value
        return None

    def _finish(self) -> Frame | None:
        data, event = self._data, self._event or "message"
        self._data, self._event = [], ""
        return Frame("\n".join(data), self.last_id, event) if data else None
