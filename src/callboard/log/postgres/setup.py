"""Open a database: only if it is ours and can be written to, and with an up-to-date schema."""

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow

from callboard.clock import Clock, SystemClock
from callboard.errors import StoreError, StoreForeign
from callboard.log.postgres.connections import LOSES_HOSTS, PostgresAddress
from callboard.log.postgres.errors import replica, translate
from callboard.log.tables import Applied, Migration, migrations, missing_from

LOCKS = 1_667_395_951
"""The first number of our advisory locks; the second is an owner's, or one of these."""
MIGRATING = 0
TRIMMING = -1
COPYING = -2
DISPATCHING = -3

AHEAD = 1
"""By how many versions a schema may be newer: servers are updated one after the other."""

_TABLE = """
CREATE TABLE IF NOT EXISTS migrations (
    version    bigint PRIMARY KEY,
    name       text   NOT NULL,
    checksum   text   NOT NULL,
    applied_at bigint NOT NULL
)
"""
_STATE = """
SELECT current_setting('transaction_read_only'), current_setting('server_encoding'),
    to_regclass('migrations') IS NOT NULL, to_regclass('streams') IS NOT NULL
"""
_IDLE = 10.0
"""Seconds without a statement after which the server ends a process that hangs in a migration."""
# PostgreSQL 13 and older have only one of them.
_END_IDLE = """
SELECT set_config(name, %s, false) FROM pg_settings
WHERE name IN ('idle_session_timeout', 'idle_in_transaction_session_timeout')
"""
NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
"""The server's time."""

Database = Connection[TupleRow]


def set_up(address: PostgresAddress, clock: Clock) -> int:
    """Connect, and create or migrate the schema if necessary; returns the last sequence.

    Also sets the clock. Blocks while another process migrates.
    """
    try:
        with psycopg.connect(address.conninfo, autocommit=True) as database:
            database.execute(LOSES_HOSTS.encode())
            _prepare(database, address.name, clock.now_ms())
            asked = clock.now_ms()
            row = database.execute(f"SELECT {NOW_MS}, seq FROM log".encode()).fetchone()
            assert row is not None
            keep_time(clock, asked, row[0])
            return row[1]
    except psycopg.Error as error:
        raise translate(error, address.name) from error


def keep_time(clock: Clock, asked_ms: int, told_ms: int) -> None:
    """Correct the machine's clock by the server's time; another one shows what its owner wants."""
    if isinstance(clock, SystemClock):
        clock.correct(asked_ms, told_ms)


def schema_version(address: PostgresAddress) -> int:
    """The version of a database's schema, without changing it; 0 if it has none."""
    try:
        with psycopg.connect(address.conninfo, autocommit=True) as database:
            return max(_check(database, address.name), default=0)
    except psycopg.Error as error:
        raise translate(error, address.name) from error


def _prepare(database: Database, place: str, now_ms: int) -> None:
    steps = migrations("callboard.log.postgres")
    if not missing_from(_check(database, place), steps, place, ahead=AHEAD):
        return
    database.execute(_END_IDLE, (f"{_IDLE}s",))
    # Before the transaction, which would otherwise not see tables that were created meanwhile. The
    # lock is released when the connection closes.
    database.execute("SELECT pg_advisory_lock(%s, %s)", (LOCKS, MIGRATING))
    with database.transaction():
        for step in missing_from(_check(database, place), steps, place, ahead=AHEAD):
            _apply(database, step, now_ms)


def _check(database: Database, place: str) -> Applied:
    row = database.execute(_STATE).fetchone()
    assert row is not None
    read_only, encoding, has_migrations, has_streams = row
    if read_only == "on":
        raise replica(place)
    if encoding != "UTF8":
        raise StoreError(
            f"{place} stores text as {encoding}. Create the database with UTF-8: "
            "createdb --encoding=UTF8 --template=template0 NAME",
            path=place,
        )
    if has_streams and not has_migrations:
        raise StoreForeign(
            f"{place} has tables of another program. Create a database for Callboard alone: "
            "createdb NAME",
            path=place,
        )
    if not has_migrations:
        return {}
    rows = database.execute("SELECT version, name, checksum FROM migrations").fetchall()
    return {version: (name, checksum) for version, name, checksum in rows}


def _apply(database: Database, step: Migration, now_ms: int) -> None:
    database.execute(_TABLE)
    database.execute(step.sql.encode())
    database.execute(
        "INSERT INTO migrations (version, name, checksum, applied_at) VALUES (%s, %s, %s, %s)",
        (step.version, step.name, step.checksum, now_ms),
    )
