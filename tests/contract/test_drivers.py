"""Every driver keeps every promise, with workers in processes of their own."""

import signal
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client
from tests.postgres import PostgresServer
from tools.temporal_server import TemporalServer, running_temporal

from callboard.drivers.choice import Driven, choose_driver
from callboard.drivers.watching import Dispatcher
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import EventLog
from callboard.state.rows import project
from callboard.testing.driver_suite import DriverContract
from callboard.testing.driver_suite_material import FLOW, Fleet

WORKER = """
import sys
from callboard.__main__ import main
from callboard.log.postgres.log import PostgresLog

opened = PostgresLog.open
PostgresLog.open = lambda *given, **named: opened(*given, frozen_after={frozen_after}, **named)
sys.exit(main())
"""
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
        return PostgresLog.open(self.url, project, frozen_after=self.frozen_after)

    def driver(self, driven: Driven, *, works: bool) -> Dispatcher:
        name = "none" if self.name == "local" and not works else self.name
        return choose_driver(name, driven, 16, works=works)

    def other_driver(self, driven: Driven) -> Dispatcher:
        name = {"local": "procrastinate", "temporal": "temporal-standalone"}.get(self.name, "local")
        return choose_driver(name, driven, 16, works=True)

    def command(self, *options: str) -> Sequence[str]:
        program = WORKER.format(frozen_after=self.frozen_after)
        command = [sys.executable, "-c", program, "worker", str(FLOW), "--json"]
        return [*command, "--driver", self.name, "--db", self.url, *options]

    async def jobs(self) -> int:
        if self.name == "local":
            return 0
        [(count,)] = self.postgres.execute(_JOBS, self.database)
        return int(str(count))

    def outage(self) -> AbstractAsyncContextManager[None]:
        return self.log_outage()

    @asynccontextmanager
    async def log_outage(self) -> AsyncGenerator[None]:
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


class TemporalFleet(PostgresFleet):
    """A driver that uses Temporal."""

    def __init__(
        self, folder: Path, postgres: PostgresServer, temporal: TemporalServer, name: str
    ) -> None:
        super().__init__(folder, postgres, name)
        self.temporal = temporal
        self.has_own_server = True

    async def jobs(self) -> int:
        client = await Client.connect(self.temporal.address)
        running = "ExecutionStatus = 'Running'"
        workflows = await client.count_workflows(running)
        return workflows.count + (await client.count_activities(running)).count

    @asynccontextmanager
    async def outage(self) -> AsyncGenerator[None]:
        self.temporal.stop()
        try:
            yield
        finally:
            self.temporal.start()


@pytest.fixture
def temporal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TemporalServer]:
    with running_temporal(tmp_path) as server:
        monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
        yield server


class TestTemporalDriver(DriverContract):
    @pytest.fixture
    def fleet(self, tmp_path: Path, postgres: PostgresServer, temporal: TemporalServer) -> Fleet:
        return TemporalFleet(tmp_path, postgres, temporal, "temporal")


@pytest.mark.long
class TestTemporalDriverWithoutWorkflows(DriverContract):
    @pytest.fixture
    def fleet(self, tmp_path: Path, postgres: PostgresServer, temporal: TemporalServer) -> Fleet:
        return TemporalFleet(tmp_path, postgres, temporal, "temporal-standalone")
