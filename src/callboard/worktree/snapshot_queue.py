"""Takes snapshots one at a time, in a thread, as sessions and turns start."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from callboard.errors import WorktreeUnreadable
from callboard.events import plates
from callboard.events.json_values import as_object, as_text
from callboard.vendors.reports import Report
from callboard.worktree.snapshots import SnapshotStore, TurnStart

_log = logging.getLogger(__name__)

_MOST_WAITING: Final = 100
_PRUNED_EVERY_MS: Final = 3_600_000


class SnapshotQueue:
    """What is to be stored. Of a session that starts several turns meanwhile, the last one counts.

    The working tree is the same for all of them by then. host: the id of this machine.
    """

    def __init__(
        self, store: SnapshotStore, now_ms: Callable[[], int], host: Callable[[], str] = str
    ) -> None:
        self._store = store
        self._now_ms = now_ms
        self._host = host
        self._waiting: dict[tuple[str, str], TurnStart] = {}
        self._task: asyncio.Task[None] | None = None
        self._pruned_ms: int | None = None
        self.lost = 0
        """Snapshots for which there was no room."""

    def heard(self, report: Report) -> None:
        """A hook reported something: if it starts a turn on this machine, take a snapshot soon."""
        start = turn_start_of(report, self._now_ms())
        # Other machines' trees aren't here.
        if start is not None and report.host in (None, self._host()):
            self.add(start)

    def add(self, start: TurnStart) -> None:
        """Take a snapshot soon."""
        key = (start.session_id, start.kind)
        if key not in self._waiting and len(self._waiting) >= _MOST_WAITING:
            self.lost += 1
            return
        self._waiting[key] = start
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._take_all())

    async def settled(self) -> None:
        """Wait until nothing is left to do."""
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """Take no more. One that is being taken ends within its time limit."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _take_all(self) -> None:
        while self._waiting:
            key = next(iter(self._waiting))
            start = self._waiting.pop(key)
            await asyncio.to_thread(self._take, start)

    def _take(self, start: TurnStart) -> None:
        try:
            self._prune()
            try:
                self._store.take(start, self._now_ms())
            except WorktreeUnreadable as error:
                self._store.miss(start, error.message, self._now_ms())
        except OSError as error:
            _log.warning("A snapshot could not be stored: %s", error.strerror or error)
        except Exception:
            _log.exception("A snapshot failed")

    def _prune(self) -> None:
        now = self._now_ms()
        if self._pruned_ms is None or now - self._pruned_ms > _PRUNED_EVERY_MS:
            self._pruned_ms = now
            self._store.prune(now)


def turn_start_of(report: Report, now_ms: int) -> TurnStart | None:
    """What a report starts; None if it starts nothing, or a subagent's work."""
    if report.project_path is None:
        return None
    at_ms = report.at_ms or now_ms
    for signal in report.signals:
        details = as_object(signal.payload)
        if "subagent" in details:
            continue
        if signal.name == plates.PROMPT_SUBMIT:
            prompt = as_text(details.get("prompt")) or None
            return TurnStart(report.session_id, report.project_path, at_ms, "turn", prompt)
        if signal.name == plates.SESSION_START:
            return TurnStart(report.session_id, report.project_path, at_ms, "session")
    return None
