"""What this machine's sessions changed, for servers that may read it.

Without the power `read`, no snapshots are taken. The modules for git and for hooks' payloads take
memory, so they are loaded when a session starts.
"""

import json
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from callboard.clock import Clock
from callboard.events.json_values import Object
from callboard.relay.command_table import Command
from callboard.relay.settings import Power

if TYPE_CHECKING:
    from callboard.board.changes_reading import ChangesReading
    from callboard.worktree.snapshot_queue import SnapshotQueue

_STARTS: Final = re.compile(
    rb"SessionStart|UserPromptSubmit|BeforeAgent|session\.(created|resumed)|chat\.message"
    rb'|"type": ?"(session|prompt)"'
)
"""What hooks that start a session or a turn contain. Others may, too."""
_LARGEST: Final = 1_048_576


class WorkingTrees:
    """Takes snapshots of this machine's working trees, and reads what changed in them.

    folder: the relay's. powers: what servers may do here.
    """

    def __init__(self, folder: Path, clock: Clock, powers: Collection[Power]) -> None:
        self._folder = folder / "worktrees"
        self._clock = clock
        self._is_read = "read" in powers
        self._queue: SnapshotQueue | None = None
        self._reading: ChangesReading | None = None

    @property
    def command(self) -> Command:
        """Reads changes for a server."""
        return Command(self._do, "read")

    def heard(self, agent: str, body: bytes, at_ms: int | None = None) -> None:
        """A hook came: if it starts a session or a turn, take a snapshot."""
        if not self._is_read or len(body) > _LARGEST or _STARTS.search(body) is None:
            return
        from callboard.vendors.agents import VENDORS

        vendor = VENDORS.get(agent)
        with suppress(ValueError, RecursionError):
            report = None if vendor is None else vendor.translate(json.loads(body))
            if report is not None:
                self._snapshots().heard(replace(report, at_ms=report.at_ms or at_ms))

    async def close(self) -> None:
        """Take no more snapshots."""
        if self._queue is not None:
            await self._queue.close()

    async def _do(self, data: Object) -> Object:
        if self._reading is None:
            from callboard.board.changes_reading import ChangesReading
            from callboard.worktree.snapshots import SnapshotStore

            store = SnapshotStore(self._folder)
            self._reading = ChangesReading(store, self._clock, trusts_folders=False)
        return await self._reading.do(data)

    def _snapshots(self) -> "SnapshotQueue":
        if self._queue is None:
            from callboard.worktree.snapshot_queue import SnapshotQueue
            from callboard.worktree.snapshots import SnapshotStore

            self._queue = SnapshotQueue(SnapshotStore(self._folder), self._clock.now_ms)
        return self._queue
