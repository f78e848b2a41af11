"""What coding agents on a server's board changed."""

from collections.abc import Sequence
from urllib.parse import quote

from callboard.board.plate_changes import SINCE_SESSION
from callboard.client.transport import Transport
from callboard.worktree.changes import CommentMessage, FileChanges, LineComment, WorktreeChanges


class RemoteChanges:
    """What `Callboard.changes` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, plate_id: str, *, since: str = SINCE_SESSION) -> WorktreeChanges:
        """All files that differ, the branch, commits and turns."""
        told = await self._transport.get(_path(plate_id), since=since)
        return WorktreeChanges.from_wire(told)

    async def file(
        self,
        plate_id: str,
        path: str,
        *,
        since: str = SINCE_SESSION,
        old_path: str | None = None,
    ) -> FileChanges:
        """One file's diff; NotFound if it doesn't differ. old_path: where it was, if elsewhere."""
        told = await self._transport.get(
            f"{_path(plate_id)}/file", path=path, since=since, oldPath=old_path
        )
        return FileChanges.from_wire(told)

    async def comments(
        self, plate_id: str, comments: Sequence[LineComment], *, since: str = SINCE_SESSION
    ) -> CommentMessage:
        """Comments on lines as one message for the agent. It is not sent."""
        body = {"comments": [one.to_wire() for one in comments], "since": since}
        told = await self._transport.post(f"{_path(plate_id)}/comments", body)
        return CommentMessage.from_wire(told)


def _path(plate_id: str) -> str:
    return f"/plates/{quote(plate_id, safe='')}/changes"
