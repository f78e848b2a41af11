"""Opens folders of a project so that no link leads out of it.

A repository can contain links: `.claude/state` could link to one of the user's own folders. Links
that stay within the project are followed; others are refused, unless the person who runs Callboard
allows them with CALLBOARD_FOLLOW_LINKS=1 (ADR 14).
"""

import contextlib
import errno
import os
from collections.abc import Sequence

from callboard.disk.files import CLOEXEC, DIRECTORY, NOFOLLOW, OPENS_FOLDERS

VARIABLE = "CALLBOARD_FOLLOW_LINKS"
"""Set to 1 by people who keep a project's folders elsewhere, behind links."""

_OPEN = os.O_RDONLY | DIRECTORY | CLOEXEC
_LINK = (errno.ELOOP, errno.ENOTDIR)


class LeadsOutside(OSError):
    """A link leads out of the project."""


def open_inside(root: str, parts: Sequence[str], *, make: bool = False) -> int:
    """Open a folder below `root`; returns its descriptor. LeadsOutside if it isn't in there.

    make: create missing folders, including the root.
    """
    if not OPENS_FOLDERS:
        raise OSError(errno.ENOTSUP, "status files need Linux or macOS", root)
    if make:
        os.makedirs(root, exist_ok=True)
    try:
        return _walk(root, parts, make)
    except OSError as error:
        if error.errno not in _LINK:
            raise
    inside = _resolved(root, parts)
    return _walk(os.path.realpath(root), inside, make)


def inside(root: str, path: str) -> list[str]:
    """The parts of a path below the root, with links resolved; LeadsOutside if it isn't below."""
    top, there = os.path.realpath(root), os.path.realpath(path)
    start = top if top.endswith("/") else f"{top}/"
    if there.startswith(start):
        return there[len(start) :].split("/")
    if there == top:
        return []
    if os.environ.get(VARIABLE) == "1":
        return [there]  # An absolute path overrides the folder that it is opened from.
    raise LeadsOutside(
        errno.EXDEV,
        f"it is a link to {there}, outside of the project {root}. A repository can contain such "
        f"a link, so Callboard does not write there. Remove the link, or allow it: {VARIABLE}=1",
        path,
    )


def _resolved(root: str, parts: Sequence[str]) -> list[str]:
    """The same folder with links resolved, as far as it exists."""
    found = [root, *parts]
    for length in range(len(found), 0, -1):
        path = "/".join(found[:length])
        if os.path.lexists(path):
            return [*inside(root, path), *found[length:]]
    return list(parts)


def _walk(root: str, parts: Sequence[str], make: bool) -> int:
    opened = os.open(root, _OPEN)
    try:
        for part in parts:
            below = _step(opened, part, make)
            os.close(opened)
            opened = below
    except BaseException:
        os.close(opened)
        raise
    return opened


def _step(folder: int, part: str, make: bool) -> int:
    try:
        return os.open(part, _OPEN | NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    # Another process may be faster, or this is a dangling link.
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, dir_fd=folder)
    return os.open(part, _OPEN | NOFOLLOW, dir_fd=folder)
