"""What the agents on the board changed in their working trees, wherever they run."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from callboard.board.changes_reading import ChangesReading, asked, read_comments
from callboard.board.conversation_size import whole_characters
from callboard.board.host_requests import raise_reported
from callboard.board.hosts import host_file
from callboard.clock import Clock
from callboard.errors import HostFailed, NotFound, ValidationError, WorktreeUnreadable
from callboard.events.json_values import Object, as_list, as_object
from callboard.events.shapes import Shape
from callboard.worktree.changes import (
    MOST_FILES,
    CommentMessage,
    FileChanges,
    LineComment,
    WorktreeChanges,
)
from callboard.worktree.session_changes import ChangesRequest
from callboard.worktree.snapshot_queue import SnapshotQueue
from callboard.worktree.snapshots import SnapshotStore

if TYPE_CHECKING:
    from callboard.board.plate import Plate
    from callboard.board.plates import Plates
    from callboard.board.relay_hosts import RelayHosts

COMMAND: Final = "changes"
SINCE_SESSION: Final = "session"
_LONGEST_SINCE: Final = 20
_ERRORS: Final = (NotFound, ValidationError, WorktreeUnreadable)

S = TypeVar("S", bound=Shape)


class BoardChanges(Protocol):
    """What agents changed in their working trees.

    since: `session`, `turn` (the last one), `commit` (what is not committed), or a turn's id.
    PlateNotFound, or WorktreeUnreadable if git can't read the folder. For a plate of another
    machine: HostUnreachable, HostTimedOut, HostFailed, or PowerNotGranted without `read` there.
    """

    async def list(self, plate_id: str, *, since: str = SINCE_SESSION) -> WorktreeChanges:
        """All files that differ, the branch, commits and turns."""
        ...

    async def file(
        self,
        plate_id: str,
        path: str,
        *,
        since: str = SINCE_SESSION,
        old_path: str | None = None,
    ) -> FileChanges:
        """One file's diff; NotFound if it doesn't differ. old_path: where it was, if elsewhere."""
        ...

    async def comments(
        self, plate_id: str, comments: Sequence[LineComment], *, since: str = SINCE_SESSION
    ) -> CommentMessage:
        """Comments on lines as one message for the agent. It is not sent."""
        ...


def snapshots_folder() -> Path:
    """Where the snapshots of this machine's sessions are."""
    return host_file().parent / "worktrees"


class AgentChanges:
    """Reads those of this machine itself, and asks other machines for theirs."""

    def __init__(self, plates: "Plates", hosts: "RelayHosts", clock: Clock) -> None:
        self._plates = plates
        self._hosts = hosts
        store = SnapshotStore(snapshots_folder())
        self.snapshots = SnapshotQueue(store, clock.now_ms, lambda: plates.host().id)
        """Takes those of this machine's sessions, if it is told about their hooks."""
        self.reading = ChangesReading(store, clock, trusts_folders=True)

    async def list(
        self, plate_id: str, *, since: str = SINCE_SESSION, by: str | None = None
    ) -> WorktreeChanges:
        """All files that differ, the branch, commits and turns. by: who asks, for the record."""
        plate, request = await self._found(plate_id, since)
        if self._plates.is_here(plate):
            return await self.reading.list(request)
        return await self._ask(plate, asked("list", request), WorktreeChanges, by)

    async def file(
        self,
        plate_id: str,
        path: str,
        *,
        since: str = SINCE_SESSION,
        old_path: str | None = None,
        by: str | None = None,
    ) -> FileChanges:
        """One file's diff; NotFound if it doesn't differ. old_path: where it was, if elsewhere."""
        plate, request = await self._found(plate_id, since)
        if self._plates.is_here(plate):
            return await self.reading.file(request, path, old_path)
        data = asked("file", request) | {"path": path, "oldPath": old_path}
        return await self._ask(plate, data, FileChanges, by)

    async def comments(
        self,
        plate_id: str,
        comments: Sequence[LineComment],
        *,
        since: str = SINCE_SESSION,
        by: str | None = None,
    ) -> CommentMessage:
        """Comments on lines as one message for the agent. It is not sent."""
        told = [one.to_wire() for one in comments]
        checked = read_comments(told)
        plate, request = await self._found(plate_id, since)
        if self._plates.is_here(plate):
            return await self.reading.comments(request, checked)
        data = asked("comments", request) | {"comments": told}
        return await self._ask(plate, data, CommentMessage, by)

    async def _found(self, plate_id: str, since: str) -> "tuple[Plate, ChangesRequest]":
        if since not in ("session", "turn", "commit") and not (
            since.isdecimal() and len(since) <= _LONGEST_SINCE
        ):
            raise ValidationError(
                "since: use session, turn, commit, or the id of a turn.", field="since"
            )
        plate = await self._plates.get(plate_id)
        return plate, ChangesRequest(plate.session_id, plate.project_path, since)

    async def _ask(self, plate: "Plate", data: Object, shape: type[S], by: str | None) -> S:
        told = await self._hosts.ask(plate.host, COMMAND, data, by=by)
        raise_reported(told, _ERRORS, WorktreeUnreadable, host=plate.host)
        try:
            return await asyncio.to_thread(_read, shape, told.get("value"))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise HostFailed(
                f"{plate.host_name or plate.host} sent changes in an unknown format. "
                "Update Callboard there."
            ) from error


def _read(shape: type[S], told: object) -> S:
    wire = as_object(whole_characters(told))
    if len(as_list(wire.get("files"))) > MOST_FILES:
        raise ValueError
    return shape.from_wire(wire)
