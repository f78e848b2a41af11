"""Sessions as jobs of Temporal: an execution says only that a session has work to do.

None exists while a session waits for a person or a time, and Temporal retries nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from typing import TypeVar

from temporalio import activity
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import (
    CustomSlotSupplier,
    FixedSizeSlotSupplier,
    PollerBehaviorSimpleMaximum,
    SlotMarkUsedContext,
    SlotPermit,
    SlotReleaseContext,
    SlotReserveContext,
    UnsandboxedWorkflowRunner,
    Worker,
    WorkerTuner,
)

from callboard.clock import Clock
from callboard.drivers.engine import JobRunner
from callboard.drivers.temporal_connection import PASSING, connect, is_away, refused
from callboard.drivers.temporal_executions import (
    Jobs,
    WorkflowJobs,
    job_id,
    queue_of,
    queue_of_worker,
)
from callboard.drivers.temporal_jobs import BEAT_EVERY, DRIVE, DriveEnd, SessionWorkflow
from callboard.errors import ServerUnreachable
from callboard.waiting import wait_any

T = TypeVar("T")

_ASKED_AT_ONCE = 100
_RESTART_AFTER = 1.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 1.0
_SHUT_DOWN_WITHIN = 5.0
_WORKFLOW_TASKS = 100

_log = logging.getLogger(__name__)


class DriveRoom(CustomSlotSupplier):
    """Lets all task queues poll while there is room for another drive.

    Fixed numbers of slots won't do: a poll that waits has a slot, so the queues that share one
    would wait for each other. What the waiting polls bring when the room is full is handed back.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._drives: set[asyncio.Task[str | None]] = set()
        self._left = asyncio.Event()

    def __iter__(self) -> Iterator[asyncio.Task[str | None]]:
        """The drives that are under way."""
        return iter(tuple(self._drives))

    @property
    def is_full(self) -> bool:
        """Whether no further session can be driven now."""
        return len(self._drives) >= self._size

    def enter(self, drive: asyncio.Task[str | None]) -> None:
        """Count a drive until it is done."""
        self._drives.add(drive)
        drive.add_done_callback(self._leave)

    def _leave(self, drive: asyncio.Task[str | None]) -> None:
        self._drives.discard(drive)
        self._left.set()

    async def reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit:
        """Wait until there is room. Temporal calls this before each poll."""
        while self.is_full:
            self._left.clear()
            await self._left.wait()
        return SlotPermit()

    def try_reserve_slot(self, ctx: SlotReserveContext) -> SlotPermit | None:
        """The same without waiting."""
        return None if self.is_full else SlotPermit()

    def mark_slot_used(self, ctx: SlotMarkUsedContext) -> None:
        """Nothing to do: drives are counted when they start."""

    def release_slot(self, ctx: SlotReleaseContext) -> None:
        """Nothing to do: drives are counted until they are done."""


class TemporalEngine:
    """Starts an execution for each session that has work to do, and runs such executions.

    Temporal's own settings apply: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, or its configuration file.

    concurrency: how many sessions to drive at once; with 0, this process only starts executions.
    jobs: what an execution is.
    """

    polls = True

    def __init__(
        self,
        clock: Clock,
        workflows: Collection[str],
        concurrency: int,
        jobs: Callable[[Client], Jobs] = WorkflowJobs,
    ) -> None:
        self._clock = clock
        self._queues = [queue_of(name) for name in workflows]
        self._concurrency = concurrency
        self._make_jobs = jobs
        self._room = DriveRoom(concurrency)
        self._jobs: Jobs | None = None
        self._identity: str | None = None
        self._connecting = asyncio.Lock()
        self._runner: JobRunner | None = None
        self._workers: dict[str, Worker] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    def knows(self, workflow: str) -> bool:
        """Every workflow has a task queue, even one that is not loaded here."""
        return True

    async def start(self, runner: JobRunner) -> None:
        """Connect, and start to poll unless this process only starts executions.

        A server starts without Temporal, too: people can read and answer, and sessions wait.
        """
        self._runner = runner
        try:
            client = await self._connect()
        except ServerUnreachable as error:
            if self._concurrency or not is_away(error):
                raise
            _log.warning("%s Until then, sessions that have work to do wait.", error.message)
            return
        if self._concurrency:
            self._identity = client.identity
            queues = [*self._queues, queue_of_worker(self._identity)]
            self._tasks = [asyncio.create_task(self._work(client, one)) for one in queues]
            await runner.registered(self._identity)

    async def _connect(self) -> Client:
        client = await connect()
        jobs = self._make_jobs(client)
        try:
            await jobs.running("''")  # Not every server knows this, or permits it.
        except RPCError as error:
            if error.status not in PASSING:
                raise refused(error) from error
        self._jobs = jobs
        return client

    async def wake(self, session_id: str, workflow: str) -> int | None:
        """Have a worker drive the session. While Temporal is away, this waits."""
        await self._patiently(lambda jobs: jobs.wake(session_id, queue_of(workflow)))
        return None

    async def awaited(self, sessions: Collection[str]) -> Collection[str]:
        """Those that have an execution, queued or running.

        None if Temporal doesn't list them now. Then they are woken once more, which does no harm,
        whereas waiting for the list would keep others from being woken.
        """
        if self._jobs is None:
            return ()
        by_id = {job_id(session): session for session in sessions}
        found: list[str] = []
        try:
            for query in _queries(by_id):
                found += await self._jobs.running(query)
        except RPCError as error:
            _log.warning("Temporal doesn't list executions: %s", error.message)
        return {by_id[id] for id in found if id in by_id}

    async def heal(self) -> Collection[str]:
        """Nothing to do: executions of dead workers end when their heartbeats stop."""
        return ()

    async def stop(self, grace: float) -> None:
        """Take no more jobs, let those that run finish for `grace` seconds, then cancel them."""
        self._stopping = True
        leaving = [asyncio.create_task(one.shutdown()) for one in self._workers.values()]
        if (drives := set(self._room)) and grace > 0:
            await wait_any(self._clock.sleep(grace), asyncio.wait(drives))
        for drive in drives:
            drive.cancel()
        await asyncio.gather(*drives, return_exceptions=True)
        if leaving:  # If the server is away, they don't end.
            await asyncio.wait(leaving, timeout=_SHUT_DOWN_WITHIN)
        for task in (*leaving, *self._tasks):
            task.cancel()
        await asyncio.gather(*leaving, *self._tasks, return_exceptions=True)
        self._tasks, self._workers = [], {}

    async def _work(self, client: Client | None, queue: str) -> None:
        """Poll a task queue; if that fails, start again."""
        while not self._stopping:
            try:
                worker = self._worker(client or await connect(), queue)
                self._workers[queue] = worker
                await worker.run()
            except Exception as error:
                _log.warning("The worker of Temporal failed and is started again: %s", error)
            # A client can't have another worker for the same queue.
            client = None
            if not self._stopping:
                await self._clock.sleep(_RESTART_AFTER)

    def _worker(self, client: Client, queue: str) -> Worker:
        return Worker(
            client,
            task_queue=queue,
            workflows=[SessionWorkflow],
            activities=[self._run],
            # It neither imports nor computes anything that would have to be kept out.
            workflow_runner=UnsandboxedWorkflowRunner(),
            # The workflows of a worker that was killed would wait ten seconds for it.
            max_cached_workflows=0,
            # A poll that waits may bring a session when the room is full.
            activity_task_poller_behavior=PollerBehaviorSimpleMaximum(1),
            tuner=WorkerTuner.create_composite(
                workflow_supplier=FixedSizeSlotSupplier(_WORKFLOW_TASKS),
                activity_supplier=self._room,
                local_activity_supplier=FixedSizeSlotSupplier(1),
                nexus_supplier=FixedSizeSlotSupplier(1),
            ),
            max_heartbeat_throttle_interval=timedelta(seconds=BEAT_EVERY),
        )

    @activity.defn(name=DRIVE)
    async def _run(self, session_id: str) -> DriveEnd:
        """Drive a session to where it waits, whatever Temporal thinks of this execution meanwhile.

        An event loop that was blocked misses heartbeats; then the execution is over, but this
        process still owns the session, and no other can drive it.
        """
        if self._room.is_full or self._stopping or self._runner is None:
            return DriveEnd(driven=False)
        drive = asyncio.create_task(self._runner.drive(session_id))
        self._room.enter(drive)
        while not drive.done():
            if activity.is_worker_shutdown() and not self._stopping:
                # This worker failed. Its successor polls when nothing runs here.
                return DriveEnd(driven=True)
            with suppress(asyncio.CancelledError):
                activity.heartbeat()
                await asyncio.wait({drive}, timeout=BEAT_EVERY)
        if drive.cancelled():
            return DriveEnd(driven=False)
        worker = drive.result()
        if worker is None or worker == self._identity:
            return DriveEnd(driven=True)
        queue = queue_of_worker(worker)
        return DriveEnd(True, await self._patiently(lambda jobs: jobs.hand_over(session_id, queue)))

    async def _patiently(self, call: Callable[[Jobs], Awaitable[T]]) -> T:
        """Make a call, again and again while Temporal is away."""
        pause = _FIRST_PAUSE
        while True:
            try:
                return await call(await self._connected())
            except RPCError as error:
                if error.status not in PASSING:
                    raise refused(error) from error
            except ServerUnreachable as error:
                if not is_away(error):
                    raise
            await self._clock.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _connected(self) -> Jobs:
        async with self._connecting:
            if self._jobs is None:
                await self._connect()
        assert self._jobs is not None
        return self._jobs


def _queries(ids: Collection[str]) -> Iterator[str]:
    """Lists of ids for queries."""
    rest = iter(ids)
    while part := list(islice(rest, _ASKED_AT_ONCE)):
        yield ", ".join(f"'{id}'" for id in part)
