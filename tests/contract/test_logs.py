"""Every log keeps every promise."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard.events.rows import Projection
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import EventLog, no_views
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite import LogContract
from callboard.testing.log_suite_material import OpenLog


class TestMemoryLog(LogContract):
    @pytest.fixture
    async def open_log(self) -> AsyncIterator[OpenLog]:
        memory = SharedMemory()
        opened: list[MemoryLog] = []

        def open_log(project: Projection = no_views) -> EventLog:
            opened.append(MemoryLog(project, memory=memory))
            return opened[-1]

        yield open_log
        for log in opened:
            await log.close()

    def kill(self, log: EventLog) -> None:
        assert isinstance(log, MemoryLog)
        log.crash()


class TestSqliteLog(LogContract):
    @pytest.fixture
    async def open_log(self, tmp_path: Path) -> AsyncIterator[OpenLog]:
        opened: list[SqliteLog] = []

        def open_log(project: Projection = no_views) -> EventLog:
            opened.append(SqliteLog.open(tmp_path / "log.db", project))
            return opened[-1]

        yield open_log
        for log in opened:
            await log.close()

    def kill(self, log: EventLog) -> None:
        assert isinstance(log, SqliteLog)
        log.crash()


class TestPostgresLog(LogContract):
    @pytest.fixture
    async def open_log(self, postgres_url: str) -> AsyncIterator[OpenLog]:
        opened: list[PostgresLog] = []

        def open_log(project: Projection = no_views) -> EventLog:
            opened.append(PostgresLog.open(postgres_url, project))
            return opened[-1]

        yield open_log
        for log in opened:
            await log.close()

    def kill(self, log: EventLog) -> None:
        assert isinstance(log, PostgresLog)
        log.crash()
