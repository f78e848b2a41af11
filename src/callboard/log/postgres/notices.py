"""Commits are announced to other handles with NOTIFY, and theirs wake our listeners.

Not in the transaction of an append: NOTIFY lets only one commit at a time through in the whole
server. A notification that gets lost is made up for by the next beat, which has the sequence.
"""

import asyncio
from collections.abc import Callable, Sequence

from callboard.errors import StoreError
from callboard.log.appending import KnownStream
from callboard.log.listeners import Listeners
from callboard.log.postgres.connections import ReadPool
from callboard.log.postgres.liveness import CHANNEL
from callboard.log.postgres.reader import PostgresReader

_LONGEST = 1.0
_SHORTEST_PAUSE = 0.005
_LONGEST_PAUSE = 0.05
# On a busy machine, all processes would otherwise spend much of their time on each other's commits.
_SHARE = 5
"""Announcing takes at most this part of the time, and so does looking."""


def pause_after(seconds: float) -> float:
    """How long to let notices gather after announcing or looking took this many seconds."""
    return min(max(seconds * (_SHARE - 1), _SHORTEST_PAUSE), _LONGEST_PAUSE)


class CommitNotices:
    """Announces our commits, and finds out which streams those of others changed."""

    def __init__(
        self,
        owner: str,
        pool: ReadPool,
        reader: PostgresReader,
        listeners: Listeners,
        learn: Callable[[Sequence[KnownStream]], None],
    ) -> None:
        """Prepare; `learn` is called with the streams that others changed."""
        self._owner = owner
        self._pool = pool
        self._reader = reader
        self._listeners = listeners
        self._learn = learn
        self._seen = 0
        self._is_replaced = False
        self._loop = asyncio.get_running_loop()
        self._unannounced = False
        self._unread = False
        self._announcing: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    def start(self, sequence: int) -> None:
        """Start with the last sequence. Those who already listen may have missed something."""
        self._seen = sequence
        self._listeners.wake_all()

    def wrote(self, first: int, last: int) -> None:
        """Note the sequences of our own commit, which others don't know about yet."""
        if self._seen == first - 1:
            self._seen = last
        self.announce()

    def announce(self) -> None:
        """Let others know that there is something new."""
        self._unannounced = True
        if self._announcing is None or self._announcing.done():
            self._announcing = self._loop.create_task(self._announce())

    async def _announce(self) -> None:
        while self._unannounced:
            self._unannounced = False
            began = self._loop.time()
            try:
                await self._pool.run(
                    lambda link: link.execute("SELECT pg_notify(%s, %s)", (CHANNEL, self._owner))
                )
            except StoreError:
                return  # Their next beat shows it.
            await asyncio.sleep(pause_after(self._loop.time() - began))

    def replaced(self) -> None:
        """Another server took over: have everyone look now, and again with the next beat.

        Until then, what is written there may get sequences that we have seen before.
        """
        self._is_replaced = True
        self._listeners.wake_all()

    def caught_up(self, sequence: int) -> None:
        """Compare with the last sequence, which a beat returned."""
        if self._is_replaced or sequence < self._seen:
            # It may not have had everything: no one knows what is left.
            self._is_replaced, self._seen = False, sequence
            self._listeners.wake_all()
        elif not self._listeners:
            self._seen = sequence
        elif sequence > self._seen:
            self.heard(None)

    def heard(self, what: str | None) -> None:
        """Something has changed; if it isn't an append, every listener should look."""
        if what is not None:
            self._listeners.wake_all()
            return
        self._unread = True
        if self._looking is None or self._looking.done():
            self._looking = self._loop.create_task(self._look())

    async def _look(self) -> None:
        """Wake the listeners of streams that have grown since the last look."""
        while self._unread and self._listeners:
            self._unread = False
            began = self._loop.time()
            try:
                changed, last = await self._reader.changed_after(self._seen)
            except StoreError:
                # The listener runs into the same error when it reads, and can report it.
                self._listeners.wake_all()
                return
            self._seen = max(self._seen, last)
            self._learn(changed)
            work = [one.id for one in changed if one.standing.is_up_for_driving and not one.hidden]
            # Our own commits are among them: those who wrote them see by the length that there is
            # nothing new.
            heads = {one.id: None if one.hidden else one.standing.head for one in changed}
            self._listeners.wake(heads, work)
            await asyncio.sleep(pause_after(self._loop.time() - began))

    async def stop(self) -> None:
        """Finish announcing and looking."""
        tasks = [task for task in (self._announcing, self._looking) if task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=_LONGEST)
        self.crash()

    def crash(self) -> None:
        """Stop at once."""
        for task in (self._announcing, self._looking):
            if task is not None:
                task.cancel()
