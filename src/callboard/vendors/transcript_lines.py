"""The lines of a transcript, forwards and backwards, in slices, with cursors that detect rewriting.

A transcript can have any size, and so can a line of it: of a long line, only its start is read.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from io import FileIO
from typing import Final, Self

from callboard.disk.private import open_own
from callboard.errors import TranscriptUnreadable, ValidationError
from callboard.vendors.partial_json import HEAD

LONGEST_LINE: Final = 2 * 1024 * 1024
"""A line with more bytes is not read as a whole."""
_LONGEST_SEARCH: Final = 512 * 1024 * 1024
"""How far to look for the end of a line before a file counts as unreadable."""
_SLICE: Final = 256 * 1024
_WITNESS: Final = 256
"""How many bytes at the start and before a cursor show whether a file was rewritten."""


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A line, from `start` to `end`. data: all of it if `is_whole`, else its first bytes."""

    start: int
    end: int
    data: bytes
    is_whole: bool = True


class TranscriptLines:
    """A transcript that is open for reading. TranscriptUnreadable if it isn't ours to read."""

    def __init__(self, path: str) -> None:
        try:
            self._file = FileIO(open_own(path))
        except (OSError, ValueError) as error:
            raise _unreadable(path, error) from error
        self._path = path
        found = os.fstat(self._file.fileno())
        self._size, self._inode = found.st_size, found.st_ino

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def end(self) -> int:
        """Where the last complete line ends. What follows it is still being written."""
        at = self._size
        while at > 0:
            self._check_near(self._size, at)
            size = min(_SLICE, at)
            at -= size
            found = self._read(at, size).rfind(b"\n")
            if found >= 0:
                return at + found + 1
        return 0

    def before(self, end: int) -> Iterator[TranscriptLine]:
        """The lines up to `end`, newest first."""
        at, pieces = end, list[bytes]()
        while at > 0:
            self._check_near(end, at)
            size = min(_SLICE, at)
            at -= size
            data = self._read(at, size)
            if len(data) < size:  # The file became shorter.
                return
            stop = min(size, end - at)
            # The last byte of a line is its own end, not that of the line before it.
            while (found := data.rfind(b"\n", 0, max(0, min(stop, end - 1 - at)))) >= 0:
                start = at + found + 1
                yield self._line(start, end, [data[found + 1 : stop], *reversed(pieces)])
                end, stop = start, found + 1
                pieces.clear()
            _keep(pieces, data[:stop], end - at)
        if end > 0:
            yield self._line(0, end, list(reversed(pieces)))

    def after(self, start: int) -> Iterator[TranscriptLine]:
        """The complete lines from `start` on."""
        at, pieces = start, list[bytes]()
        while data := self._read(at, _SLICE):
            self._check_near(at, start)
            read = 0
            while (found := data.find(b"\n", read)) >= 0:
                end = at + found + 1
                yield self._line(start, end, [*pieces, data[read : found + 1]])
                start, read = end, found + 1
                pieces.clear()
            at += len(data)
            _keep(pieces, data[read:], at - start)

    def whole(self, line: TranscriptLine, largest: int) -> bytes | None:
        """All of a line; None if it is larger than this."""
        if line.is_whole:
            return line.data
        size = line.end - line.start
        return None if size > largest else self._read(line.start, size)

    def cursor(self, offset: int) -> str:
        """An offset, with what shows whether the file before it is still the same."""
        return f"{offset:x}.{self._inode:x}.{self._witness(offset)}"

    def offset(self, cursor: str) -> int | None:
        """Where a cursor points; None if the file was rewritten since."""
        try:
            offset, inode, witness = cursor.split(".")
            at, number = int(offset, 16), int(inode, 16)
        except ValueError:
            raise ValidationError(
                f"Not a cursor of a conversation: {cursor[:80]!r}. Read the conversation again "
                "from its end."
            ) from None
        if number != self._inode or not 0 <= at <= self._size or witness != self._witness(at):
            return None
        return at

    def _witness(self, offset: int) -> str:
        start = max(0, offset - _WITNESS)
        seen = self._read(0, min(offset, _WITNESS)) + self._read(start, offset - start)
        return blake2b(seen, digest_size=8).hexdigest()

    def _line(self, start: int, end: int, pieces: Sequence[bytes]) -> TranscriptLine:
        if end - start > LONGEST_LINE:
            return TranscriptLine(start, end, self._read(start, HEAD), is_whole=False)
        return TranscriptLine(start, end, b"".join(pieces))

    def _read(self, start: int, size: int) -> bytes:
        parts = list[bytes]()
        try:
            self._file.seek(start)
            while size > 0 and (part := self._file.read(size)):
                parts.append(part)
                size -= len(part)
        except OSError as error:
            raise _unreadable(self._path, error) from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _check_near(self, one: int, other: int) -> None:
        if one - other > _LONGEST_SEARCH:
            raise TranscriptUnreadable(f"A line of {self._path} is too long to be read.")


def _keep(pieces: list[bytes], piece: bytes, length: int) -> None:
    """Remember a part of a line, unless the line is too long to be read as a whole."""
    if length > LONGEST_LINE:
        pieces.clear()
    elif piece:
        pieces.append(piece)


def _unreadable(path: str, error: Exception) -> TranscriptUnreadable:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    # A client creates it with its first prompt, and may remove old ones.
    later = " It may appear with the next prompt." if isinstance(error, FileNotFoundError) else ""
    return TranscriptUnreadable(f"The conversation in {path} can't be read: {reason}.{later}")
