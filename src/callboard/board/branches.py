"""The branch that a folder has checked out, read every second while an agent works there.

No hook reports a checkout, and an idle session calls no hooks.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from callboard.courier.letters import branch_in, git_head
from callboard.courier.processes import read_small
from callboard.vendors.fields import word

_SEARCH_AGAIN: Final = 10
"""How many looks until parent folders are searched again: a repository may be new."""

_Version = tuple[int, int, int]


@dataclass(slots=True)
class _Head:
    """What was read in a folder. file: what to check for changes; None if there is nothing."""

    file: bytes | None
    version: _Version | None
    branch: str | None
    looks: int = 0


class Branches:
    """Remembers what it read, so that looking at a folder costs one `stat`."""

    def __init__(self) -> None:
        self._known: dict[str, _Head] = {}

    def of(self, folder: str) -> str | None:
        """The branch, or the start of a commit id; None if there is no repository."""
        known = self._known.get(folder)
        if known is None or known.looks >= _SEARCH_AGAIN or _version(known.file) != known.version:
            known = self._known[folder] = _read(folder)
        known.looks += 1
        return known.branch

    def keep_only(self, folders: Collection[str]) -> None:
        """Forget all other folders: no one works there anymore."""
        for folder in self._known.keys() - folders:
            del self._known[folder]


def _read(folder: str) -> _Head:
    found = git_head(os.fsencode(folder)) if folder.startswith("/") else None
    if found is None:
        return _Head(None, None, None)
    file, content = found
    # In this order: a checkout in between is read twice, but never missed.
    version = _version(file)
    content = read_small(file) or content
    return _Head(file, version, word(branch_in(content).decode("utf-8", "replace")))


def _version(file: bytes | None) -> _Version | None:
    if file is None:
        return None
    try:
        found = os.stat(file)  # noqa: PTH116 - bytes, and for every plate each second
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
