"""The queue of appends: those of one turn of the event loop go into one commit.

The commit happens in the loop while the disk is quick and nobody else writes, because a
thread's two switches cost more than a quick disk; otherwise in one writer thread, which may
wait for its turn without holding the loop up.
"""

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from callboard.clock import Clock
from callboard.errors import StoreBusy, StoreError
from callboard.log.pace import Pace
from callboard.log.protocol import Appended
from callboard.log.sqlite_commit import Committer, Outcome, Request
from callboard.log.sqlite_errors import translate
from callboard.log.turnstile import Turnstile, poll

_LARGEST = 512
"""How many events share one commit at most, so that the loop is not held up for long."""

Job = Callable[[], object]


@dataclass(frozen=True, slots=True, eq=False)
class _Pending:
    work: Request | Job
    future: asyncio.Future[object]

    def settle(self, outcome: object) -> None:
        # Whoever waited may have been cancelled meanwhile; what was written stays written.
        if self.future.done():
            return
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the writer writes: the file, the lock before it, how long it waits, and the time."""

    path: Path
    turnstile: Turnstile
    lock_timeout: float
    clock: Clock


class Writer:
    """Collects appends and commits them in groups, in the order in which they came."""

    def __init__(
        self, committer: Committer, place: Place, committed: Callable[[set[str]], None]
    ) -> None:
        self._committer = committer
        self._place = place
        self._committed = committed
        self._pace = Pace()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="callboard-writer")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: deque[_Pending] = deque()
        self._scheduled = False
        self._running: Future[None] | None = None
        self._idle: list[asyncio.Future[None]] = []

    async def append(self, request: Request) -> Appended:
        """Write in the next commit; returns when it is on the disk."""
        appended = await self._submit(request)
        assert isinstance(appended, Appended)
        return appended

    async def run(self, job: Job) -> object:
        """Run a job in the writer thread, in a transaction of its own which it must end."""
        return await self._submit(job)

    def _submit(self, work: Request | Job) -> asyncio.Future[object]:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._move_to(loop)
        future: asyncio.Future[object] = loop.create_future()
        self._queue.append(_Pending(work, future))
        self._schedule()
        return future

    def _move_to(self, loop: asyncio.AbstractEventLoop) -> None:
        """Forget the loop that the log was used in before: it has ended, and who waited in it."""
        if self._running is not None:
            wait([self._running])
        self._loop, self._running, self._scheduled = loop, None, False
        self._queue.clear()

    def _schedule(self) -> None:
        if self._queue and not self._scheduled and not self._running and self._loop:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._scheduled = False
        group = self._take()
        if group and not self._commit_in_loop(group):
            self._running = self._thread.submit(self._commit_in_thread, group)
        self._go_on()

    def _take(self) -> list[_Pending]:
        """The next group: appends up to a number of events, or one job."""
        group: list[_Pending] = []
        size = 0
        while self._queue and size < _LARGEST:
            pending = self._queue[0]
            is_request = isinstance(pending.work, Request)
            if group and not is_request:
                break
            self._queue.popleft()
            if pending.future.cancelled():
                continue
            group.append(pending)
            if not isinstance(pending.work, Request):
                break
            size += len(pending.work.events)
        return group

    def _commit_in_loop(self, group: Sequence[_Pending]) -> bool:
        requests = [pending.work for pending in group if isinstance(pending.work, Request)]
        turnstile = self._place.turnstile
        if not requests or not self._pace.quick() or not turnstile.try_enter():
            return False
        try:
            if not self._begun():
                return False
            outcomes, changed = self._commit(requests)
            self._pace.note(self._committer.commit_seconds)
        finally:
            turnstile.leave()
        self._settle(group, outcomes, changed)
        return True

    def _begun(self) -> bool:
        try:
            return self._committer.begin()
        except sqlite3.Error:
            # The thread meets the same error and tells it to everyone who waits.
            return False

    def _commit_in_thread(self, group: Sequence[_Pending]) -> None:
        changed: set[str] = set()
        try:
            outcomes, changed = self._do(group)
        except Exception as error:
            outcomes = self._failures(error, len(group))
        with suppress(RuntimeError):  # the loop has been closed: nobody waits any more
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._finish, group, outcomes, changed)

    def _do(self, group: Sequence[_Pending]) -> tuple[Sequence[object], set[str]]:
        place = self._place
        place.turnstile.enter(place.lock_timeout)
        try:
            self._wait_to_begin()
            work = group[0].work
            if not isinstance(work, Request):
                return [self._result(work)], set()
            return self._commit([p.work for p in group if isinstance(p.work, Request)])
        finally:
            place.turnstile.leave()

    def _result(self, job: Job) -> object:
        try:
            return job()
        except sqlite3.Error:
            raise
        except Exception as error:
            return error

    def _wait_to_begin(self) -> None:
        timeout = self._place.lock_timeout
        path = self._place.path
        poll(
            self._committer.begin,
            time.monotonic() + timeout,
            lambda: StoreBusy(
                f"Another program has kept {path} locked for more than {timeout:g} s; nothing was "
                "written. Close that program (a database browser, a backup?) and try again.",
                path=str(path),
            ),
        )

    def _finish(
        self, group: Sequence[_Pending], outcomes: Sequence[object], changed: set[str]
    ) -> None:
        self._running = None
        self._settle(group, outcomes, changed)
        self._go_on()

    def _commit(self, requests: Sequence[Request]) -> tuple[list[Outcome], set[str]]:
        """Commit the transaction that has begun; an error is everyone's who is in it."""
        try:
            return self._committer.commit(requests)
        except Exception as error:
            if len(requests) > 1 and _is_about_values(error):
                return self._commit_one_by_one(requests)
            return self._failures(error, len(requests)), set()

    def _commit_one_by_one(self, requests: Iterable[Request]) -> tuple[list[Outcome], set[str]]:
        """One of them holds a value that no table takes: the others must not suffer for it."""
        outcomes: list[Outcome] = []
        changed: set[str] = set()
        for request in requests:
            try:
                self._wait_to_begin()
                outcome, streams = self._commit([request])
            except (StoreError, sqlite3.Error) as error:
                outcome, streams = self._failures(error, 1), set[str]()
            outcomes += outcome
            changed |= streams
        return outcomes, changed

    def _failures(self, error: Exception, count: int) -> list[Outcome]:
        # One exception each: those who wait would otherwise share one traceback.
        return [self._failure(error) for _ in range(count)]

    def _failure(self, error: Exception) -> Exception:
        if isinstance(error, StoreError):
            return type(error)(error.message, **error.context)
        if isinstance(error, sqlite3.Error):
            failure = translate(error, self._place.path)
        else:
            failure = StoreError(f"{self._place.path} cannot hold a value: {error}.")
        failure.__cause__ = error
        return failure

    def _settle(
        self, group: Sequence[_Pending], outcomes: Sequence[object], changed: set[str]
    ) -> None:
        for pending, outcome in zip(group, outcomes, strict=True):
            pending.settle(outcome)
        if changed:
            self._committed(changed)

    def _go_on(self) -> None:
        self._schedule()
        if not self._queue and not self._running:
            for future in self._idle:
                if not future.done():
                    future.set_result(None)
            self._idle.clear()

    async def drain(self) -> None:
        """Wait until everything that was asked for is written."""
        while self._queue or self._running:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._idle.append(future)
            await future

    def abandon(self) -> None:
        """Forget what is not yet being written; who waits for it is cancelled."""
        while self._queue:
            self._queue.popleft().future.cancel()

    def close(self) -> None:
        """End the writer thread."""
        self._thread.shutdown()


def _is_about_values(error: Exception) -> bool:
    environmental = (sqlite3.OperationalError, sqlite3.InternalError)
    if isinstance(error, sqlite3.Error):
        return not isinstance(error, environmental) and type(error) is not sqlite3.DatabaseError
    return isinstance(error, ValueError | TypeError | OverflowError)
