"""Connections to the server: where it is, how to connect and send, and a pool for reads."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import psycopg
from psycopg import AsyncClientCursor, AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from callboard.clock import Clock
from callboard.errors import StoreBusy, StoreError, ValidationError
from callboard.log.postgres.errors import is_lost, translate

Result = TypeVar("Result")
Link = AsyncConnection[TupleRow]

WRITER = "callboard writer"
"""The application name of connections that append. They never wait for their client for long."""

LOCK_TIMEOUT = 5.0
"""Seconds that a statement waits for a lock."""

Execution = tuple[bytes, Sequence[object]]
"""A statement for psycopg, and its parameters."""

_READERS = 8
_TEXT_SIZE = 65_536
"""A text has two characters for each byte of a payload, so large payloads are sent as they are."""
_CONNECT_TIMEOUT = 10
# A lost host is noticed within 5 seconds.
_KEEPALIVE = {
    "keepalives": "1",
    "keepalives_idle": "1",
    "keepalives_interval": "1",
    "keepalives_count": "3",
    "tcp_user_timeout": "5000",
}
LOSES_HOSTS = (
    "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; "
    "SET tcp_user_timeout = '5s';"
)
"""Has the server do so too, or the locks of a lost host would be held for hours."""
_SETTINGS = (
    f"{LOSES_HOSTS} SET lock_timeout = '{LOCK_TIMEOUT}s'; "
    f"SET idle_in_transaction_session_timeout = '{LOCK_TIMEOUT * 2}s'; "
    "SET default_transaction_isolation = 'read committed'"
)
# An append that was acknowledged must be on disk, whatever the database's default is.
_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'"
)


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Where a database is. `name` is for people: it has no password."""

    conninfo: str
    name: str
    patience: float

    @classmethod
    def parse(cls, url: str, patience: float) -> "PostgresAddress":
        """Read an address as libpq does: `postgresql://user@host:port/database`."""
        try:
            given = conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            # libpq quotes what it can't read, which may be a part of the password.
            said = re.sub(r'(: )?".*"', "", str(error).strip(), flags=re.DOTALL)
            raise _not_an_address(said) from None
        if not all(one.isdecimal() for one in str(given.get("port") or 0).split(",") if one):
            raise _not_an_address("the port is not a number")
        defaults = {"connect_timeout": _CONNECT_TIMEOUT, "client_encoding": "utf8", **_KEEPALIVE}
        conninfo = make_conninfo("", **{**defaults, **given})
        return cls(conninfo, _without_password(given), patience)


def _not_an_address(why: str) -> ValidationError:
    return ValidationError(
        f"This is not a PostgreSQL address ({why}). Write "
        "postgresql://user:password@host:5432/database; special characters in the password are "
        "percent-encoded.",
        field="db",
    )


def _without_password(given: dict[str, str | int | None]) -> str:
    user = f"{given['user']}@" if given.get("user") else ""
    port = f":{given['port']}" if given.get("port") else ""
    host = str(given.get("host") or given.get("hostaddr") or "")
    # A folder with a socket isn't a host name.
    where = f"{user}{port}" if host.startswith("/") else f"{user}{host}{port}"
    socket = f"?host={host}" if host.startswith("/") else ""
    return f"postgresql://{where}/{given.get('dbname') or ''}{socket}"


async def connect(address: PostgresAddress, purpose: str = "callboard") -> Link:
    """Open a connection; every statement commits, unless in a transaction."""
    # psycopg counts on statements that an aborted pipeline didn't prepare, so writers prepare none.
    link = await AsyncConnection.connect(
        address.conninfo,
        autocommit=True,
        application_name=purpose,
        prepare_threshold=None if purpose == WRITER else 5,
    )
    try:
        await link.execute(_SETTINGS.encode())
        if purpose == WRITER:
            await link.execute(_DURABLE)
    except BaseException:
        link.pgconn.finish()
        raise
    return link


async def send_together(
    link: Link, executions: Sequence[Execution], payload_size: int
) -> TupleRow | None:
    """Send statements, which are one transaction even without BEGIN.

    Returns the row of the last one that returns rows, each of which returns exactly one.
    """
    if payload_size <= _TEXT_SIZE:
        return await _send_as_text(link, executions)
    async with link.pipeline():
        cursors = [await link.execute(sql, values) for sql, values in executions]
    for cursor in reversed(cursors):
        if cursor.description is not None:
            return await cursor.fetchone()
    return None


async def _send_as_text(link: Link, executions: Sequence[Execution]) -> TupleRow | None:
    """Send a single query that contains all values, quoted by libpq.

    Measured: this takes half the processor time of a pipeline, which sends them one by one.
    """
    cursor = AsyncClientCursor(link)
    text = b";".join(sql.replace(b"%b", b"%s") for sql, _ in executions)
    await cursor.execute(text, [value for _, values in executions for value in values])
    row: TupleRow | None = None
    while True:
        if cursor.description is not None:
            row = await cursor.fetchone()
        if not cursor.nextset():
            return row


def delays() -> Iterator[float]:
    """How long to wait before each attempt to connect again: from 50 ms, doubling to 1 s."""
    delay = 0.05
    while True:
        yield delay
        delay = min(delay * 2, 1.0)


@runtime_checkable
class AtAddress(Protocol):
    """A log in PostgreSQL, for those who also keep something in its database."""

    @property
    def address(self) -> PostgresAddress:
        """Where the database is."""
        ...


class Connecting(Protocol):
    """How a handle gets its connections."""

    @property
    def address(self) -> PostgresAddress:
        """Where the database is."""
        ...

    @property
    def is_cut_off(self) -> bool:
        """Whether the server has been away for so long that no one should wait for it."""
        ...

    async def connect(self) -> Link:
        """Open a connection."""
        ...


class ReadPool:
    """A few connections for reads and short statements, opened when they are needed."""

    def __init__(self, connecting: Connecting, clock: Clock) -> None:
        self._connecting = connecting
        self._address = connecting.address
        self._clock = clock
        self._free = asyncio.Semaphore(_READERS)
        self._idle: list[Link] = []
        self._open: set[Link] = set()
        self.closed = False

    async def run(self, work: Callable[[Link], Awaitable[Result]]) -> Result:
        """Do something that can be repeated: it is, if the connection is lost meanwhile."""
        deadline = self._clock.monotonic() + self._address.patience
        for delay in delays():
            try:
                async with self.connection() as link:
                    return await work(link)
            except Exception as error:
                if self.closed:  # A connection that was closed in use may fail in any way.
                    raise StoreError("This log is closed; open it again.") from error
                if not isinstance(error, psycopg.Error):
                    raise
                is_late = self._connecting.is_cut_off or self._clock.monotonic() > deadline
                if not is_lost(error) or is_late:
                    raise translate(error, self._address.name) from error
                self.close_idle()
            await asyncio.sleep(delay)
        raise AssertionError  # There is always another delay.

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Link]:
        """A connection of one's own, StoreBusy if there is still none after a while."""
        await self._enter()
        try:
            link = self._idle.pop() if self._idle else await self._connecting.connect()
            self._open.add(link)
            try:
                yield link
            finally:
                self._give_back(link)
        finally:
            self._free.release()

    async def _enter(self) -> None:
        try:
            async with asyncio.timeout(self._address.patience):
                await self._free.acquire()
        except TimeoutError:
            raise StoreBusy(
                f"All {_READERS} connections to {self._address.name} were in use for more than "
                f"{self._address.patience:g} s. Try again in a moment.",
                path=self._address.name,
                retry_after=1,
            ) from None

    def _give_back(self, link: Link) -> None:
        is_idle = not link.closed and link.info.transaction_status == TransactionStatus.IDLE
        if is_idle and not self.closed:
            self._idle.append(link)
            return
        self._open.discard(link)
        link.pgconn.finish()

    def close_idle(self) -> None:
        """Close what is not in use: if one connection is lost, the others usually are, too."""
        for link in self._idle:
            self._open.discard(link)
            link.pgconn.finish()
        self._idle.clear()

    def close(self) -> None:
        """Close every connection, at once."""
        self.closed = True
        for link in self._open:
            link.pgconn.finish()
        self._open.clear()
        self._idle.clear()
