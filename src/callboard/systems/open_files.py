"""Open files and folders as paths: where an open file is now, and a short path to an open folder.

Not in `linux.py`, because every log uses this, and it has to load fast. Without /proc, no files are
found, and a link stands for the folder.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_OPEN: Final = Path("/proc/self/fd")
_LENGTH: Final = 16


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


def short_folder(folder: Path, opened: int) -> str:
    """A short path to an open folder, for the address of a socket: macOS has 104 bytes for it.

    Where the system doesn't show open files as paths, it is a link in the folder for temporary
    files, the same for all processes of a user. OSError if someone else has taken its name.
    """
    shown = _OPEN / str(opened)
    return str(shown if shown.is_dir() else _link(folder))


def _link(folder: Path) -> Path:
    import hashlib  # Both are slow to import, and rarely needed.
    import tempfile

    target = os.path.realpath(folder)
    named = f"{os.geteuid()}:{target}".encode("utf-8", "surrogateescape")
    link = Path(tempfile.gettempdir()) / f"cb-{hashlib.sha256(named).hexdigest()[:_LENGTH]}"
    try:
        link.symlink_to(target)
    except FileExistsError:
        # Others may write to that folder: their link would lead to their sockets.
        found = link.lstat()
        is_ours = stat.S_ISLNK(found.st_mode) and found.st_uid == os.geteuid()
        if not is_ours or str(link.readlink()) != target:
            raise OSError(errno.EPERM, "it belongs to someone else", str(link)) from None
    return link
