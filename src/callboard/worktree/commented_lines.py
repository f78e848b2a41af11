"""The lines of files with comments, compared together: git takes its time for each comparison."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from callboard.worktree.changes import ChangedFile, LineComment
from callboard.worktree.comments import CommentedFile
from callboard.worktree.comparison import Comparison, ListedFiles
from callboard.worktree.git import paths_shown_as
from callboard.worktree.unified_diff import ParsedDiff

_LONGEST_COMMAND: Final = 60_000
"""Bytes of paths in a command, of which systems allow more."""

Whole = Callable[[Sequence[bytes]], ParsedDiff]


def commented_lines(
    comparison: Comparison, comments: Sequence[LineComment]
) -> Callable[[str], CommentedFile]:
    """Finds the lines of a file with comments on both sides; none if it differs no longer."""
    removed = {one.path for one in comments if one.side == "old"}
    olds = _OldPaths(comparison)
    groups = dict[str, _Compared]()
    for paths in _grouped({one.path: None for one in comments}):
        group = _Compared(comparison, paths, removed, olds)
        groups |= dict.fromkeys(paths, group)

    def lines_of(path: str) -> CommentedFile:
        group = groups[path]
        if group.is_left_out(path):
            group = _Compared(comparison, [path], removed, olds)
        return group.lines_of(path)

    return lines_of


def _grouped(paths: Mapping[str, None]) -> Iterator[list[str]]:
    group, length = list[str](), 0
    for path in paths:
        size = len(path.encode("utf-8", "replace"))
        if group and length + size > _LONGEST_COMMAND:
            yield group
            group, length = [], 0
        group.append(path)
        length += size
    if group:
        yield group


class _Compared:
    """Some files, compared at once. removed: those of which lines that were removed matter."""

    def __init__(
        self,
        comparison: Comparison,
        paths: Sequence[str],
        removed: set[str],
        olds: "_OldPaths",
    ) -> None:
        self._comparison = comparison
        self._paths = paths
        self._removed = removed
        self._olds = olds

    @cached_property
    def _listed(self) -> ListedFiles:
        return self._comparison.files(self._bytes)

    @cached_property
    def _known(self) -> Mapping[str, ChangedFile]:
        found = self._listed.files
        # A file that is compared with where it was is one file here, and two of them elsewhere.
        before = {one.old_path: one for one in found if one.old_path is not None}
        return before | {one.path: one for one in found}

    @cached_property
    def _whole(self) -> Whole:
        moved = [old for path in self._paths for old in self._old(path)]
        return self._comparison.wholes([*self._bytes, *moved])

    @property
    def _bytes(self) -> list[bytes]:
        return [one for path in self._paths for one in paths_shown_as(path)]

    def _old(self, path: str) -> Sequence[bytes]:
        """Where a file was, if that matters."""
        known = self._known.get(path)
        if known is None or path not in self._removed or known.path != path:
            return []
        if known.old_path is not None:
            return paths_shown_as(known.old_path)
        return self._olds.of(path) if known.status == "added" else []

    def is_left_out(self, path: str) -> bool:
        """Whether it may only be missing because there are others."""
        known = self._known.get(path)
        is_missing = self._listed.more > 0 if known is None else known.too_large
        return is_missing and len(self._paths) > 1

    def lines_of(self, path: str) -> CommentedFile:
        known = self._known.get(path)
        if known is None or known.too_large or known.lfs:
            return CommentedFile({}, {})
        paths = [*paths_shown_as(path), *self._old(path)]
        lines = [line for hunk in self._whole(paths).hunks for line in hunk.lines]
        return CommentedFile(
            {line.old: line.text for line in lines if line.old is not None},
            {line.new: line.text for line in lines if line.new is not None},
        )


class _OldPaths:
    """Where renamed files were, which only a comparison of all files says."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def of(self, path: str) -> Sequence[bytes]:
        """Where this file was; nothing if it was not renamed."""
        old_path = self._known.get(path)
        return [] if old_path is None else paths_shown_as(old_path)

    @cached_property
    def _known(self) -> Mapping[str, str | None]:
        return {one.path: one.old_path for one in self._comparison.files().files}
