"""The shapes of what changed in a working tree: files, one file's diff, commits and turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from callboard.events.shapes import Millis, Omitted, Shape

FileStatus = Literal["added", "modified", "deleted", "renamed", "type_changed", "conflicted"]
Operation = Literal["rebase", "merge", "cherry_pick", "revert", "bisect", "apply"]
"""What a person or an agent has started with git and not finished."""
BaseKind = Literal["session", "turn", "commit"]
LineKind = Literal["same", "added", "removed"]
Side = Literal["old", "new"]
CheckState = Literal["passed", "failed", "pending"]

MOST_FILES: Final = 2000
"""Files that a list has at most. `more` is how many others there are."""
MOST_COMMITS: Final = 50
MOST_TURNS: Final = 100


@dataclass(frozen=True, slots=True)
class ChangedFile(Shape):
    """A file that differs from the base.

    path: from the root of the working tree, raw: it may contain any character. old_path: where it
    was, if it was renamed. staged, unstaged: whether it differs from the last commit, and how; with
    neither, it was committed since. added, removed: lines; None for what has none that are counted.
    lfs: Git LFS has its content. too_large: its content is not compared.
    """

    path: str
    old_path: str | None
    status: FileStatus
    staged: bool
    unstaged: bool
    added: int | None
    removed: int | None
    binary: bool = False
    submodule: bool = False
    lfs: bool = False
    too_large: bool = False


@dataclass(frozen=True, slots=True)
class TurnMark(Shape):
    """A turn of the session, of which the working tree at its start is known.

    id: for `since`. at: when it started. late: how many milliseconds later its snapshot was taken.
    partial: how many files were too large or too many for the snapshot.
    """

    id: str
    at: Millis
    late: int
    prompt: str | None = None
    partial: int = 0


@dataclass(frozen=True, slots=True)
class ComparedTo(Shape):
    """What the working tree is compared with.

    kind: `commit` if there is no snapshot, which `note` says. id: of a turn, or a commit. late,
    partial: as a turn's. commit: what was checked out.
    """

    kind: BaseKind
    id: str | None
    at: Millis | None = None
    late: int = 0
    partial: int = 0
    commit: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class CommitMade(Shape):
    """A commit that was made since the session started. id: its whole hash."""

    id: str
    subject: str
    author: str
    at: Millis


@dataclass(frozen=True, slots=True)
class CheckRun(Shape):
    """A check of a pull request. url: its log, if it has a page.

    message: what can be sent to the agent about it, if it failed.
    """

    name: str
    state: CheckState
    url: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class PullRequest(Shape):
    """The pull request of the branch, as `gh` knows it. at: when it was read."""

    number: int
    title: str
    url: str
    state: Literal["open", "draft", "merged", "closed"]
    checks: Sequence[CheckRun] = ()
    at: Millis = 0


@dataclass(frozen=True, slots=True)
class WorktreeChanges(Shape):
    """What changed in a working tree.

    root: its folder. branch: None if none is checked out (`detached`), or the repository is empty.
    ahead, behind: commits, compared with `upstream`. state: an operation that is not finished.
    more: files that the list leaves out. commits: since the session started, newest first;
    more_commits: others. turns: newest last. snapshot_at: when the base was recorded.
    """

    root: str
    branch: str | None
    detached: bool
    upstream: str | None
    ahead: int
    behind: int
    state: Operation | None
    base: ComparedTo
    files: Sequence[ChangedFile]
    more: int
    turns: Sequence[TurnMark]
    commits: Sequence[CommitMade]
    more_commits: int
    snapshot_at: Millis | None
    read_at: Millis
    pull_request: Omitted[PullRequest] = None


@dataclass(frozen=True, slots=True)
class DiffLine(Shape):
    """A line of a diff. old, new: its numbers; None on the side where it isn't.

    no_newline: whether the file ends with it and without a line break.
    """

    kind: LineKind
    text: str
    old: int | None
    new: int | None
    no_newline: bool = False


@dataclass(frozen=True, slots=True)
class DiffHunk(Shape):
    """Lines that follow each other. heading: the function that they are in, as git finds it."""

    old_start: int
    new_start: int
    heading: str
    lines: Sequence[DiffLine]


@dataclass(frozen=True, slots=True)
class FileChanges(Shape):
    """One file's diff. cut: whether hunks are missing because it is too long."""

    file: ChangedFile
    base: ComparedTo
    hunks: Sequence[DiffHunk]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class LineComment(Shape):
    """A comment on a line. side: of the diff. excerpt: the line when the comment was written."""

    path: str
    side: Side
    line: int
    text: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class CommentPlace(Shape):
    """Where a comment's line is now. line: None if it is `outdated`, which means that it changed.

    index: which comment, as they were given.
    """

    index: int
    line: int | None
    outdated: bool


@dataclass(frozen=True, slots=True)
class CommentMessage(Shape):
    """Comments as one message for the agent, and where their lines are now."""

    text: str
    comments: Sequence[CommentPlace]
