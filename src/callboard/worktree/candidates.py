"""Which paths may differ from an index, found by looking at files and not into them."""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callboard.worktree.changes import FileStatus
from callboard.worktree.git import Git
from callboard.worktree.records import NO_FILE, SUBMODULE, RawChange, changes_and_counts
from callboard.worktree.workbench import LARGEST_FILE


@dataclass(frozen=True, slots=True)
class Candidate:
    """A path that may differ. mode, blob: in the index; none there if it is new.

    size: of the file that is there now; None if there is none, or it can't be read.
    stub: what stands for a file in a snapshot that is too large to be stored.
    """

    path: bytes
    status: FileStatus
    mode: str = NO_FILE
    blob: str = ""
    submodule: bool = False
    size: int | None = None
    stub: str | None = None

    @property
    def compares(self) -> bool:
        """Whether its content can be read and compared."""
        return not self.submodule and (self.status == "deleted" or self.size is not None)


def candidates(git: Git, root: str, paths: Sequence[str | bytes] = ()) -> Iterator[Candidate]:
    """Changed paths of the index, then new ones, in their order. paths: only these."""
    changed = ["diff-files", "--raw", "--no-renames", "--ignore-submodules=dirty", "-z", "--"]
    for one in changes_and_counts(git.records(*changed, *paths)):
        if isinstance(one, RawChange) and one.status != "conflicted":
            yield _changed(one, root)
    others = ["ls-files", "--others", "--exclude-standard", "-z", "--"]
    for path in git.records(*others, *paths):
        yield _new(path, root)


def _stub_of(found: os.stat_result) -> bytes:
    """What is stored of a file that is too large: enough to see whether it is still the same."""
    return b"Callboard has not stored this file: %d bytes, changed at %d.\n" % (
        found.st_size,
        found.st_mtime_ns,
    )


def blob_name(content: bytes, *, sha256: bool) -> str:
    """The name that git gives to a file's content."""
    whole = b"blob %d\0" % len(content) + content
    return hashlib.sha256(whole).hexdigest() if sha256 else hashlib.sha1(whole).hexdigest()


def _changed(one: RawChange, root: str) -> Candidate:
    size, stub = (None, None) if one.submodule else _measured(one.path, root)
    return Candidate(one.path, one.status, one.mode, one.blob, one.submodule, size, stub)


def _new(path: bytes, root: str) -> Candidate:
    if path.endswith(b"/"):  # A repository in this one, which git doesn't look into.
        return Candidate(path.removesuffix(b"/"), "added", mode=SUBMODULE, submodule=True)
    size, stub = _measured(path, root)
    return Candidate(path, "added", size=size, stub=stub)


def _measured(path: bytes, root: str) -> tuple[int | None, str | None]:
    """The size of a file that can be compared, or else what stands for it."""
    file = os.path.join(os.fsencode(root), path)  # noqa: PTH118 - bytes
    try:
        found = os.lstat(file)
    except OSError:
        return None, None
    if stat.S_ISLNK(found.st_mode):
        return found.st_size, None
    if not stat.S_ISREG(found.st_mode):
        return None, None
    if found.st_size > LARGEST_FILE:
        return None, _stub_of(found).decode()
    return (found.st_size, None) if os.access(file, os.R_OK) else (None, None)
