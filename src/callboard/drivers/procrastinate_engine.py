"""Sessions as jobs of procrastinate, whose queue is in the same PostgreSQL database as the log.

A job says only that a session has work to do. There is none while a session waits for a person or a
time, jobs are never retried, and finished ones are deleted.
"""

import asyncio
import logging
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress

import psycopg
from procrastinate import App, JobContext
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Status
from procrastinate.worker import Worker

from callboard.clock import Clock
from callboard.drivers.engine import JobRunner
from callboard.drivers.procrastinate_tables import JobTable, PatientConnector, prepare_tables
from callboard.errors import StoreError
from callboard.ids import keyed_id
from callboard.log.postgres.connections import PostgresAddress
from callboard.log.postgres.errors import translate
from callboard.log.registry import OwnerRegistry

TASK = "callboard.drive"
_QUEUE = "callboard."
# A queue's name is a part of the name of a channel, which PostgreSQL limits to 63 bytes.
_LONGEST_NAME = 30

_POLL_EVERY = 0.5
"""Seconds: the worker can miss a notification that comes while it looks for a job."""
_CHECK_EVERY = 2.0
_RESTART_AFTER = 1.0
_UNREGISTER_WITHIN = 2.0

_AWAITED = """
SELECT queueing_lock AS session FROM procrastinate_jobs
WHERE status = 'todo' AND queueing_lock = ANY (%(sessions)s)
UNION
SELECT lock FROM procrastinate_jobs WHERE status = 'doing' AND lock = ANY (%(sessions)s)
"""
_STALLED = """
SELECT id, lock FROM procrastinate_jobs
WHERE status = 'doing' AND task_name = %(task)s
    AND (worker_id IS NULL OR NOT worker_id::text = ANY (%(living)s))
"""
_MINE = "SELECT id FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = %(worker)s"

_log = logging.getLogger(__name__)


def queue_of(workflow: str) -> str:
    """The name of a workflow's queue: only workers that know the workflow fetch from it."""
    name = workflow.encode()
    if len(name) <= _LONGEST_NAME:
        return _QUEUE + workflow
    return f"{_QUEUE}{name[:17].decode(errors='ignore')}~{keyed_id(workflow)}"


class ProcrastinateEngine:
    """Defers a job for each session that has work to do, and runs such jobs.

    concurrency: how many sessions to drive at once; with 0, this process only defers.
    """

    polls = True

    def __init__(
        self,
        address: PostgresAddress,
        owners: OwnerRegistry,
        clock: Clock,
        workflows: Collection[str],
        concurrency: int,
    ) -> None:
        self._address = address
        self._owners = owners
        self._clock = clock
        self._queues = [queue_of(name) for name in workflows]
        self._concurrency = concurrency
        self._connector = PatientConnector(address, clock)
        self._app = App(connector=self._connector)
        self._app.task(name=TASK, pass_context=True)(self._run)
        self._runner: JobRunner | None = None
        self._worker: Worker | None = None
        self._running: set[int | None] = set()
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []

    def knows(self, workflow: str) -> bool:
        """Every workflow has a queue, even one that is not loaded here."""
        return True

    async def start(self, runner: JobRunner) -> None:
        """Prepare the tables, and start a worker unless this process only defers."""

        async def registered(worker: int) -> None:
            await runner.registered(str(worker))

        await prepare_tables(self._address)
        self._runner = runner
        self._app.job_manager = JobTable(self._connector, registered)
        if self._concurrency:
            self._tasks = [asyncio.create_task(one) for one in (self._work(), self._check())]

    async def wake(self, session_id: str, workflow: str) -> int | None:
        """Defer a job, unless one is queued already.

        One that is running doesn't count: it may be about to end, and the new one waits for it.
        """
        job = self._app.configure_task(
            TASK, queue=queue_of(workflow), lock=session_id, queueing_lock=session_id
        )
        with self._translated(), suppress(AlreadyEnqueued):
            await job.defer_async(session_id=session_id)
        return None

    async def awaited(self, sessions: Collection[str]) -> Collection[str]:
        """Those that have a job, queued or running."""
        with self._translated():
            rows = await self._connector.execute_query_all_async(_AWAITED, sessions=list(sessions))
        return {str(row["session"]) for row in rows}

    async def heal(self) -> Collection[str]:
        """Finish the jobs of dead workers; their sessions get new ones.

        Retrying them would fail if another job is queued for the session, and block it.
        """
        living = [one.described.engine_worker for one in await self._owners.list() if one.alive]
        known = [worker for worker in living if worker is not None]
        healed: list[str] = []
        with self._translated():
            for row in await self._connector.execute_query_all_async(
                _STALLED, task=TASK, living=known
            ):
                await self._fail(int(str(row["id"])))
                healed.append(str(row["lock"]))
        return healed

    async def stop(self, grace: float) -> None:
        """Fetch no more jobs, let those that run finish for `grace` seconds, then cancel them."""
        self._stopping = True
        if self._worker is not None:
            self._worker.shutdown_graceful_timeout = grace
            self._worker.stop()
        if self._tasks:
            await asyncio.wait(self._tasks[:1], timeout=grace + _UNREGISTER_WITHIN)
        # If the server is away, nothing can be finished.
        await self._connector.close_async()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def _run(self, context: JobContext, session_id: str) -> None:
        job = context.job.id
        self._running.add(job)
        try:
            if self._runner is not None:
                await self._runner.drive(session_id)
        finally:
            self._running.discard(job)

    async def _work(self) -> None:
        """Run a worker, and another one if it ends."""
        while not self._stopping:
            self._worker = Worker(
                self._app,
                queues=self._queues,
                name="callboard",
                concurrency=self._concurrency,
                fetch_job_polling_interval=_POLL_EVERY,
                delete_jobs="always",
                install_signal_handlers=False,
            )
            try:
                await self._worker.run()
            except Exception as error:
                _log.warning("The worker of procrastinate failed and is started again: %s", error)
            if not self._stopping:
                await self._clock.sleep(_RESTART_AFTER)

    async def _check(self) -> None:
        """Finish jobs that were given to this worker while the server was lost, and not run."""
        before: set[int] = set()
        while True:
            await self._clock.sleep(_CHECK_EVERY)
            worker = self._worker.worker_id if self._worker is not None else None
            with suppress(ConnectorException):
                rows = await self._connector.execute_query_all_async(_MINE, worker=worker)
                idle = {int(str(row["id"])) for row in rows} - self._running
                for job in idle & before:
                    await self._fail(job)
                before = idle - before

    async def _fail(self, job: int) -> None:
        with suppress(ConnectorException):  # Someone else has finished it.
            finish = self._app.job_manager.finish_job_by_id_async
            await finish(job, Status.FAILED, delete_job=True)

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except ConnectorException as error:
            cause = error.__cause__
            if isinstance(cause, psycopg.Error):
                raise translate(cause, self._address.name) from error
            raise StoreError(
                f"procrastinate could not use {self._address.name}: {error}",
                path=self._address.name,
            ) from error
