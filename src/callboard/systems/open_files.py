"""The files that this process has open, by their descriptors. On systems without /proc, none.

Apart from `linux.py`, because every log uses it, and has to load quickly.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_OPEN: Final = Path("/proc/self/fd")


class OpenFile(NamedTuple):
    """An open file: where it is now, and a path that other processes can copy it from."""

    target: str
    stat: os.stat_result
    copied_from: str


def open_files() -> Iterator[OpenFile]:
    """All files that are open here, as far as the system tells."""
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
    """A short path to a file in an open folder, where its full path would be too long."""
    return f"{_OPEN}/{folder}/{name}"
