"""Track what an agent's output does to a terminal, as far as we need to know.

That is: whether we can write between two bytes without breaking an escape sequence, and which modes
are left on when the agent dies.
"""

import re
from typing import Final

_CONTROL: Final = re.compile(
    rb"\x1b\[\?(?P<modes>[0-9;]{1,64})(?P<set>[hl])"
    rb"|\x1b\[(?P<keyboard>[><])(?P<flags>[0-9;]{0,16})u"
    rb"|\x1b\[>4(?:;(?P<keys>[0-9]{1,16}))?m"
)
_ESC, _BEL, _CAN, _SUB = 0x1B, 0x07, 0x18, 0x1A
_CURSOR: Final = b"25"
_TOGETHER: Final = b"2026"
"""The mode in which a terminal shows nothing until a frame is complete."""
_SCREENS: Final = frozenset({b"47", b"1047", b"1048", b"1049", _TOGETHER})
_LONGEST: Final = 80
_MOST_MODES: Final = 64
_LONGEST_MODE: Final = 5
_MOST_KEYBOARDS: Final = 16


class TerminalOutput:
    """The bytes written to a terminal so far."""

    def __init__(self) -> None:
        self._state = "ground"
        self._more = 0
        self._tail = b""
        self._on: set[bytes] = set()
        self._hidden = False
        self._keyboards: list[bytes] = []
        self._keys: bytes | None = None

    @property
    def can_be_broken(self) -> bool:
        """Whether other sequences may be inserted here."""
        return self._state == "ground" and self._more == 0 and _TOGETHER not in self._on

    def feed(self, data: bytes) -> None:
        """Track the bytes that are written."""
        for byte in data:
            self._step(byte)
        # A sequence may span two pieces.
        joined = self._tail + data
        end = 0
        for found in _CONTROL.finditer(joined):
            self._note(found)
            end = found.end()
        self._tail = joined[max(end, len(joined) - _LONGEST) :]

    def undoing(self) -> bytes:
        """The bytes that restore the terminal after an agent that didn't."""
        undone = b"".join(b"\x1b[?%bl" % mode for mode in sorted(self._on))
        if self._hidden:
            undone += b"\x1b[?25h"
        undone += b"\x1b[<u" * len(self._keyboards)
        if self._keys is not None:
            undone += b"\x1b[>4m"
        return undone + (b"\x1b[0m" if undone else b"")

    def doing(self) -> bytes:
        """The bytes that bring another terminal into the same modes, besides the screen in use."""
        done = b"".join(b"\x1b[?%bh" % mode for mode in sorted(self._on - _SCREENS))
        if self._hidden:
            done += b"\x1b[?25l"
        done += b"".join(b"\x1b[>%bu" % flags for flags in self._keyboards)
        return done if self._keys is None else done + b"\x1b[>4;%bm" % self._keys

    def _note(self, found: re.Match[bytes]) -> None:
        if found["modes"] is not None:
            for mode in found["modes"].split(b";"):
                self._set(mode, found["set"] == b"h")
        elif found["keyboard"] is not None:
            self._note_keyboard(found["keyboard"], found["flags"])
        else:
            self._keys = None if found["keys"] in (None, b"0") else found["keys"]

    def _note_keyboard(self, change: bytes, flags: bytes) -> None:
        if change == b">":
            self._keyboards = [*self._keyboards, flags][-_MOST_KEYBOARDS:]
        else:
            count = int(flags) if flags.isdigit() else 1
            self._keyboards = self._keyboards[: -max(1, count)]

    def _set(self, mode: bytes, on: bool) -> None:
        if mode == _CURSOR:
            self._hidden = not on
        elif on:
            if len(mode) <= _LONGEST_MODE and len(self._on) < _MOST_MODES:
                self._on.add(mode)
        else:
            self._on.discard(mode)

    def _step(self, byte: int) -> None:
        if byte in (_CAN, _SUB):
            self._state, self._more = "ground", 0
        elif byte == _ESC:
            self._state = "escape"
        elif self._state == "ground":
            self._more = _following(byte, self._more)
        elif self._state == "escape":
            self._state = _after_escape(byte)
        elif (self._state == "sequence" and 0x40 <= byte <= 0x7E) or (
            self._state == "string" and byte == _BEL
        ):
            self._state = "ground"


def _after_escape(byte: int) -> str:
    if byte == 0x5B:
        return "sequence"
    if byte in b"]PX^_":
        return "string"
    # ESC ( B and the like have one more byte; ESC \ ends a string.
    return "escape" if 0x20 <= byte <= 0x2F else "ground"


def _following(byte: int, more: int) -> int:
    """How many bytes of a character are still to come."""
    if more and 0x80 <= byte <= 0xBF:
        return more - 1
    if byte >= 0xF0:
        return 3
    if byte >= 0xE0:
        return 2
    return 1 if byte >= 0xC0 else 0
