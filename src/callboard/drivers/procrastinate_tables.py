"""How procrastinate gets at its tables: over our connections, and patiently.

Its own connections give up while the server is away, and its worker then stops fetching until all
its jobs are done. Here, statements wait and are repeated. What that can leave behind is a job that
was fetched and is not run; the engine looks for those.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import psycopg
from procrastinate.connector import BaseAsyncConnector, BaseConnector, Notify, Pool
from procrastinate.exceptions import ConnectorException, NoResult, UniqueViolation
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.schema import SchemaManager
from procrastinate.types import JobToDefer
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from callboard.clock import Clock
from callboard.errors import StoreBusy, StoreError
from callboard.events.json_values import is_list
from callboard.log.postgres.connections import Link, PostgresAddress, ReadPool, connect, delays
from callboard.log.postgres.errors import is_lost, translate
from callboard.log.postgres.setup import LOCKS, MIGRATING

Found = dict[str, object]

_LISTEN_AGAIN_AFTER = 0.2
_INSERTED = '{"type": "job_inserted", "job_id": 0}'
_HAS_TABLES = "SELECT to_regclass('procrastinate_jobs') IS NOT NULL"
_FUNCTIONS = "SELECT proname::text FROM pg_proc WHERE proname = ANY (%s)"


@dataclass(frozen=True, slots=True)
class _Patient:
    """Connects, however long the server has been away: jobs have no one who waits for a reply."""

    address: PostgresAddress
    is_cut_off: bool = False

    async def connect(self) -> Link:
        return await connect(self.address)


class PatientConnector(BaseAsyncConnector):
    """Runs procrastinate's statements, each as soon as the server can be reached."""

    def __init__(self, address: PostgresAddress, clock: Clock) -> None:
        self._address = address
        self._pool = ReadPool(_Patient(address), clock)
        self._hear: Notify | None = None

    def get_sync_connector(self) -> BaseConnector:
        """This one: it is never used without an event loop."""
        return self

    async def open_async(self, pool: Pool | None = None) -> None:
        """Connections are opened when they are needed."""

    async def close_async(self) -> None:
        """Close every connection; statements that are waiting fail."""
        self._pool.close()

    async def execute_query_async(self, query: str, **arguments: object) -> None:
        """Execute a statement."""
        await self._execute(query, arguments)

    async def execute_query_one_async(self, query: str, **arguments: object) -> Found:
        """The first row of a result."""
        rows = await self._execute(query, arguments)
        if not rows:
            raise NoResult
        return rows[0]

    async def execute_query_all_async(self, query: str, **arguments: object) -> list[Found]:
        """All rows of a result."""
        return await self._execute(query, arguments)

    async def _execute(self, query: str, arguments: Mapping[str, object]) -> list[Found]:
        given = {name: _adapted(value) for name, value in arguments.items()}
        for delay in delays():
            try:
                async with self._pool.connection() as link, link.cursor(row_factory=dict_row) as at:
                    await at.execute(query.encode(), given)
                    return await at.fetchall() if at.description else []
            except psycopg.errors.UniqueViolation as error:
                name = error.diag.constraint_name
                raise UniqueViolation(constraint_name=name, queueing_lock=None) from error
            except psycopg.Error as error:
                if self._pool.closed or not is_lost(error):
                    raise ConnectorException(str(error)) from error
            except StoreBusy:
                pass
            self._pool.close_idle()
            await asyncio.sleep(delay)
        raise AssertionError  # There is always another delay.

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """Call `on_notification` for each new job, until this is cancelled."""
        self._hear = on_notification
        while True:
            with suppress(psycopg.Error):
                await self._listen(on_notification, channels)
            await asyncio.sleep(_LISTEN_AGAIN_AFTER)

    async def _listen(self, hear: Notify, channels: Iterable[str]) -> None:
        link = await connect(self._address)
        try:
            for channel in channels:
                await link.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            # Before, nothing was heard.
            await self.look_again()
            async for notice in link.notifies():
                await hear(channel=notice.channel, payload=notice.payload)
        finally:
            link.pgconn.finish()

    async def look_again(self) -> None:
        """Let the worker look for a job, as after a notification."""
        if self._hear is not None:
            await self._hear(channel="", payload=_INSERTED)


def _adapted(value: object) -> object:
    """A value as psycopg takes it: dictionaries are JSON, wherever they are."""
    if isinstance(value, dict):
        return Jsonb(value)
    if is_list(value):
        return [_adapted(one) for one in value]
    if isinstance(value, JobToDefer):
        return tuple(_adapted(one) for one in value)
    return value


class JobTable(JobManager):
    """procrastinate's jobs. A job that is gone was finished by others, and that is fine."""

    def __init__(
        self, connector: PatientConnector, registered: Callable[[int], Awaitable[None]]
    ) -> None:
        super().__init__(connector)
        self._patient = connector
        self._registered = registered

    async def register_worker(self) -> int:
        """Register a worker; it fetches jobs only after others know whose it is."""
        worker = await super().register_worker()
        await self._registered(worker)
        return worker

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """Finish a job, and look for another: one for the same session may have waited for it."""
        with suppress(ConnectorException):
            await super().finish_job(job, status, delete_job)
        await self._patient.look_again()


async def prepare_tables(address: PostgresAddress) -> None:
    """Create procrastinate's tables if there are none; StoreError if they are too old."""
    try:
        link = await connect(address)
        try:
            if not await _has_tables(link):
                await _create(link)
            await _check(link, address.name)
        finally:
            link.pgconn.finish()
    except psycopg.Error as error:
        raise translate(error, address.name) from error


async def _has_tables(link: Link) -> bool:
    row = await (await link.execute(_HAS_TABLES)).fetchone()
    return row is not None and row[0]


async def _create(link: Link) -> None:
    # Two processes may start at the same time; the connection's end frees the lock.
    await link.execute("SELECT pg_advisory_lock(%s, %s)", (LOCKS, MIGRATING))
    if not await _has_tables(link):
        async with link.transaction():
            await link.execute(SchemaManager.get_schema().encode())


async def _check(link: Link, place: str) -> None:
    needed = set(re.findall(r"CREATE FUNCTION (procrastinate_\w+)", SchemaManager.get_schema()))
    found = await (await link.execute(_FUNCTIONS, (sorted(needed),))).fetchall()
    if missing := needed - {name for (name,) in found}:
        raise StoreError(
            f"The tables of procrastinate in {place} are older than the installed procrastinate "
            f"({min(missing)} is missing). Apply its migrations, in order: "
            f"{SchemaManager.get_migrations_path()}",
            path=place,
        )
