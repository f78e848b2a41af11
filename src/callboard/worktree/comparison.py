"""Compares a working tree with a commit or with a snapshot of it."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from callboard.worktree.candidates import Candidate, blob_name, candidates
from callboard.worktree.changes import MOST_FILES, ChangedFile
from callboard.worktree.git import Git, shown_path
from callboard.worktree.records import (
    NO_FILE,
    FileState,
    LineCount,
    RawChange,
    attributes,
    changes_and_counts,
    file_states,
    index_entries,
    path_list,
)
from callboard.worktree.unified_diff import LARGEST_DIFF, ParsedDiff, parsed
from callboard.worktree.workbench import Workbench

MOST_BYTES: Final = 64 * 1_048_576
"""Bytes of all files whose content is compared for one list."""
LONGEST_LIST: Final = 400_000
"""Characters of all paths in a list, as JSON."""
_MOST_PRINTED: Final = 5 * 1_048_576
_WHOLE: Final = 10_000_000
_COMPARE: Final = ("diff-files", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_LFS: Final = b"lfs"


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """Files that differ. more: how many others may."""

    files: list[ChangedFile]
    more: int


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Which paths are listed: those that are compared, and those that are only named."""

    compared: list[Candidate]
    named: list[Candidate]
    more: int


class Comparison:
    """A working tree, compared with a tree. tree: None for an empty repository."""

    def __init__(self, bench: Workbench, tree: str | None) -> None:
        self._bench = bench
        self._root = bench.repository.root
        self._numbers = count()
        base = ["--reset", tree] if tree is not None else ["--empty"]
        # What is the same in both keeps what is known about the file, so it isn't read.
        self._all = bench.copied_index("all")
        self._all.output("read-tree", *base)

    def files(self, paths: Sequence[bytes] = ()) -> ListedFiles:
        """The files that differ, by path. paths: only these."""
        chosen = self._choose(paths)
        git = self._index_of(chosen.compared)
        states, lfs = self._states(chosen, paths), self._lfs(chosen)
        changes, counts = _compared(git)
        found = [_file(one, counts.get(one.path), states.get(one.path)) for one in changes]
        found += [_named(one, states.get(one.path)) for one in chosen.named]
        files = [_with_lfs(one) if one.path in lfs else one for one in found]
        return ListedFiles(sorted(files, key=lambda one: one.path), chosen.more)

    def diff(self, paths: Sequence[bytes]) -> ParsedDiff:
        """The changed lines of one file. paths: where it is, and where it was."""
        git = self._index_of(self._choose(paths).compared)
        return _printed(git, paths, 3, LARGEST_DIFF)

    def wholes(self, paths: Sequence[bytes]) -> Callable[[Sequence[bytes]], ParsedDiff]:
        """Reads all lines of a file, as far as it is not larger than what is compared.

        paths: of all these files. What is returned takes the paths of one of them.
        """
        git = self._index_of(self._choose(paths).compared, f"whole-{next(self._numbers)}")
        return lambda one: _printed(git, one, _WHOLE, _MOST_PRINTED * 2)

    # ------------------------------------------------------------------ which paths

    def _choose(self, paths: Sequence[bytes]) -> _Chosen:
        compared: list[Candidate] = []
        named: list[Candidate] = []
        more, size, length = 0, 0, 0
        for one in candidates(self._all, self._root, paths):
            if self._is_stored_stub(one):
                continue
            length += len(json.dumps(shown_path(one.path)))
            if len(compared) + len(named) >= MOST_FILES or length > LONGEST_LIST:
                more += 1
            elif one.compares and size + (one.size or 0) <= MOST_BYTES:
                size += one.size or 0
                compared.append(one)
            else:
                named.append(one)
        replaced = _replaced(compared)
        kept = [one for one in compared if one.path not in replaced]
        named += [one for one in compared if one.path in replaced]
        return _Chosen(kept, named, more)

    def _is_stored_stub(self, one: Candidate) -> bool:
        """Whether a snapshot has a stub for this file, and it is still the same."""
        sha256 = self._bench.repository.sha256
        return one.stub is not None and one.blob == blob_name(one.stub.encode(), sha256=sha256)

    def _index_of(self, compared: Sequence[Candidate], name: str = "compared") -> Git:
        """git with an index that has only these, so that it looks at nothing else."""
        git = self._bench.on_index(name)
        git.output("read-tree", "--empty")
        known = [(one.mode, one.blob, one.path) for one in compared if one.mode != NO_FILE]
        git.output("update-index", "-z", "--index-info", given=index_entries(known))
        self._add_new(git, [one.path for one in compared if one.mode == NO_FILE])
        # Files that were only touched are the same from now on.
        git.succeeds("update-index", "-q", "--refresh")
        return git

    def _add_new(self, git: Git, paths: Sequence[bytes]) -> None:
        if not paths:
            return
        given = ("--pathspec-from-file=-", "--pathspec-file-nul")
        if git.succeeds("add", "-N", "-f", *given, given=path_list(paths)):
            return
        # One of them is gone by now. Those that are left are added one by one, as far as possible.
        left = [path for path in paths if os.path.lexists(self._absolute(path))]
        git.succeeds("add", "-N", "-f", "--ignore-errors", *given, given=path_list(left))

    def _absolute(self, path: bytes) -> bytes:
        return os.path.join(os.fsencode(self._root), path)  # noqa: PTH118 - bytes

    # ------------------------------------------------------------------ what is known besides

    def _states(self, chosen: _Chosen, paths: Sequence[bytes]) -> Mapping[bytes, FileState]:
        """How they differ from the last commit. Paths that don't are not in it."""
        wanted = {one.path for one in (*chosen.compared, *chosen.named)}
        git = self._bench.copied_index("status")
        options = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
        status = git.records("status", *options, "--ignore-submodules=dirty", "--", *paths)
        return {path: state for path, state in file_states(status) if path in wanted}

    def _lfs(self, chosen: _Chosen) -> frozenset[str]:
        """Those of which Git LFS has the content."""
        paths = [one.path for one in (*chosen.compared, *chosen.named)]
        if not paths:
            return frozenset()
        found = attributes(
            self._all.records("check-attr", "-z", "--stdin", "filter", given=path_list(paths))
        )
        return frozenset(shown_path(path) for path, value in found if value == _LFS)


def _replaced(compared: Sequence[Candidate]) -> set[bytes]:
    """Files that are gone because a folder has their name, or a file that of their folder.

    An index can't have both.
    """
    new = {one.path for one in compared if one.mode == NO_FILE}
    gone = {one.path for one in compared if one.status == "deleted"}
    by_file = {path for path in gone if not new.isdisjoint(_folders(path))}
    return by_file | {folder for path in new for folder in _folders(path) if folder in gone}


def _folders(path: bytes) -> Iterator[bytes]:
    while path := path.rpartition(b"/")[0]:
        yield path


def _printed(git: Git, paths: Sequence[bytes], context: int, largest: int) -> ParsedDiff:
    printed = git.output(
        *_COMPARE, "-p", "-M", f"-U{context}", "--no-color", "--", *paths, most=_MOST_PRINTED
    )
    return parsed(printed, largest, whole=len(printed) < _MOST_PRINTED)


def _compared(git: Git) -> tuple[list[RawChange], dict[bytes, LineCount]]:
    changes: list[RawChange] = []
    counts: dict[bytes, LineCount] = {}
    for one in changes_and_counts(git.records(*_COMPARE, "--raw", "--numstat", "-z", "-M")):
        if isinstance(one, RawChange):
            changes.append(one)
        else:
            counts[one.path] = one
    return changes, counts


def _file(change: RawChange, count: LineCount | None, state: FileState | None) -> ChangedFile:
    old_path = None if change.old_path is None else shown_path(change.old_path)
    status = "conflicted" if state is not None and state.conflicted else change.status
    binary = count is not None and count.added is None
    return ChangedFile(
        shown_path(change.path),
        old_path,
        status,
        staged=state is not None and state.staged,
        unstaged=state is not None and state.unstaged,
        added=None if count is None else count.added,
        removed=None if count is None else count.removed,
        binary=binary,
        submodule=change.submodule,
    )


def _named(one: Candidate, state: FileState | None) -> ChangedFile:
    """A file whose content is not compared."""
    return ChangedFile(
        shown_path(one.path),
        None,
        one.status,
        staged=state is not None and state.staged,
        unstaged=state is not None and state.unstaged,
        added=None,
        removed=None,
        submodule=one.submodule,
        too_large=not one.submodule and one.status != "deleted",
    )


def _with_lfs(one: ChangedFile) -> ChangedFile:
    return replace(one, lfs=True, added=None, removed=None, binary=True)
