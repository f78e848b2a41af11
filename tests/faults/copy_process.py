"""Copies a database into PostgreSQL, and is killed: `copy_process.py PATH URL WHAT NUMBER`."""

import asyncio
import os
import signal
import sys

from callboard.clock import SystemClock
from callboard.log.postgres import copying
from callboard.log.postgres.connections import PostgresAddress
from callboard.log.postgres.setup import set_up
from callboard.log.sqlite.log import SqliteLog


async def copy(path: str, url: str, killed_in: str, number: int) -> None:
    """Copy in small batches, say each step, and be killed in one of them."""
    copying.BATCH_EVENTS = 10
    left = number

    def told(what: str, done: int, total: int) -> None:
        nonlocal left
        print(what, done, total, flush=True)
        left -= what == killed_in
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    log, address = SqliteLog.open(path), PostgresAddress.parse(url, 30.0)
    set_up(address, SystemClock())
    await log.exclusively(
        lambda database: copying.copy_database(database, address, told, log.check_alone)
    )
    await log.close()


if __name__ == "__main__":
    asyncio.run(copy(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
