"""The snapshots of sessions' working trees on this machine, in a folder of ours.

Each session has a folder: `marks.json` says when which tree was stored, `objects` has what the
repository itself doesn't. No one else can read them, and they are removed when they are old.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, cast, get_args

from callboard.disk.files import read
from callboard.disk.files import replace as replace_file
from callboard.disk.locks import locked
from callboard.disk.private import make_own_folder
from callboard.events.json_values import Object, as_list, as_object, as_text, as_whole, objects
from callboard.worktree.git import Deadline
from callboard.worktree.repository import find_repository, is_hash
from callboard.worktree.tree_snapshot import take_snapshot

MarkKind = Literal["session", "turn"]

KEPT_MS: Final = 14 * 86_400_000
"""Snapshots of a session are kept for as long after its last one. git itself removes objects that
nothing refers to after two weeks, so they would be incomplete later."""
MOST_BYTES: Final = 1024 * 1_048_576
"""Bytes of all snapshots. The oldest sessions' go first."""
MOST_OF_SESSION: Final = 512 * 1_048_576
"""Bytes of one session's snapshots. Then no more are taken."""
TIME_LIMIT: Final = 20.0
"""Seconds that a snapshot may take."""
_MOST_MARKS: Final = 200
_LARGEST_MARKS: Final = 1_048_576
_LONGEST_PROMPT: Final = 120
_SAME_MS: Final = 1000
_WORK_KEPT_MS: Final = 3_600_000
_FULL: Final = (
    f"This session's snapshots have reached {MOST_OF_SESSION // 1_048_576} MB. Start a new session "
    "to record more."
)


@dataclass(frozen=True, slots=True)
class TurnStart:
    """A session or a turn that starts. at_ms: when. folder: where the agent works."""

    session_id: str
    folder: str
    at_ms: int
    kind: MarkKind
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class TreeMark:
    """A stored tree. root: of which working tree. commit: what was checked out.

    partial: files without their content.
    """

    id: str
    kind: MarkKind
    at_ms: int
    taken_ms: int
    root: str
    tree: str
    commit: str | None
    prompt: str | None = None
    partial: int = 0


@dataclass(frozen=True, slots=True)
class SessionMarks:
    """What is known about a session. folder: where it works. missed: why the last one failed."""

    folder: str = ""
    marks: Sequence[TreeMark] = ()
    size: int = 0
    last_ms: int = 0
    missed: str | None = None

    def find(self, id: str) -> TreeMark | None:
        """The snapshot with this id."""
        return next((one for one in self.marks if one.id == id), None)

    @property
    def turns(self) -> Sequence[TreeMark]:
        """Those of turns, oldest first."""
        return [one for one in self.marks if one.kind == "turn"]


@dataclass(frozen=True, slots=True)
class SnapshotStore:
    """Takes snapshots and finds them. folder: ours, which is made when it is needed."""

    folder: Path
    time_limit: float = field(default=TIME_LIMIT)

    def ready(self) -> Path:
        """The folder, which only we can read; OSError if it can't be made."""
        make_own_folder(self.folder)
        return self.folder

    def marks(self, session_id: str) -> SessionMarks:
        """What is known about a session; nothing if there is no snapshot."""
        try:
            told = as_object(json.loads(read(self._file(session_id), _LARGEST_MARKS)))
        except (OSError, ValueError, RecursionError):
            return SessionMarks()
        return SessionMarks(
            as_text(told.get("folder")),
            [one for one in map(_mark, objects(as_list(told.get("marks")))) if one is not None],
            as_whole(told.get("size")),
            as_whole(told.get("lastMs")),
            as_text(told.get("missed")) or None,
        )

    def objects(self, session_id: str) -> Path | None:
        """Where a session's objects are; None if there are none."""
        found = self._session(session_id) / "objects"
        return found if found.is_dir() else None

    def take(self, start: TurnStart, now_ms: int) -> TreeMark | None:
        """Store the working tree of a session that starts a turn.

        None if this is not needed, because the session is known to have started already, or if
        there is no room for more.
        WorktreeUnreadable if git can't read it, OSError if it can't be stored.
        """
        with self._locked(start.session_id):
            known = self.marks(start.session_id)
            if not _is_new(start, known):
                return None
            if known.size > MOST_OF_SESSION:
                self._write(start.session_id, replace(known, missed=_FULL, last_ms=now_ms))
                return None
            mark, size = self._taken(start, known, now_ms)
            kept = _kept([*known.marks, mark])
            self._write(start.session_id, SessionMarks(start.folder, kept, size, now_ms))
        return mark

    def miss(self, start: TurnStart, why: str, now_ms: int) -> None:
        """Note that a snapshot was not possible."""
        with self._locked(start.session_id):
            known = self.marks(start.session_id)
            self._write(
                start.session_id, replace(known, folder=start.folder, missed=why, last_ms=now_ms)
            )

    def prune(self, now_ms: int) -> int:
        """Remove snapshots that are old or too many; returns of how many sessions."""
        sessions, removed = self._sessions(), 0
        total = sum(size for _, _, size in sessions)
        for last_ms, folder, size in sessions:
            if now_ms - last_ms <= KEPT_MS and total <= MOST_BYTES:
                continue
            shutil.rmtree(folder, ignore_errors=True)
            total -= size
            removed += 1
        for left in self.folder.glob("work-*"):
            with suppress(OSError):
                if now_ms - left.stat().st_mtime * 1000 > _WORK_KEPT_MS:
                    shutil.rmtree(left, ignore_errors=True)
        return removed

    # ------------------------------------------------------------------ files

    def _taken(self, start: TurnStart, known: SessionMarks, now_ms: int) -> tuple[TreeMark, int]:
        deadline = Deadline(self.time_limit)
        stored = self._session(start.session_id) / "objects"
        stored.mkdir(mode=0o700, exist_ok=True)
        repository = find_repository(start.folder, deadline)
        found = take_snapshot(repository, self.folder, stored, deadline)
        last = known.marks[-1].id if known.marks else "0"
        mark = TreeMark(
            str(int(last) + 1),
            start.kind,
            start.at_ms,
            now_ms,
            repository.root,
            found.tree,
            found.checked_out.commit,
            start.prompt and start.prompt[:_LONGEST_PROMPT],
            found.partial,
        )
        return mark, _size_of(stored)

    def _sessions(self) -> list[tuple[int, Path, int]]:
        """When each session's last snapshot was, its folder and its size; the oldest first."""
        found: list[tuple[int, Path, int]] = []
        for folder in self.folder.glob("session-*"):
            try:
                told = as_object(json.loads(read(folder / "marks.json", _LARGEST_MARKS)))
            except (OSError, ValueError, RecursionError):
                told = as_object(None)
            found.append((as_whole(told.get("lastMs")), folder, as_whole(told.get("size"))))
        return sorted(found)

    def _session(self, session_id: str) -> Path:
        # A client chooses its ids, which may be no names of files.
        name = hashlib.sha256(session_id.encode("utf-8", "backslashreplace")).hexdigest()[:32]
        return self.folder / f"session-{name}"

    def _file(self, session_id: str) -> Path:
        return self._session(session_id) / "marks.json"

    def _locked(self, session_id: str) -> AbstractContextManager[None]:
        self.ready()
        folder = self._session(session_id)
        make_own_folder(folder)
        return locked(folder / "lock")

    def _write(self, session_id: str, known: SessionMarks) -> None:
        told = {
            "folder": known.folder,
            "size": known.size,
            "lastMs": known.last_ms,
            "missed": known.missed,
            "marks": [_written(one) for one in known.marks],
        }
        replace_file(self._file(session_id), json.dumps(told).encode(), lasting=False)


def _size_of(folder: Path) -> int:
    """The bytes of all files in a folder: what was stored before isn't stored again."""
    found = 0
    for part, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found += Path(part, name).lstat().st_size
    return found


def _is_new(start: TurnStart, known: SessionMarks) -> bool:
    """Whether it is not known yet. A session starts once, also if it is resumed."""
    if start.kind == "session":
        return not known.marks
    # A relay and a server on one machine may both have been told.
    return all(abs(one.at_ms - start.at_ms) > _SAME_MS for one in known.turns)


def _kept(marks: Sequence[TreeMark]) -> Sequence[TreeMark]:
    """The first one and the last ones."""
    return marks if len(marks) <= _MOST_MARKS else [marks[0], *marks[-_MOST_MARKS + 1 :]]


def _mark(told: Object) -> TreeMark | None:
    id, kind, tree = as_text(told.get("id")), as_text(told.get("kind")), as_text(told.get("tree"))
    if not id.isdecimal() or kind not in get_args(MarkKind) or not is_hash(tree):
        return None
    commit = as_text(told.get("commit"))
    return TreeMark(
        id,
        cast("MarkKind", kind),
        as_whole(told.get("atMs")),
        as_whole(told.get("takenMs")),
        as_text(told.get("root")),
        tree,
        commit if is_hash(commit) else None,
        as_text(told.get("prompt")) or None,
        as_whole(told.get("partial")),
    )


def _written(mark: TreeMark) -> Mapping[str, object]:
    return {
        "id": mark.id,
        "kind": mark.kind,
        "atMs": mark.at_ms,
        "takenMs": mark.taken_ms,
        "root": mark.root,
        "tree": mark.tree,
        "commit": mark.commit,
        "prompt": mark.prompt,
        "partial": mark.partial,
    }
