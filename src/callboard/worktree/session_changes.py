"""What a session changed in its working tree: the list, one file, and comments on lines."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from callboard.errors import NotFound, ValidationError, WorktreeUnreadable
from callboard.worktree.changes import (
    MOST_COMMITS,
    MOST_TURNS,
    CommentMessage,
    CommitMade,
    ComparedTo,
    FileChanges,
    LineComment,
    PullRequest,
    TurnMark,
    WorktreeChanges,
)
from callboard.worktree.commented_lines import commented_lines
from callboard.worktree.comments import message_of
from callboard.worktree.comparison import Comparison
from callboard.worktree.git import Deadline, paths_shown_as
from callboard.worktree.pull_requests import PullRequests
from callboard.worktree.records import COMMIT_FORMAT, commits
from callboard.worktree.repository import CheckedOut, Repository, checked_out, find_repository
from callboard.worktree.snapshots import SessionMarks, SnapshotStore, TreeMark
from callboard.worktree.workbench import Workbench, workbench

TIME_LIMIT: Final = 12.0
"""Seconds that a list or a diff may take: less than a machine has for a command."""
_NO_SNAPSHOT: Final = "There is no snapshot of this session, so this compares with the last commit."
_NOT_OF_LAST_TURN: Final = (
    "There is no snapshot of the last turn, so this compares with an earlier one."
)
_ELSEWHERE: Final = (
    "The session works in another working tree now, so this compares with the last commit there."
)
_LOST: Final = "The snapshot can't be read anymore, so this compares with the last commit."
_STARTED_BEFORE: Final = "The session started before its first snapshot."


@dataclass(frozen=True, slots=True)
class ChangesRequest:
    """Which changes are wanted. folder: where the session works. since: as in the HTTP API."""

    session_id: str
    folder: str
    since: str = "session"


class SessionChanges:
    """Reads what sessions of this machine changed. Its methods block: call them in a thread.

    pull_requests: those of branches, if they are wanted.
    """

    def __init__(
        self,
        store: SnapshotStore,
        time_limit: float = TIME_LIMIT,
        pull_requests: PullRequests | None = None,
    ) -> None:
        self._store = store
        self._time_limit = time_limit
        self._pull_requests = pull_requests

    def list(self, request: ChangesRequest, now_ms: int) -> WorktreeChanges:
        """All files that differ, and what is known about the branch.

        WorktreeUnreadable if git can't read the folder.
        """
        with self._reading(request) as read:
            found = read.comparison.files()
            head, marks = read.head, read.marks
            first = marks.marks[0].commit if marks.marks else head.commit
            made, others = _commits(read.bench, first, head.commit)
            ahead, behind = _distance(read.bench, head)
            return WorktreeChanges(
                root=read.repository.root,
                branch=head.branch,
                detached=head.detached,
                upstream=head.upstream,
                ahead=ahead,
                behind=behind,
                state=read.repository.operation(),
                base=read.base,
                files=found.files,
                more=found.more,
                turns=[_turn(one) for one in marks.turns[-MOST_TURNS:]],
                commits=made,
                more_commits=others,
                snapshot_at=read.base.at and read.base.at + read.base.late,
                read_at=now_ms,
                pull_request=self._pull_request(read),
            )

    def file(self, request: ChangesRequest, path: str, old_path: str | None = None) -> FileChanges:
        """One file's diff; NotFound if it doesn't differ. old_path: where it was, if elsewhere."""
        paths = paths_shown_as(path)
        if old_path is not None:
            paths += paths_shown_as(old_path)
        with self._reading(request) as read:
            found = [one for one in read.comparison.files(paths).files if one.path == path]
            if not found:
                raise NotFound(
                    f"{path!r} is not among the changed files. List them: callboard changes PLATE",
                    path=path,
                )
            if found[0].too_large or found[0].lfs:
                return FileChanges(found[0], read.base, [])
            if old_path != found[0].old_path:  # Else the lines of two files would be mixed.
                paths = paths_shown_as(path)
            diff = read.comparison.diff(paths)
            file = replace(found[0], binary=found[0].binary or diff.binary)
            return FileChanges(file, read.base, diff.hunks, diff.cut)

    def comments(self, request: ChangesRequest, comments: Sequence[LineComment]) -> CommentMessage:
        """Comments on lines as one message. Those whose line has changed since are marked."""
        with self._reading(request) as read:
            return message_of(comments, commented_lines(read.comparison, comments))

    # ------------------------------------------------------------------ reading

    def _pull_request(self, read: "_Reading") -> PullRequest | None:
        if self._pull_requests is None or read.head.branch is None:
            return None
        return self._pull_requests.of(read.repository.root, read.head.branch)

    @contextmanager
    def _reading(self, request: ChangesRequest) -> "Generator[_Reading]":
        deadline = Deadline(self._time_limit)
        repository = find_repository(request.folder, deadline)
        head = checked_out(repository, deadline)
        marks = self._store.marks(request.session_id)
        mark, note = _base(request.since, marks, repository)
        stored = self._store.objects(request.session_id)
        own = self._store.ready()
        with workbench(repository, own, deadline, stored=stored, head=head.commit) as bench:
            comparison, base = _compared(bench, mark, note, head)
            yield _Reading(repository, head, marks, bench, comparison, base)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is open while changes are read."""

    repository: Repository
    head: CheckedOut
    marks: SessionMarks
    bench: Workbench
    comparison: Comparison
    base: ComparedTo


def _base(
    since: str, marks: SessionMarks, repository: Repository
) -> tuple[TreeMark | None, str | None]:
    """The snapshot to compare with, or why it is the last commit instead."""
    if since == "commit":
        return None, None
    mark = _wanted(since, marks)
    why = "" if marks.missed is None else f" The last snapshot failed: {marks.missed}"
    if mark is None:
        return None, _NO_SNAPSHOT + why
    if mark.root != repository.root:
        return None, _ELSEWHERE
    if since == "turn" and why:
        return mark, _NOT_OF_LAST_TURN + why
    is_late = since == "session" and mark.kind != "session"
    return mark, _STARTED_BEFORE if is_late else None


def _wanted(since: str, marks: SessionMarks) -> TreeMark | None:
    """The snapshot that was asked for; None if nothing was stored so far."""
    if since in ("session", "turn"):
        known = marks.marks[:1] if since == "session" else marks.marks[-1:]
        return known[0] if known else None
    if not since.isdecimal():
        raise ValidationError(
            "since: expected session, turn, commit or the id of a turn.", field="since"
        )
    mark = marks.find(since)
    if mark is None:
        raise NotFound(
            f"There is no turn {since[:20]!r} among the snapshots. List its turns: "
            "callboard changes PLATE --json"
        )
    return mark


def _compared(
    bench: Workbench, mark: TreeMark | None, note: str | None, head: CheckedOut
) -> tuple[Comparison, ComparedTo]:
    if mark is not None:
        try:
            return Comparison(bench, mark.tree), _compared_to(mark, note)
        except WorktreeUnreadable:
            if not bench.git.deadline.left:
                raise
            note = _LOST
    base = ComparedTo("commit", head.commit, commit=head.commit, note=note)
    return Comparison(bench, head.commit), base


def _compared_to(mark: TreeMark, note: str | None) -> ComparedTo:
    late = max(0, mark.taken_ms - mark.at_ms)
    return ComparedTo(mark.kind, mark.id, mark.at_ms, late, mark.partial, mark.commit, note)


def _turn(mark: TreeMark) -> TurnMark:
    late = max(0, mark.taken_ms - mark.at_ms)
    return TurnMark(mark.id, mark.at_ms, late, mark.prompt, mark.partial)


def _commits(bench: Workbench, first: str | None, head: str | None) -> tuple[list[CommitMade], int]:
    """Commits that were made since one, and how many others there are."""
    if head is None or head == first:
        return [], 0
    span = head if first is None else f"{first}..{head}"
    options = ("-z", "--no-show-signature", f"--format={COMMIT_FORMAT}", f"-n{MOST_COMMITS}")
    try:
        made = commits(bench.git.records("log", *options, span, "--"))
        count = int(bench.git.output("rev-list", "--count", span, "--"))
    except (WorktreeUnreadable, ValueError):
        if not bench.git.deadline.left:
            raise
        return [], 0  # What was checked out then is gone by now.
    return made, max(0, count - len(made))


def _distance(bench: Workbench, head: CheckedOut) -> tuple[int, int]:
    """How many commits the branch is ahead of its upstream, and behind."""
    if head.commit is None or head.upstream_commit is None:
        return 0, 0
    span = f"{head.commit}...{head.upstream_commit}"
    told = (bench.git.line("rev-list", "--left-right", "--count", span, "--") or "").split()
    return (int(told[0]), int(told[1])) if len(told) == 2 else (0, 0)
