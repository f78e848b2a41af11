"""A standby takes over from a PostgreSQL server: with everything, or without the newest events."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import server_flows
from tests.faults.log_process import counting
from tests.postgres import PostgresServer, running_server
from tests.servers import TOKEN, serving

from callboard import Callboard, Client
from callboard.errors import HistoryChanged, PositionConflict, StoreError
from callboard.events.envelope import Event
from callboard.events.rows import Query
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import Writing
from callboard.testing.log_suite_material import several

GUARD = 120.0
NAME = "board"


class Pair:
    """A primary, a standby that follows it, and the address of whichever can be written to."""

    def __init__(self, primary: PostgresServer, standby: PostgresServer) -> None:
        self.primary = primary
        self.standby = standby
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        self.url = f"postgresql://postgres@{hosts}/{NAME}?target_session_attrs=read-write"

    def follow_no_more(self) -> None:
        """From now on, the standby misses what is written."""
        self.standby.execute("ALTER SYSTEM SET primary_conninfo = ''")
        self.standby.execute("SELECT pg_reload_conf()")
        _wait(lambda: not self.standby.execute("SELECT 1 FROM pg_stat_wal_receiver"))

    def catch_up(self) -> None:
        """Wait until the standby has everything that was written so far."""
        ((last,),) = self.primary.execute("SELECT pg_current_wal_lsn()")
        _wait(
            lambda: (
                self.standby.execute(f"SELECT pg_last_wal_replay_lsn() >= '{last}'") == [(True,)]
            )
        )

    def fail_over(self) -> None:
        """The primary crashes, and the standby takes over."""
        self.primary.stop()
        self.standby.execute("SELECT pg_promote()")


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GUARD
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def following() -> Generator[Pair]:
    with running_server() as primary:
        primary.execute(f"CREATE DATABASE {NAME} TEMPLATE template0")
        with running_server(primary=primary) as standby:
            _wait(lambda: bool(primary.execute("SELECT 1 FROM pg_stat_replication")))
            yield Pair(primary, standby)


@pytest.fixture
def pair() -> Iterator[Pair]:
    with following() as pair:
        yield pair


async def incarnation_after(log: PostgresLog, before: int) -> int:
    async with asyncio.timeout(GUARD):
        while log.incarnation == before:
            await asyncio.sleep(0.05)
    return log.incarnation


async def test_what_a_standby_lacks_is_noticed_and_nothing_is_built_on_it(pair: Pair):
    mine, other = PostgresLog.open(pair.url, counting), PostgresLog.open(pair.url, counting)
    try:
        await mine.append("s", several(3))
        pair.catch_up()
        async with Callboard.open(pair.url):
            pass
        with pytest.raises(StoreError, match="primary"):
            await Callboard.open(pair.standby.url(NAME))
        pair.follow_no_more()
        lost = await mine.append("s", several(2))
        assert (lost.head, await other.head("s")) == (5, 5)
        looked = asyncio.Event()
        other.on_change("another", lambda head: looked.set())
        pair.fail_over()
        with pytest.raises(PositionConflict, match="took over"):
            await mine.append("s", several(1), Writing(expect=5))
        assert (mine.incarnation, await mine.head("s")) == (2, 3)
        # Others find out by themselves, and have everyone look again.
        assert await incarnation_after(other, 1) == 2
        async with asyncio.timeout(GUARD):
            await looked.wait()
        assert (await other.append("s", several(1), Writing(expect=3))).head == 4
        found = await mine.read_all(0)
        assert [sequence for sequence, _ in found] == [1, 2, 3, 4]
        [row] = await mine.rows(Query("sessions"))
        assert row["pending"] == 4
    finally:
        await mine.close()
        await other.close()


@pytest.mark.long
async def test_a_synchronous_standby_has_everything_that_was_acknowledged(pair: Pair):
    pair.primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
    pair.primary.execute("SELECT pg_reload_conf()")
    _wait(lambda: pair.primary.execute("SELECT sync_state FROM pg_stat_replication") == [("sync",)])
    log, acknowledged = PostgresLog.open(pair.url, counting), list[str]()
    stopping = asyncio.Event()

    async def write(stream: str) -> None:
        while not stopping.is_set():
            events = several(2)
            await log.append(stream, events)
            acknowledged.extend(event.id for event in events)

    try:
        writing = [asyncio.ensure_future(write(f"s{number}")) for number in range(4)]
        await asyncio.sleep(1)
        assert acknowledged
        await asyncio.to_thread(pair.fail_over)
        # It no longer waits for a standby of its own.
        await asyncio.to_thread(
            pair.standby.execute, "ALTER SYSTEM RESET synchronous_standby_names"
        )
        before = len(acknowledged)
        await asyncio.to_thread(pair.standby.execute, "SELECT pg_reload_conf()")
        async with asyncio.timeout(GUARD):
            while len(acknowledged) < before + 20:
                await asyncio.sleep(0.05)
        stopping.set()
        await asyncio.gather(*writing)
        found = await log.read_all(0)
        assert [sequence for sequence, _ in found] == list(range(1, len(found) + 1))
        assert len({event.id for _, event in found}) == len(found)
        assert {event.id for _, event in found} == set(acknowledged)
        assert await incarnation_after(log, 1) == 2
    finally:
        await log.close()


async def test_readers_of_events_that_a_standby_lacks_are_told(pair: Pair, tmp_path: Path):
    log = PostgresLog.open(pair.url, counting)
    more = {"env": {"XDG_DATA_HOME": str(tmp_path)}, "options": [f"--db={pair.url}"]}
    try:
        async with (
            asyncio.timeout(GUARD),
            serving(tmp_path / "not.db", server_flows.__file__, **more) as server,
            Client(server.url, TOKEN) as client,
        ):
            await log.append("kept", several(2))
            pair.catch_up()
            pair.follow_no_more()
            await log.append("s", several(2))
            ((last, _),) = await log.read_all(3)
            tails: list[AsyncIterator[object]] = [
                log.tail("s"),
                log.tail_all(last - 1),
                client.tail_all(last - 1),
            ]
            for tail, count in zip(tails, (2, 1, 1), strict=True):
                for _ in range(count):
                    await anext(tail)
            kept = log.tail("kept", 1)
            await anext(kept)
            readers = [asyncio.ensure_future(_next(tail)) for tail in (*tails, kept)]
            await asyncio.to_thread(pair.fail_over)
            # What is written then gets the positions of what was lost.
            await log.append("s", several(4))
            for reading in readers[:3]:
                with pytest.raises(HistoryChanged):
                    await reading
            await log.append("kept", several(1))
            event = await readers[3]
            assert isinstance(event, Event)
            assert event.position == 3
            assert [sequence for sequence, _ in await log.read_all(0)] == list(range(1, 8))
    finally:
        await log.close()


async def _next(tail: AsyncIterator[object]) -> object:
    return await anext(tail)
