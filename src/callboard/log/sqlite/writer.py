"""The queue of appends: those of one event loop iteration share a commit.

The commit happens in the loop while the disk is fast and no one else writes, because switching to a
thread and back costs more than a fast disk. Otherwise it happens in a writer thread, which can wait
without blocking the loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import get_ident
from typing import TypeVar

from callboard.log.appending import AppendRequest, Committed, take_group, tell
from callboard.log.sqlite.commit import Committer
from callboard.log.sqlite.transaction import Transactions, WriteTarget

_LARGEST = 512
"""The maximum number of events per commit, so that the loop isn't blocked for long."""

T = TypeVar("T")
_SLOW = 0.004
"""Seconds per commit from which the writer thread is better. It costs about half a millisecond of
processor time, and below this there is too little to do meanwhile."""
_LONGEST = 0.010
_WEIGHT = 0.1
_PROBE_EVERY = 32


class Writer:
    """Collects appends and commits them in groups, in order."""

    def __init__(
        self, committer: Committer, place: WriteTarget, committed: Callable[[dict[str, int]], None]
    ) -> None:
        self._committer = committer
        self._committed = committed
        self._turn = Transactions(committer, place)
        self._pace = DiskPace()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="callboard-writer")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._requests: list[AppendRequest] = []
        self._jobs: deque[tuple[Callable[[], None], Callable[[], object]]] = deque()
        """Each with a function that cancels the task waiting for it."""
        self._scheduled = False
        self._after_job = False
        self._running: Future[None] | None = None
        self._idle: list[asyncio.Future[None]] = []

    def append(self, request: AppendRequest) -> None:
        """Write in the next commit; the request's future is done when it is on disk."""
        self._requests.append(request)
        if not self._scheduled:
            self._schedule()

    def run(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """Run a job in the writer thread, in its own transaction, which it must end."""
        future: asyncio.Future[T] = self.loop().create_future()
        self._jobs.append((lambda: self._run_in_thread(job, future), future.cancel))
        self._schedule()
        return future

    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop; requests from one that has ended are dropped."""
        known = self._loop
        # Asking asyncio for the running loop is a system call, and this runs for every append.
        if known is not None and self._loop_thread == get_ident() and known.is_running():
            return known
        loop, self._loop_thread = asyncio.get_running_loop(), get_ident()
        if loop is not self._loop:
            if self._running is not None:
                wait([self._running])
            self._loop, self._running, self._scheduled = loop, None, False
            self._requests.clear()
            self._jobs.clear()
        return loop

    def _schedule(self) -> None:
        wanted = self._requests or self._jobs
        if wanted and not self._scheduled and not self._running and self._loop:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        try:
            # Alternate, so that in a busy log neither appends nor jobs keep the other waiting.
            self._after_job = bool(self._jobs) and not (self._after_job and self._requests)
            if self._after_job:
                self._running = self._thread.submit(self._jobs.popleft()[0])
            elif group := self._take():
                self._write(group)
        finally:
            self._go_on()

    def _take(self) -> list[AppendRequest]:
        """The next group, up to a number of events, without cancelled requests."""
        group, self._requests = take_group(self._requests, _LARGEST)
        return group

    def _write(self, group: Sequence[AppendRequest]) -> None:
        if self._pace.quick() and not any(request.is_large for request in group):
            committed = self._turn.commit_at_once(group)
            if committed is not None:
                self._pace.note(self._committer.commit_seconds)
                self._settle(group, committed)
                return
        self._running = self._thread.submit(self._commit_in_thread, group)

    def _commit_in_thread(self, group: Sequence[AppendRequest]) -> None:
        committed = self._turn.commit(group)
        self._call_back(self._settle, group, committed)

    def _run_in_thread(self, job: Callable[[], T], future: asyncio.Future[T]) -> None:
        try:
            outcome: T | Exception = self._turn.run(job)
        except Exception as error:
            outcome = error
        self._call_back(tell, future, outcome)

    def _call_back(self, done: Callable[..., None], *results: object) -> None:
        def finish() -> None:
            self._running = None
            done(*results)
            self._go_on()

        with suppress(RuntimeError):  # the loop has been closed: no one waits anymore
            assert self._loop is not None
            self._loop.call_soon_threadsafe(finish)

    def _settle(self, group: Sequence[AppendRequest], committed: Committed) -> None:
        outcomes, changed = committed
        for request, outcome in zip(group, outcomes, strict=True):
            tell(request.future, outcome)
        if changed:
            self._committed(changed)

    def _go_on(self) -> None:
        self._schedule()
        if self._idle and not self._working():
            for future in self._idle:
                tell(future, None)
            self._idle.clear()

    def _working(self) -> bool:
        return bool(self._requests or self._jobs or self._running)

    async def drain(self) -> None:
        """Wait until everything requested is written."""
        while self._working():
            future: asyncio.Future[None] = self.loop().create_future()
            self._idle.append(future)
            await future

    def abandon(self) -> None:
        """Drop what isn't being written yet, and cancel the tasks waiting for it."""
        for request in self._requests:
            request.future.cancel()
        for _, cancel in self._jobs:
            cancel()
        self._requests.clear()
        self._jobs.clear()

    def close(self) -> None:
        """Stop the writer thread."""
        self._thread.shutdown()


class DiskPace:
    """A moving average of how long commits blocked the event loop.

    Only commits made in the loop count: in a thread, the time includes waiting for the interpreter,
    and would keep the log in the thread permanently. While the disk is slow, one group in a few
    dozen is still committed in the loop, to see whether that is over.
    """

    def __init__(self) -> None:
        self._average = 0.0
        self._skipped = 0

    def quick(self) -> bool:
        """Whether the next group should be committed in the loop."""
        if self._average <= _SLOW:
            return True
        self._skipped = (self._skipped + 1) % _PROBE_EVERY
        return self._skipped == 0

    def note(self, seconds: float) -> None:
        """Add one commit to the average; a single long one (a checkpoint) doesn't decide."""
        self._average += (min(seconds, _LONGEST) - self._average) * _WEIGHT
