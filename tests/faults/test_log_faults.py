"""The SQLite log among processes that die, hang and fight, and on disks that fail."""

import asyncio
import itertools
import os
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.processes import StartProcess, heard, kill, tell

from callboard.errors import SessionOwned, StoreBusy, StoreCorrupt, StoreError, StoreFull
from callboard.events.envelope import Event
from callboard.events.json_values import as_text
from callboard.events.rows import KEYS, Query
from callboard.log.protocol import EventLog, Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite_material import PATIENCE, happened, several


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def address(path: Path) -> str:
    return str(path)


async def all_views(log: EventLog) -> dict[str, list[dict[str, object]]]:
    return {table: await log.rows(Query(table)) for table in KEYS}


async def check_integrity(log: SqliteLog) -> None:
    """Positions are dense, views are what the events make them, and SQLite finds no fault."""
    streams = log._reading.execute("SELECT id, head FROM streams").fetchall()
    for stream, head in streams:
        positions = [event.position for event in await log.read(stream)]
        assert positions == list(range(1, head + 1))
    live = await all_views(log)
    await log.rebuild()
    assert await all_views(log) == live
    assert log._reading.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("seed", range(5))
async def test_whatever_was_acknowledged_survives_kill_9(
    seed: int, start: StartProcess, opened: Callable[..., SqliteLog]
):
    dice = random.Random(seed)
    acknowledged: set[tuple[str, ...]] = set()
    for attempt in range(3):
        process = await start("write_for_ever", f"writer{attempt}")
        for _ in range(dice.randint(1, 120)):
            acknowledged.add(tuple((await heard(process)).split()))
        process.send_signal(signal.SIGKILL)
        rest, _ = await process.communicate()
        # The last line may be cut off in the middle of a word.
        complete = rest.decode().split("\n")[:-1]
        acknowledged |= {tuple(line.split()) for line in complete}
    log = opened()
    streams = {stream for stream, _, _ in acknowledged}
    events = {stream: await log.read(stream) for stream in streams}
    stored = {(e.session_id, str(e.position), e.id) for found in events.values() for e in found}
    assert acknowledged <= stored
    # Both events of an append are there, or neither is.
    assert all(len(found) % 2 == 0 for found in events.values())
    await check_integrity(log)


@pytest.mark.parametrize("count", [2, 4])
async def test_writers_share_a_file_and_none_starves(
    count: int, start: StartProcess, opened: Callable[..., SqliteLog]
):
    log = opened()
    writers = [await start("write_to_one_stream", f"w{number}") for number in range(count)]
    for writer in writers:
        assert await heard(writer) == "ready"
    for writer in writers:
        tell(writer, "go")
    shares: Counter[str] = Counter()
    async with asyncio.timeout(PATIENCE * 2):
        async for event in log.tail("shared"):
            writer = as_text(event.payload["writer"])
            shares[writer] += 1
            # Counted from the moment that all of them are at it.
            if len(shares) < count:
                shares = Counter(dict.fromkeys(shares, 0) | {writer: 0})
            if sum(shares.values()) >= 150 * count:
                break
    for writer in writers:
        await kill(writer)
    assert len(shares) == count
    assert min(shares.values()) >= 150 / 3
    await check_integrity(log)


async def test_this_process_takes_turns_with_another(
    start: StartProcess, opened: Callable[..., SqliteLog]
):
    log = opened()
    other = await start("write_to_one_stream", "other")
    await heard(other)
    tell(other, "go")
    mine = 0
    async with asyncio.timeout(PATIENCE):
        while await log.head("other") < 100:
            await log.append("mine", several(1), Writing(expect=mine))
            mine += 1
    assert mine >= 30


async def test_processes_that_open_a_new_file_at_once_all_succeed(
    start: StartProcess, opened: Callable[..., SqliteLog]
):
    processes = [await start("append_once", f"w{number}") for number in range(6)]
    positions = [int(await heard(process)) for process in processes]
    assert sorted(positions) == [1, 2, 3, 4, 5, 6]
    await check_integrity(opened())


async def test_a_dead_owner_is_replaced_at_once(
    start: StartProcess, opened: Callable[..., SqliteLog], path: Path
):
    owner = await start("own")
    assert await heard(owner) == "epoch 1"
    log = opened()
    with pytest.raises(SessionOwned):
        await log.append("owned", [], Writing(claim=True))
    await kill(owner)
    assert (await log.append("owned", [], Writing(claim=True))).epoch == 2
    left = {file.name for file in path.with_name("log.db-live").glob("*.lock")}
    assert left == {f"{log.owner}.lock"}


async def test_a_frozen_owner_is_replaced_and_can_append_nothing(
    start: StartProcess, opened: Callable[..., SqliteLog]
):
    owner = await start("own")
    assert await heard(owner) == "epoch 1"
    owner.send_signal(signal.SIGSTOP)
    log = opened(frozen_after=0.2)
    epoch = await claimed(log, "owned")
    await log.append("owned", several(3), Writing(epoch=epoch))
    owner.send_signal(signal.SIGCONT)
    tell(owner, "append")
    assert await heard(owner) == "OwnershipLost"
    tell(owner, "claim")
    assert await heard(owner) == "SessionOwned"
    assert await log.head("owned") == 4
    await log.append("owned", [], Writing(epoch=epoch, settle=True))
    tell(owner, "claim")
    assert await heard(owner) == f"epoch {epoch + 1}"


async def claimed(log: EventLog, stream: str) -> int:
    """Claim until it works; how long a frozen owner is waited for is the log's decision."""
    async with asyncio.timeout(PATIENCE):
        for _ in itertools.count():
            try:
                return (await log.append(stream, [], Writing(claim=True))).epoch
            except SessionOwned:
                await asyncio.sleep(0.02)
    raise AssertionError


async def test_who_holds_the_database_too_long_is_named(
    start: StartProcess, opened: Callable[..., SqliteLog]
):
    log = opened(lock_timeout=0.1)
    holder = await start("hold_the_lock")
    assert await heard(holder) == "holding"
    outcomes = await asyncio.gather(
        *(log.append("s", several(1)) for _ in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreBusy] * 3
    assert all(f"pid {holder.pid}" in str(outcome) for outcome in outcomes)
    await kill(holder)
    assert (await log.append("s", several(1))).head == 1


async def test_a_process_that_dies_with_the_lock_holds_nobody_up(
    start: StartProcess, opened: Callable[..., SqliteLog]
):
    log = opened()
    holder = await start("hold_the_lock")
    await heard(holder)
    waiting = asyncio.ensure_future(log.append("s", several(1)))
    await asyncio.sleep(0)
    await kill(holder)
    async with asyncio.timeout(PATIENCE):
        assert (await waiting).head == 1


async def test_what_another_process_appends_is_heard(
    start: StartProcess, opened: Callable[..., SqliteLog]
):
    log = opened()
    other = await start("append_when_told")
    await heard(other)
    tail = log.tail("told")
    for position in (1, 2, 3):
        tell(other, "append")
        async with asyncio.timeout(PATIENCE):
            assert (await anext(tail)).position == position


async def test_what_is_not_heard_is_seen_a_little_later(
    start: StartProcess, opened: Callable[..., SqliteLog], path: Path
):
    log = opened()
    other = await start("append_when_told")
    await heard(other)

    async def first() -> Event:
        return await anext(log.tail("told"))

    waiting = asyncio.ensure_future(first())
    await asyncio.sleep(0)
    path.with_name("log.db-live").joinpath(f"{log.owner}.sock").unlink()
    tell(other, "append")
    async with asyncio.timeout(PATIENCE):
        assert (await waiting).position == 1


async def test_a_rebuild_that_is_killed_leaves_the_views_as_they_were(
    start: StartProcess, opened: Callable[..., SqliteLog]
):
    log = opened()
    for number in range(20):
        await log.append(f"s{number}", several(100))
    live = await all_views(log)
    for lines in (1, 2):
        other = await start("rebuild_for_ever")
        for _ in range(lines):
            await heard(other)
        await kill(other)
        assert await all_views(log) == live
    await check_integrity(log)


async def test_a_full_disk_loses_nothing_and_is_got_over(opened: Callable[..., SqliteLog]):
    log = opened()
    await log.append("s", several(3))
    (pages,) = log._database.execute("PRAGMA page_count").fetchone()
    log._database.execute(f"PRAGMA max_page_count = {pages}")
    large = happened(payload={"random": random.Random(1).randbytes(20_000).hex()})
    outcomes = await asyncio.gather(
        log.append("s", several(1)),
        log.append("s", [large], Writing(claim=True)),
        log.append("t", several(1)),
        return_exceptions=True,
    )
    assert [type(outcome) for outcome in outcomes] == [StoreFull] * 3
    assert all(isinstance(o, StoreFull) and o.__cause__ for o in outcomes)
    assert await log.head("s") == 3
    assert await log.lease("t") is None
    log._database.execute("PRAGMA max_page_count = 1000000")
    assert (await log.append("s", [large], Writing(expect=3, claim=True))).epoch == 1
    assert (await log.append("t", several(1), Writing(expect=0))).head == 1
    await check_integrity(log)


async def test_another_programs_lock_is_waited_for_without_blocking(
    opened: Callable[..., SqliteLog], path: Path
):
    log = opened()
    await log.append("s", several(1))
    browser = sqlite3.connect(path, isolation_level=None)
    browser.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(log.append("s", several(1)))
    for _ in range(20):
        # The loop turns, and reading goes on.
        assert await log.head("s") == 1
        await asyncio.sleep(0)
    assert not waiting.done()
    browser.execute("COMMIT")
    browser.close()
    async with asyncio.timeout(PATIENCE):
        assert (await waiting).head == 2


async def test_another_programs_lock_is_not_waited_for_for_ever(
    opened: Callable[..., SqliteLog], path: Path
):
    log = opened(lock_timeout=0.05)
    browser = sqlite3.connect(path, isolation_level=None)
    browser.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="Another program"):
        await log.append("s", several(1))
    browser.execute("COMMIT")
    browser.close()
    assert (await log.append("s", several(1))).head == 1


async def test_another_programs_change_is_noticed(opened: Callable[..., SqliteLog], path: Path):
    """What is remembered of a stream is forgotten when anybody else has written."""
    log = opened()
    await log.append("s", several(2), Writing(claim=True))
    editor = sqlite3.connect(path, isolation_level=None)
    editor.execute("UPDATE streams SET owner = 'somebody', epoch = 7 WHERE id = 's'")
    editor.close()
    assert (await log.append("s", [], Writing(claim=True))).epoch == 8


async def test_a_damaged_page_is_reported_with_what_to_do(
    opened: Callable[..., SqliteLog], path: Path
):
    log = opened()
    await log.append("s", several(1))
    await log.close()
    intact = path.stat().st_size  # These pages hold the schema and the streams.
    log = opened()
    for _ in range(50):
        await log.append("s", [happened(payload={"random": os.urandom(500).hex()})])
    await log.close()
    data = bytearray(path.read_bytes())
    for at in range(intact, len(data), 8192):
        data[at : at + 8192] = random.Random(at).randbytes(8192)
    path.write_bytes(data)
    log = opened()
    with pytest.raises(StoreCorrupt) as damaged:
        await log.read("s")
    assert str(path) in str(damaged.value)
    assert "recover" in str(damaged.value)
    with pytest.raises(StoreError):
        await log.append("s", several(1))


async def test_a_file_that_is_no_database_is_left_alone(path: Path, tmp_path: Path):
    path.write_bytes(b"These are my notes, not a database. " * 500)
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="not a database"):
        SqliteLog.open(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["log.db"]
