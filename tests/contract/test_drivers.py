"""Every driver keeps every promise, with workers in processes of their own."""

import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.postgres import PostgresServer

from callboard.drivers.choice import Driven, choose_driver
from callboard.drivers.watching import Dispatcher
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import EventLog
from callboard.state.rows import project
from callboard.testing.driver_suite import DriverContract
from callboard.testing.driver_suite_material import FLOW, Fleet

_JOBS = "SELECT count(*) FROM procrastinate_jobs"
_EMPTY = """
DO $$ BEGIN
    IF to_regclass('procrastinate_jobs') IS NOT NULL THEN
        TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE;
    END IF;
END $$
"""


class PostgresFleet(Fleet):
    """One driver, on a PostgreSQL database."""

    def __init__(self, folder: Path, postgres: PostgresServer, name: str) -> None:
        super().__init__(folder)
        self.postgres = postgres
        self.name = name
        self.url = postgres.emptied()
        self.database = self.url.rpartition("/")[2]
        postgres.execute(_EMPTY, self.database)

    def open_log(self) -> EventLog:
        return PostgresLog.open(self.url, project)

    def driver(self, driven: Driven, *, works: bool) -> Dispatcher:
        name = "none" if self.name == "local" and not works else self.name
        return choose_driver(name, driven, 16, works=works)

    def command(self, *options: str) -> Sequence[str]:
        command = [sys.executable, "-m", "callboard", "worker", str(FLOW), "--json"]
        return [*command, "--driver", self.name, "--db", self.url, *options]

    async def jobs(self) -> int:
        if self.name == "local":
            return 0
        [(count,)] = self.postgres.execute(_JOBS, self.database)
        return int(str(count))

    @asynccontextmanager
    async def outage(self) -> AsyncGenerator[None]:
        self.postgres.stop(signal.SIGQUIT)
        try:
            yield
        finally:
            self.postgres.start()


# tests/faults/test_watching.py shows most of it on a file, quickly.
@pytest.mark.long
class TestLocalDriver(DriverContract):
    @pytest.fixture
    def fleet(self, tmp_path: Path, postgres: PostgresServer) -> Fleet:
        return PostgresFleet(tmp_path, postgres, "local")


class TestProcrastinateDriver(DriverContract):
    @pytest.fixture
    def fleet(self, tmp_path: Path, postgres: PostgresServer) -> Fleet:
        return PostgresFleet(tmp_path, postgres, "procrastinate")
