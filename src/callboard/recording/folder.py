"""Recordings in a folder, as lines of JSON in files that people can read and commit.

A line is added at the end of a file while its lock is held, in one write, so that processes can
record at the same time and a crash leaves at most an unfinished last line, which counts as absent.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import NOFOLLOW, PRIVATE
from callboard.disk.locks import locked
from callboard.errors import RecordingInvalid
from callboard.events.envelope import Json
from callboard.recording.lines import RecordedCall, from_line
from callboard.recording.request import key_of

_START: Final = b'{"key":"'
_KEY_LENGTH: Final = 64
_TAKE: Final = b'","take":"'
_LONGEST_TAKE: Final = 64
_LARGEST_LINE: Final = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Line:
    """Where a recording is."""

    file: Path
    number: int
    start: int
    length: int
    take: str


class RecordingFolder:
    """The recordings of a folder. A file is read again once it has changed."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder)
        self._lines: dict[str, list[_Line]] = {}
        self._read: dict[Path, tuple[int, int, int]] = {}
        """Of each file: what identifies it, how much of it was read, and how many lines."""

    def find(self, request: Mapping[str, Json]) -> Sequence[RecordedCall]:
        """The recordings of this request, in order, of the newest take only."""
        self._look()
        lines = self._lines.get(key_of(request), [])
        found = [self._recording(one) for one in lines if one.take == lines[-1].take]
        return [one for one in found if one.request == request]

    def all(self) -> Iterator[RecordedCall]:
        """Every recording that counts, by file and line."""
        self._look()
        for lines in [*self._lines.values()]:
            for one in lines:
                if one.take == lines[-1].take:
                    yield self._recording(one)

    def add(self, recording: RecordedCall, *, unless_known: bool = False) -> bool:
        """Write a recording; returns whether it was.

        unless_known: not if another process has recorded the same request meanwhile.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / _file_name(recording)
        with locked(self.path / ".lock"):
            if unless_known and any(
                one.take != recording.take for one in self.find(recording.request)
            ):
                return False
            _append(file, recording.to_line())
        return True

    def _look(self) -> None:
        for file in sorted(self.path.glob("*.jsonl")) if self.path.is_dir() else ():
            told = file.stat()
            identity, size, lines = self._read.get(file, (told.st_ino, 0, 0))
            if identity != told.st_ino or told.st_size < size:
                self._forget(file)
                size = lines = 0
            if told.st_size > size:
                self._read[file] = self._index(file, told.st_ino, size, lines)

    def _forget(self, file: Path) -> None:
        for key, lines in [*self._lines.items()]:
            left = [one for one in lines if one.file != file]
            if left:
                self._lines[key] = left
            else:
                del self._lines[key]

    def _index(self, file: Path, identity: int, start: int, number: int) -> tuple[int, int, int]:
        with file.open("rb") as opened:
            opened.seek(start)
            for line in opened:
                if not line.endswith(b"\n"):
                    break  # It is being written, or its writer was killed.
                number += 1
                if line.strip():
                    key, take = _names(line, f"{file}:{number}")
                    place = _Line(file, number, start, len(line), take)
                    self._lines.setdefault(key, []).append(place)
                start += len(line)
        return identity, start, number

    def _recording(self, line: _Line) -> RecordedCall:
        if line.length > _LARGEST_LINE:
            raise RecordingInvalid(f"{line.file}:{line.number}: this recording is too large.")
        with line.file.open("rb") as opened:
            opened.seek(line.start)
            return from_line(opened.read(line.length), f"{line.file}:{line.number}")


def _file_name(recording: RecordedCall) -> str:
    """One file for each provider, so that a folder stays easy to look through."""
    provider = str(recording.request.get("provider", "")) or "unknown"
    return "".join(one if one.isalnum() or one in ".-" else "-" for one in provider) + ".jsonl"


def _names(line: bytes, where: str) -> tuple[str, str]:
    """The key and the take at the start of a line; parses all of it if it was reformatted."""
    middle = len(_START) + _KEY_LENGTH
    end = line.find(b'"', middle + len(_TAKE), middle + len(_TAKE) + _LONGEST_TAKE)
    if line.startswith(_START) and line[middle:].startswith(_TAKE) and end > 0:
        return line[len(_START) : middle].decode("ascii", "replace"), line[
            middle + len(_TAKE) : end
        ].decode("utf-8", "replace")
    recording = from_line(line, where)
    return recording.key, recording.take


def _append(file: Path, line: bytes) -> None:
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | NOFOLLOW, PRIVATE)
    try:
        size = os.fstat(opened).st_size
        if size and os.pread(opened, 1, size - 1) != b"\n":
            # A writer was killed in the middle of its line, which counts as absent.
            os.ftruncate(opened, _end_of_lines(opened, size))
        left = memoryview(line)
        while left:
            left = left[os.write(opened, left) :]
    finally:
        os.close(opened)


def _end_of_lines(opened: int, size: int) -> int:
    """Where the last complete line ends."""
    block = 1_048_576
    while size > 0:
        start = max(0, size - block)
        newline = os.pread(opened, size - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        size = start
    return 0
