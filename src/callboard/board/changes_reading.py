"""Reads what sessions changed on the machine where they run: in threads, and within bounds."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from callboard.clock import Clock
from callboard.errors import NotFound, ValidationError, WorktreeUnreadable
from callboard.events.json_values import Object, as_list, as_text, objects
from callboard.events.shapes import Shape
from callboard.worktree.changes import (
    CommentMessage,
    FileChanges,
    LineComment,
    Side,
    WorktreeChanges,
)
from callboard.worktree.pull_requests import PullRequests
from callboard.worktree.session_changes import ChangesRequest, SessionChanges
from callboard.worktree.snapshots import SnapshotStore

MOST_COMMENTS: Final = 200
LONGEST_COMMENT: Final = 20_000
LONGEST_PATH: Final = 4096
_LONGEST_WORD: Final = 500
_AT_ONCE: Final = 2

T = TypeVar("T")


class ChangesReading:
    """Reads changes of this machine's sessions.

    trusts_folders: whether who asks may say where a session works. A server that asks a relay may
    not: only where the session's own hooks came from is read.
    """

    def __init__(self, store: SnapshotStore, clock: Clock, *, trusts_folders: bool) -> None:
        self._store = store
        self._clock = clock
        self._trusts_folders = trusts_folders
        pull_requests = PullRequests(clock.now_ms)
        self._changes = SessionChanges(store, pull_requests=pull_requests)
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def list(self, request: ChangesRequest) -> WorktreeChanges:
        """All files that differ, and what is known about the branch."""
        now_ms = self._clock.now_ms()
        return await self._in_thread(request, lambda at: self._changes.list(at, now_ms))

    async def file(self, request: ChangesRequest, path: str, old_path: str | None) -> FileChanges:
        """One file's diff."""
        return await self._in_thread(request, lambda at: self._changes.file(at, path, old_path))

    async def comments(
        self, request: ChangesRequest, comments: Sequence[LineComment]
    ) -> CommentMessage:
        """Comments on lines as one message."""
        return await self._in_thread(request, lambda at: self._changes.comments(at, comments))

    async def do(self, data: Object) -> Object:
        """Do the command of a server. Errors that callers can act on are part of the result."""
        try:
            return {"value": (await self._done(data)).to_wire()}
        except (NotFound, ValidationError, WorktreeUnreadable) as error:
            return {"error": error.as_payload()}

    async def _done(self, data: Object) -> Shape:
        folder = as_text(data.get("folder"))[:LONGEST_PATH]
        request = ChangesRequest(_word(data, "session"), folder, _word(data, "since"))
        what = data.get("what")
        if what == "file":
            old_path = as_text(data.get("oldPath")) or None
            return await self.file(request, as_text(data.get("path")), old_path)
        if what == "comments":
            return await self.comments(request, read_comments(as_list(data.get("comments"))))
        return await self.list(request)

    async def _in_thread(self, request: ChangesRequest, read: Callable[[ChangesRequest], T]) -> T:
        # git takes longer than most of what threads do here, and must leave some of them.
        async with self._slots:
            try:
                return await asyncio.to_thread(lambda: read(self._allowed(request)))
            except OSError as error:
                raise WorktreeUnreadable(
                    f"The changes can't be read: {error.strerror or error}."
                ) from error

    def _allowed(self, request: ChangesRequest) -> ChangesRequest:
        if self._trusts_folders and request.folder:
            return request
        known = self._store.marks(request.session_id).folder
        if not known:
            raise WorktreeUnreadable(
                "This machine doesn't know yet where the session works. It will, once the agent "
                "gets its next prompt."
            )
        return ChangesRequest(request.session_id, known, request.since)


def asked(what: str, request: ChangesRequest) -> dict[str, object]:
    """The command for a machine, as `ChangesReading.do` reads it."""
    return {
        "what": what,
        "session": request.session_id,
        "folder": request.folder,
        "since": request.since,
    }


def read_comments(told: Sequence[object]) -> list[LineComment]:
    """Comments on lines, each of which has been checked."""
    given = objects(told)
    if not given or len(given) > MOST_COMMENTS or len(given) < len(told):
        raise ValidationError(f"comments: give 1 to {MOST_COMMENTS} comments.", field="comments")
    return [_comment(index, one) for index, one in enumerate(given)]


def _comment(index: int, told: Object) -> LineComment:
    path, text, line = as_text(told.get("path")), as_text(told.get("text")), told.get("line")
    side: Side = "old" if told.get("side") == "old" else "new"
    field = f"comments.{index}"
    if not 0 < len(path) <= LONGEST_PATH:
        raise ValidationError(f"{field}.path: name a changed file.", field=f"{field}.path")
    if not isinstance(line, int) or isinstance(line, bool) or line < 1:
        raise ValidationError(f"{field}.line: lines count from 1.", field=f"{field}.line")
    if not text.strip() or len(text) > LONGEST_COMMENT:
        raise ValidationError(
            f"{field}.text: write up to {LONGEST_COMMENT:,} characters.", field=f"{field}.text"
        )
    return LineComment(path, side, line, text, as_text(told.get("excerpt"))[:LONGEST_COMMENT])


def _word(data: Object, key: str) -> str:
    return as_text(data.get(key))[:_LONGEST_WORD]
