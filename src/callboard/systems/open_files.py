"""The files that this process has open, by descriptor. Empty on systems without /proc.

Not in `linux.py`, because every log uses this, and it has to load fast.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_OPEN: Final = Path("/proc/self/fd")


class OpenFile(NamedTuple):
    """An open file: its current path, and a path that other processes can copy it from."""

    target: str
    stat: os.stat_result
    copied_from: str


def open_files() -> Iterator[OpenFile]:
    """All open files of this process, as far as the system shows them."""
    try:
        numbers = [one.name for one in _OPEN.iterdir()]
    except OSError:
        return
    for number in numbers:
        link = _OPEN / number
        try:
            yield OpenFile(str(link.readlink()), link.stat(), f"/proc/{os.getpid()}/fd/{number}")
        except OSError:
            continue


def short_path(folder: int, name: str) -> str:
    """A short path to a file in an open folder, for when its full path would be too long."""
    return f"{_OPEN}/{folder}/{name}"
