"""The PostgreSQL log answers as the memory log does, whatever is done to both."""

from typing import ClassVar

import pytest
from hypothesis import settings
from tests.postgres import PostgresServer
from tests.properties.test_log_properties import LogMachine

from callboard.events.rows import Query, Row
from callboard.log.postgres.log import PostgresLog
from callboard.testing.faults import Mortal
from callboard.testing.log_suite_material import described


class PostgresMachine(LogMachine):
    server: ClassVar[PostgresServer]

    def create(self) -> None:
        self.url = self.server.emptied()

    def remove(self) -> None:
        pass

    async def opened(self) -> Mortal:
        return PostgresLog.open(self.url, described)

    def can_ask(self, query: Query) -> bool:
        return "\\x00" not in repr(query)

    def as_stored(self, rows: list[Row]) -> list[Row]:
        return [{name: _without_nul(cell) for name, cell in row.items()} for row in rows]

    def wrongly_marked(self) -> int:
        sql = "SELECT count(*) FROM streams WHERE unsettled <> (head > settled)"
        return int(str(self.server.execute(sql, self.url.rpartition("/")[2])[0][0]))


def _without_nul(cell: object) -> object:
    return cell.replace("\x00", "\N{REPLACEMENT CHARACTER}") if isinstance(cell, str) else cell


@pytest.fixture(autouse=True)
def server(postgres: PostgresServer) -> None:
    PostgresMachine.server = postgres


class LongPostgresMachine(PostgresMachine):
    """The same, for longer."""


PostgresMachine.TestCase.settings = settings(deadline=None, max_examples=4, stateful_step_count=12)
TestPostgresMachine = PostgresMachine.TestCase

LongPostgresMachine.TestCase.settings = settings(
    deadline=None, max_examples=40, stateful_step_count=40
)
TestLongPostgresMachine = pytest.mark.long(pytest.mark.timeout(1200)(LongPostgresMachine.TestCase))
