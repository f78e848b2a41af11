"""Hooks that are held open, in any process, and the question that each one waits for."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from callboard.board.plates import Plates
from callboard.clock import Clock
from callboard.disk.locks import is_held, locked
from callboard.disk.private import make_private_folder
from callboard.engine.inbox import Inbox
from callboard.interactions.records import Interaction
from callboard.log.protocol import EventLog
from callboard.waiting import wait_any

COMES_BACK_WITHIN: Final = 0.5
"""In seconds. A client that lost its connection returns sooner; after Esc, it never returns."""


class HeldHooks:
    """Which questions have a hook waiting for them, here or on another server.

    folder: the hooks folder; locks in it show other servers what waits here.
    """

    def __init__(self, log: EventLog, inbox: Inbox, folder: Path) -> None:
        self._log = log
        self._inbox = inbox
        self._folder = folder / "held"
        self._held: Counter[str] = Counter()
        self._closing = asyncio.Event()

    def holds(self, interaction_id: str) -> bool:
        """Whether a hook waits for this question, here or on another server."""
        if self._held[interaction_id] > 0:
            return True
        try:
            return is_held(self._lock_of(interaction_id), shared=True)
        except OSError:
            return False

    def _lock_of(self, interaction_id: str) -> Path:
        # An id comes from outside, and could be a path.
        return self._folder / hashlib.sha256(interaction_id.encode("utf-8", "replace")).hexdigest()

    @contextmanager
    def _locked(self, interaction_id: str) -> Generator[None]:
        """Show that a hook waits here for this question, for as long as it does."""
        file = self._lock_of(interaction_id)
        with ExitStack() as held:
            # On a full disk, hooks can still wait; only other servers don't see it.
            with suppress(OSError):
                make_private_folder(self._folder)
                held.enter_context(locked(file, shared=True))
                held.callback(file.unlink, missing_ok=True)
            yield

    @property
    def waiting(self) -> int:
        """The number of hooks that wait here."""
        return self._held.total()

    @property
    def closing(self) -> bool:
        """Whether waiting hooks are being sent away, to come back to the next server."""
        return self._closing.is_set()

    def close(self) -> None:
        """Send all waiting hooks away; the questions stay open."""
        self._closing.set()

    async def wait(self, interaction_id: str) -> Interaction | None:
        """The question once it is answered or closed; None if this server stops first."""
        asked = await self._inbox.get(interaction_id)
        changed = asyncio.Event()
        unsubscribe = self._log.on_change(asked.stream, lambda head: changed.set())
        self._held[interaction_id] += 1
        try:
            with self._locked(interaction_id):
                while not self.closing:
                    changed.clear()
                    asked = await self._inbox.get(interaction_id)
                    if asked.status != "pending" or asked.accepted is not None:
                        return asked
                    await wait_any(changed.wait(), self._closing.wait())
                return None
        finally:
            self._held[interaction_id] -= 1
            if not self._held[interaction_id]:
                del self._held[interaction_id]
            unsubscribe()


class Leavings:
    """Releases a question shortly after its hook has left."""

    def __init__(self, plates: Plates, holding: HeldHooks, clock: Clock) -> None:
        self._plates = plates
        self._holding = holding
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, interaction_id: str) -> None:
        """The hook that waited for this question is gone."""
        if self._holding.closing:
            return
        task = asyncio.create_task(self._see(interaction_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Stop releasing: the hook may come back to the next server."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _see(self, interaction_id: str) -> None:
        await self._clock.sleep(COMES_BACK_WITHIN)
        if not self._holding.holds(interaction_id) and not self._holding.closing:
            await self._plates.let_go(interaction_id)
