"""Reads what git prints for programs: changes, line counts, statuses, commits. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.errors import WorktreeUnreadable
from callboard.worktree.changes import CommitMade, FileStatus
from callboard.worktree.git import shown_path

SUBMODULE: Final = "160000"
NO_FILE: Final = "000000"
_STATUSES: Final[dict[str, FileStatus]] = {
    "A": "added",
    "C": "added",
    "D": "deleted",
    "M": "modified",
    "R": "renamed",
    "T": "type_changed",
    "U": "conflicted",
}


@dataclass(frozen=True, slots=True)
class RawChange:
    """A path that differs. mode, blob: on the old side. old_path: None unless it was renamed."""

    path: bytes
    old_path: bytes | None
    status: FileStatus
    mode: str
    new_mode: str
    blob: str

    @property
    def submodule(self) -> bool:
        """Whether it is another repository, of which only the commit counts."""
        return SUBMODULE in (self.mode, self.new_mode)


@dataclass(frozen=True, slots=True)
class LineCount:
    """Lines of a path. added, removed: None for a binary file."""

    path: bytes
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class FileState:
    """How a path differs from the last commit."""

    staged: bool
    unstaged: bool
    conflicted: bool


def changes_and_counts(records: Iterable[bytes]) -> Iterator[RawChange | LineCount]:
    """What `--raw --numstat -z` prints."""
    parts = iter(records)
    for record in parts:
        if record.startswith(b":"):
            yield _change(record, parts)
        elif record:
            yield _count(record, parts)


def _change(record: bytes, parts: Iterator[bytes]) -> RawChange:
    try:
        mode, new_mode, blob, _, status = record[1:].decode("ascii").split(" ")
        path = next(parts)
    except (ValueError, StopIteration) as error:
        raise _unknown(record) from error
    old_path = None
    if status[:1] in ("R", "C"):
        old_path, path = path, next(parts, b"")
    return RawChange(path, old_path, _STATUSES.get(status[:1], "modified"), mode, new_mode, blob)


def _count(record: bytes, parts: Iterator[bytes]) -> LineCount:
    added, _, rest = record.partition(b"\t")
    removed, _, path = rest.partition(b"\t")
    if not path:
        next(parts, b"")
        path = next(parts, b"")
    if added == b"-":
        return LineCount(path, None, None)
    if not (added.isdigit() and removed.isdigit()):
        raise _unknown(record)
    return LineCount(path, int(added), int(removed))


def file_states(records: Iterable[bytes]) -> Iterator[tuple[bytes, FileState]]:
    """What `status --porcelain=v2 -z --no-renames` prints."""
    for record in records:
        kind = record[:2]
        if kind == b"? ":
            yield record[2:].removesuffix(b"/"), FileState(False, True, False)
        fields = 8 if kind == b"1 " else 10 if kind == b"u " else 0
        parts = record.split(b" ", fields)
        if not fields or len(parts) <= fields:
            continue
        index, tree = parts[1][:1], parts[1][1:2]
        yield parts[fields], FileState(index != b".", tree != b".", kind == b"u ")


def attributes(records: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """What `check-attr -z` prints of one attribute: paths and values."""
    parts = iter(records)
    for path in parts:
        next(parts, b"")
        yield path, next(parts, b"")


COMMIT_FORMAT: Final = "%H%x1f%ct%x1f%an%x1f%s"


def commits(records: Iterable[bytes]) -> list[CommitMade]:
    """What `log -z` prints with `COMMIT_FORMAT`."""
    found: list[CommitMade] = []
    for record in records:
        parts = shown_path(record.strip(b"\n")).split("\x1f", 3)
        if len(parts) == 4 and parts[1].isdigit():
            id, at, author, subject = parts
            found.append(CommitMade(id, subject[:200], author[:100], int(at) * 1000))
    return found


def index_entries(entries: Iterable[tuple[str, str, bytes]]) -> bytes:
    """Input of `update-index -z --index-info`: modes, objects and paths."""
    return b"".join(f"{mode} {blob}\t".encode() + path + b"\0" for mode, blob, path in entries)


def path_list(paths: Sequence[bytes]) -> bytes:
    """Paths as git reads them with `-z`."""
    return b"".join(path + b"\0" for path in paths)


def _unknown(record: bytes) -> WorktreeUnreadable:
    shown = shown_path(record[:100])
    return WorktreeUnreadable(
        f"git printed something unexpected ({shown}). Update git on that machine."
    )
