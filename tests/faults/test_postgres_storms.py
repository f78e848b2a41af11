"""Many who write to one PostgreSQL log at once: nothing is lost, and everyone gets a turn."""

import asyncio
import random
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import psycopg
import pytest
from tests.faults.conftest import CHILD
from tests.faults.log_process import counting
from tests.faults.test_log_faults import heard, kill, tell
from tests.postgres import PostgresServer

from callboard.events.envelope import Event
from callboard.events.rows import Change, Put, Query, RowChange
from callboard.log.postgres.log import PostgresLog
from callboard.log.protocol import Writing
from callboard.testing.log_suite_material import happened, several

GUARD = 120.0
SHARED = ["a", "b", "c", "d"]


def crossing(event: Event) -> list[RowChange]:
    """A projection that changes the same rows with every event, in an order of the event's own."""
    if event.name == "made":
        rows = [{"id": one, "workflow": "w", "created_at": 0} for one in SHARED]
        return [Put("sessions", row) for row in rows]
    order = event.payload["order"]
    assert isinstance(order, list)
    # Each in another column, so that each is a statement.
    pairs = zip(order, ("phase", "error", "held", "title"), strict=True)
    return [Change("sessions", {"id": str(one)}, {column: event.id}) for one, column in pairs]


@pytest.fixture
async def opened(postgres_url: str) -> AsyncIterator[Callable[..., PostgresLog]]:
    async with AsyncExitStack() as stack:

        def open_log(project: Callable[[Event], list[RowChange]] = counting) -> PostgresLog:
            log = PostgresLog.open(postgres_url, project)
            stack.push_async_callback(log.close)
            return log

        yield open_log


async def test_deadlocks_end_and_no_one_starves(
    postgres: PostgresServer, postgres_url: str, opened: Callable[..., PostgresLog]
):
    name = postgres_url.rpartition("/")[2]
    postgres.execute(f"ALTER DATABASE {name} SET deadlock_timeout = '20ms'")
    try:
        logs = [opened(crossing) for _ in range(6)]
        await logs[0].append("first", [happened("made")])

        async def write(number: int) -> None:
            dice = random.Random(number)
            for _ in range(15):
                order = dice.sample(SHARED, len(SHARED))
                await logs[number].append(f"s{number}", [happened("moved", {"order": order})])

        async with asyncio.timeout(GUARD):
            await asyncio.gather(*(write(number) for number in range(len(logs))))
        for number in range(len(logs)):
            assert await logs[0].head(f"s{number}") == 15
    finally:
        postgres.execute(f"ALTER DATABASE {name} RESET deadlock_timeout")


async def test_in_a_storm_of_conflicts_everyone_gets_a_fair_share(
    opened: Callable[..., PostgresLog],
):
    logs, done = [opened() for _ in range(5)], asyncio.Event()
    shares: Counter[int] = Counter()

    async def write(number: int) -> None:
        while not done.is_set():
            await logs[number].append("s", several(1))
            shares[number] += 1
            if shares.total() >= 150:
                done.set()

    async with asyncio.timeout(GUARD):
        await asyncio.gather(*(write(number) for number in range(len(logs))))
    assert min(shares[number] for number in range(len(logs))) >= 150 / len(logs) / 4
    positions = [event.position for event in await logs[0].read("s")]
    assert positions == list(range(1, shares.total() + 1))


async def test_exactly_one_of_many_who_expect_the_same_position_wins(
    opened: Callable[..., PostgresLog],
):
    logs = [opened() for _ in range(6)]
    for position in range(10):
        results = await asyncio.gather(
            *(log.append("s", several(1), Writing(expect=position)) for log in logs),
            return_exceptions=True,
        )
        assert sum(not isinstance(one, Exception) for one in results) == 1
    assert await logs[0].head("s") == 10


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_eight_writers_and_four_tails_agree_on_100_000_events(
    postgres: PostgresServer, postgres_url: str, opened: Callable[..., PostgresLog]
):
    writers, each = 8, 12_500
    total = writers * each
    readers = [opened() for _ in range(4)]

    async def follow(log: PostgresLog) -> list[tuple[int, str, int, str]]:
        found: list[tuple[int, str, int, str]] = []
        async for sequence, event in log.tail_all():
            found.append((sequence, event.session_id, event.position, event.id))
            if len(found) == total:
                break
        return found

    children: list[Process] = []
    try:
        for number in range(writers):
            child = await asyncio.create_subprocess_exec(
                *(sys.executable, CHILD, "write_many", postgres_url, f"w{number}:{each}"),
                stdin=PIPE,
                stdout=PIPE,
            )
            children.append(child)
            assert await heard(child) == "ready"
        following = [asyncio.ensure_future(follow(log)) for log in readers]
        # A transaction in another database must not hold them up.
        with psycopg.connect(postgres.url("postgres")) as busy:
            busy.execute("CREATE TEMPORARY TABLE busy ()")
            busy.execute("SELECT pg_current_xact_id()")
            for child in children:
                tell(child, "go")
            found = await asyncio.gather(*following)
    finally:
        for child in children:
            await kill(child)
    assert [sequence for sequence, *_ in found[0]] == list(range(1, total + 1))
    assert all(one == found[0] for one in found)
    assert len({id for *_, id in found[0]}) == total
    positions: dict[str, int] = {}
    for _, stream, position, _ in found[0]:
        assert position == positions.get(stream, 0) + 1
        positions[stream] = position
    rows = await readers[0].rows(Query("sessions"))
    assert {row["id"]: row["pending"] for row in rows} == positions
