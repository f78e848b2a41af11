"""What is particular to the log on SQLite."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import get_ident
from typing import Any

import pytest

from callboard.errors import PositionConflict, StoreBusy, StoreCorrupt, StoreError, StoreFull
from callboard.events.envelope import Event
from callboard.events.rows import Cell, Put, Query
from callboard.log.owners import Heartbeat
from callboard.log.protocol import Base, Portion, Writing
from callboard.log.records import StoredEvent, restore
from callboard.log.sqlite import ancestry as sqlite_ancestry
from callboard.log.sqlite import commit as sqlite_commit
from callboard.log.sqlite import reader as sqlite_reader
from callboard.log.sqlite import writer as sqlite_writer
from callboard.log.sqlite.errors import translate
from callboard.log.sqlite.log import SqliteLog
from callboard.log.sqlite.setup import live_folder
from callboard.log.sqlite.views import select
from callboard.log.write_lock import Turnstile
from callboard.testing.log_suite_material import (
    PATIENCE,
    changing,
    completed,
    described,
    happened,
    intent,
    places,
    session_row,
    several,
)


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[SqliteLog]:
    opened = SqliteLog.open(tmp_path / "log.db", described)
    yield opened
    await opened.close()


@contextmanager
def somebody_else_writing(log: SqliteLog) -> Generator[None]:
    """Hold the lock as another process would."""
    turnstile = Turnstile(live_folder(log.path))
    turnstile.enter(1)
    yield
    turnstile.close()


def commits(log: SqliteLog) -> list[str]:
    """Every COMMIT from now on, as it happens."""
    seen: list[str] = []

    def trace(statement: str) -> None:
        if statement == "COMMIT":
            seen.append(statement)

    log._database.set_trace_callback(trace)
    return seen


async def test_appends_of_one_turn_share_a_commit(log: SqliteLog):
    seen = commits(log)
    await asyncio.gather(*(log.append(f"s{number}", several(2)) for number in range(20)))
    assert len(seen) == 1
    await log.append("s0", several(1))
    assert len(seen) == 2


async def test_what_changes_nothing_commits_nothing(log: SqliteLog):
    await log.append("s", several(1), Writing(claim=True))
    seen = commits(log)
    await log.append("s", [])
    await log.append("s", [], Writing(claim=True))
    with pytest.raises(PositionConflict):
        await log.append("s", several(1), Writing(expect=5))
    assert seen == []


async def test_a_very_large_turn_is_several_commits(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sqlite_writer, "_LARGEST", 10)
    seen = commits(log)
    appended = await asyncio.gather(*(log.append("s", several(4)) for _ in range(10)))
    assert len(seen) == 4
    assert [each.head for each in appended] == list(range(4, 41, 4))


async def test_a_slow_disk_is_waited_for_in_a_thread(log: SqliteLog):
    log._writer._pace._average = 1.0
    await asyncio.gather(*(log.append("s", several(1)) for _ in range(5)))
    for _ in range(40):
        await log.append("s", several(1))
    assert places(await log.read("s")) == list(range(1, 46))
    assert log._writer._pace._average < 1.0


async def test_what_is_large_is_restored_in_a_thread(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
):
    where: list[tuple[str, bool]] = []

    def noting(stored: StoredEvent, *given: Any) -> Event:
        event = restore(stored, *given)
        where.append((stored.name, get_ident() == loop))
        return event

    loop, large = get_ident(), "x" * 5_000_000
    monkeypatch.setattr(sqlite_reader, "restore", noting)
    await log.append("s", [happened("small"), completed(large), happened("small")])
    await log.append("s", [intent([large, 1], {0: 2}), happened("note", {"text": large})])
    expected = [
        ("small", True),
        ("agent:completed", False),
        ("small", True),
        ("state:intent", False),
        ("note", False),
    ]
    events = await log.read("s")
    assert where == expected
    assert [event.payload for event in events] == [
        {},
        {"agent": "a", "output": large},
        {},
        {
            "patches": [
                {"op": "add", "path": "/0", "value": large},
                {"op": "add", "path": "/1", "value": 1},
            ]
        },
        {"text": large},
    ]
    where.clear()
    assert [event for _, event in await log.read_all(0)] == events
    assert where == expected
    assert places(await log.read("s", limit=Portion(10, 6_000_000))) == [1, 2, 3, 4]


def test_a_disk_is_slow_when_it_is_so_for_long():
    disk = sqlite_writer.DiskPace()
    disk.note(5.0)
    assert disk.quick()
    for _ in range(10):
        disk.note(0.008)
    assert not disk.quick()
    assert sum(disk.quick() for _ in range(320)) == 10
    for _ in range(30):
        disk.note(0.0005)
    assert disk.quick()


async def test_appends_in_the_thread_keep_their_order_and_are_refused_alone(log: SqliteLog):
    log._writer._pace._average = 1.0
    outcomes = await asyncio.gather(
        log.append("s", several(1), Writing(expect=0)),
        log.append("s", several(1), Writing(expect=0)),
        log.append("t", [changing(session_row("t", workflow=None))]),
        log.append("s", several(1), Writing(expect=1)),
        return_exceptions=True,
    )
    names = [type(outcome).__name__ for outcome in outcomes]
    assert names == ["Appended", "SessionExists", "StoreError", "Appended"]


async def test_a_caller_cancelled_while_the_thread_writes_loses_nothing(log: SqliteLog):
    with somebody_else_writing(log):
        first = asyncio.ensure_future(log.append("s", several(1)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second = asyncio.ensure_future(log.append("s", several(1)))
        third = asyncio.ensure_future(log.append("s", several(1)))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
    # The first was being written and stays; the second had not been begun.
    assert (await third).head == 2


async def test_a_value_that_no_column_takes_is_its_own_appends_fault(log: SqliteLog):
    too_large = Put("wakeups", {"session": "a", "key": "k", "at": 2**63})
    outcomes = await asyncio.gather(
        log.append("a", several(1)),
        log.append("b", [changing(too_large)]),
        log.append("c", several(1)),
        return_exceptions=True,
    )
    assert [type(outcome).__name__ for outcome in outcomes] == [
        "Appended",
        "StoreError",
        "Appended",
    ]
    assert isinstance(outcomes[1], StoreError)
    assert isinstance(outcomes[1].__cause__, OverflowError)
    assert await log.rows(Query("wakeups")) == []


async def test_an_error_of_the_database_is_everyones(log: SqliteLog):
    await log.append("s", several(1))
    log._database.execute("ALTER TABLE events RENAME TO hidden")
    outcomes = await asyncio.gather(
        log.append("s", several(1)), log.append("t", several(1)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreError] * 2
    assert outcomes[0] is not outcomes[1]
    log._database.execute("ALTER TABLE hidden RENAME TO events")
    assert (await log.append("s", several(1))).head == 2


async def test_writing_one_by_one_may_fail_as_well(log: SqliteLog, monkeypatch: pytest.MonkeyPatch):
    begin = log._committer.begin
    begun: list[bool] = []

    def only_once() -> bool:
        if begun:
            raise sqlite3.OperationalError("gone")
        begun.append(begin())
        return True

    monkeypatch.setattr(log._committer, "begin", only_once)
    wrong = changing(session_row("s", workflow=None))
    outcomes = await asyncio.gather(
        log.append("s", [wrong]), log.append("t", several(1)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreError] * 2
    monkeypatch.undo()
    await log.append("t", several(1), Writing(expect=0))


async def test_a_database_that_cannot_begin_fails_every_append(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
):
    def gone() -> bool:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(log._committer, "begin", gone)
    with pytest.raises(StoreError, match="disk I/O error"):
        await log.append("s", several(1))


async def test_few_streams_are_remembered(log: SqliteLog, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_commit, "_REMEMBERED", 4)
    monkeypatch.setattr(sqlite_ancestry, "_REMEMBERED", 4)
    for number in range(12):
        await log.append(f"s{number}", several(1), Writing(claim=True))
        await log.read(f"s{number}")
    assert len(log._committer._streams) <= 4
    assert len(log._reader.ancestry._keys) <= 4
    assert len(log._reader.ancestry._parts) <= 4
    assert (await log.append("s0", several(1), Writing(expect=1, epoch=1))).epoch == 1


async def test_a_fork_is_flat(log: SqliteLog):
    """However deep the forks, a position is found at the stream that it was appended to."""
    await log.append("s0", several(3))
    for number in range(20):
        await log.append(f"s{number + 1}", [], Writing(base=Base(f"s{number}", 3)))
    assert len(log._reader.ancestry.segments("s20", 0, 3)) == 1


async def test_reading_gives_way(log: SqliteLog, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_reader, "_LONGEST", 0.0)
    await log.append("s", several(10))
    await log.append("fork", several(2), Writing(base=Base("s", 8)))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    assert places(await log.read("fork", limit=9)) == list(range(1, 10))
    counting.cancel()
    assert turns >= 8
    tail = log.tail_all()
    assert [(await anext(tail))[1].position for _ in range(12)] == [*range(1, 11), 9, 10]


async def test_rebuilding_does_not_hold_the_loop_up(log: SqliteLog):
    await asyncio.gather(*(log.append(f"s{n}", [changing(session_row(f"s{n}"))]) for n in range(9)))
    with somebody_else_writing(log):
        rebuilding = asyncio.ensure_future(log.rebuild())
        waiting = asyncio.ensure_future(log.append("s0", several(1)))
        for _ in range(10):
            assert len(await log.rows(Query("sessions"))) == 9
            await asyncio.sleep(0)
        assert not rebuilding.done()
    assert await rebuilding == 9
    assert (await waiting).head == 2


async def test_a_rebuild_that_the_database_refuses(log: SqliteLog):
    await log.append("s", [changing(session_row("s"))])
    log._database.execute("ALTER TABLE wakeups RENAME TO hidden")
    with pytest.raises(StoreError):
        await log.rebuild()
    log._database.execute("ALTER TABLE hidden RENAME TO wakeups")
    assert len(await log.rows(Query("sessions"))) == 1


@pytest.mark.parametrize(
    "query",
    [
        Query("human_interactions", holds=("assigned_to", ['"ada"'])),
        Query("human_interactions", {"type": "choice"}),
        Query("human_interactions", {"status": "completed", "workflow": "w"}),
    ],
)
async def test_what_no_index_finds_does_not_hold_the_loop_up(log: SqliteLog, query: Query):
    others: list[str] = []
    asyncio.get_running_loop().call_soon(others.append, "ran")
    await log.rows(query)
    assert others


def test_a_log_may_be_used_in_one_loop_after_another(tmp_path: Path):
    log = SqliteLog.open(tmp_path / "log.db")

    async def use(position: int) -> None:
        appended = await log.append("s", several(1), Writing(claim=True))
        assert appended.head == position
        log._writer._pace._average = 1.0

    async def abandon() -> None:
        with somebody_else_writing(log):
            task = asyncio.ensure_future(log.append("s", several(1)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()

    asyncio.run(use(1))
    asyncio.run(use(2))
    asyncio.run(abandon())
    asyncio.run(log.append("s", several(1)))
    asyncio.run(log.close())


async def test_the_heart_beats_once_there_is_a_lease(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
):
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1

    monkeypatch.setattr(log.owners, "beat", beat)
    await log.append("s", several(1))
    assert beats == 0
    await log.append("s", several(1), Writing(claim=True))
    await log.append("t", several(1), Writing(claim=True))
    assert beats == 1


async def test_the_heart_goes_on_beating(log: SqliteLog, monkeypatch: pytest.MonkeyPatch):
    beaten = asyncio.Event()
    times = 0

    def beat() -> None:
        nonlocal times
        times += 1
        if times == 3:
            beaten.set()

    log.owners.beat_every = 0.0
    monkeypatch.setattr(log.owners, "beat", beat)
    heart = Heartbeat(log.owners)
    heart.start()
    async with asyncio.timeout(PATIENCE):
        await beaten.wait()
    heart.stop()


async def test_closing_forgets_those_who_listen(tmp_path: Path):
    log = SqliteLog.open(tmp_path / "log.db")
    log.on_change("s", lambda head: None)
    assert len(list((tmp_path / "log.db-live").glob("*.sock"))) == 1
    await log.close()
    assert list((tmp_path / "log.db-live").glob("*.sock")) == []
    with pytest.raises(StoreError, match="closed"):
        log.on_change("s", lambda head: None)


async def test_the_socket_is_there_from_the_first_listener_to_the_end(
    log: SqliteLog, tmp_path: Path
):
    def sockets() -> int:
        return len(list((tmp_path / "log.db-live").glob("*.sock")))

    assert sockets() == 0
    undo = log.on_change("s", lambda head: None)
    other = log.on_change("t", lambda head: None)
    undo()
    assert sockets() == 1
    other()
    assert sockets() == 1
    await log.close()
    assert sockets() == 0


async def test_a_listener_that_fails_does_not_fail_the_append(log: SqliteLog):
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))

    def fails(head: int | None) -> None:
        raise ZeroDivisionError

    undo = log.on_change("s", fails)
    await log.append("s", several(1))
    await asyncio.sleep(0)
    undo()
    assert len(failures) == 1


async def test_an_error_while_looking_is_left_to_who_listens(
    log: SqliteLog, monkeypatch: pytest.MonkeyPatch
):
    told = asyncio.Event()
    undo = log.on_change("s", lambda head: told.set())

    def broken() -> int:
        raise sqlite3.DatabaseError("malformed")

    monkeypatch.setattr(log._reader, "data_version", broken)
    log._news.look()
    await told.wait()
    undo()


async def test_a_tail_of_a_damaged_log_fails_with_the_reason(log: SqliteLog):
    tail = log.tail("s")
    waiting = asyncio.ensure_future(anext(tail))
    await asyncio.sleep(0)
    log._reading.close()
    log.listeners.wake_all()
    with pytest.raises(StoreError):
        await waiting


async def test_closing_while_a_tail_reads_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite_reader, "_LONGEST", 0.0)
    log = SqliteLog.open(tmp_path / "log.db")
    await log.append("s", several(20))

    async def everything() -> int:
        return len([event async for event in log.tail("s")])

    tail = asyncio.ensure_future(everything())
    await asyncio.sleep(0)
    await log.close()
    async with asyncio.timeout(PATIENCE):
        assert await tail == 0


async def test_a_crash_cancels_what_had_not_been_begun(tmp_path: Path):
    log = SqliteLog.open(tmp_path / "log.db")
    appending = asyncio.ensure_future(log.append("s", several(1)))
    await asyncio.sleep(0)
    log.crash()
    with pytest.raises(asyncio.CancelledError):
        await appending
    await log.close()
    again = SqliteLog.open(tmp_path / "log.db")
    assert await again.head("s") == 0
    await again.close()


async def test_leases_that_cannot_be_given_back_do_not_stop_closing(tmp_path: Path):
    log = SqliteLog.open(tmp_path / "log.db", lock_timeout=0.01)
    other = SqliteLog.open(tmp_path / "log.db")
    await log.append("s", several(1), Writing(claim=True))
    other._place.turnstile.enter(1)
    await log.close()
    other._place.turnstile.leave()
    assert (await other.append("s", [], Writing(claim=True))).epoch == 2
    await other.close()


async def test_leases_that_the_database_refuses_to_take_back(log: SqliteLog):
    await log.append("s", several(1), Writing(claim=True))
    log._database.execute("ALTER TABLE streams RENAME TO hidden")
    await log.close()


def page(where: dict[str, Cell] | None = None) -> Query:
    """A page of the list of sessions."""
    return Query("sessions", where or {}, order="created_at", descending=True, limit=100)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (Query("sessions", {"status": "waiting"}, order="created_at"), "sessions_by_status"),
        (Query("sessions", {"parent": "p"}), "sessions_by_parent"),
        (page(), "sessions_by_creation"),
        (page({"status": "completed"}), "sessions_by_status"),
        (page({"workflow": "w"}), "sessions_by_workflow"),
        (page({"parent": "p"}), "sessions_by_parent"),
        (replace(page(), beyond=(5, "s")), "sessions_by_creation"),
        (replace(page({"status": "completed"}), beyond=(5, "s")), "sessions_by_status"),
        (replace(page({"workflow": "w"}), beyond=(5, "s")), "sessions_by_workflow"),
        (replace(page({"parent": "p"}), beyond=(5, "s")), "sessions_by_parent"),
        (
            Query("human_interactions", {"status": "pending"}, one_of=("execution_id", ["a", "b"])),
            "human_interactions_by_execution (execution_id=? AND status=?)",
        ),
        (
            Query("human_interactions", {"status": "pending"}, order="created_at", limit=5),
            "human_interactions_by_status",
        ),
        (Query("human_interactions", {"execution_id": "e"}), "human_interactions_by_execution"),
        (Query("tasks", {"execution_id": "e", "status": "open"}), "tasks_by_execution"),
        (
            Query(
                "sessions",
                {"workflow": "w"},
                at_least=("created_at", 5),
                columns=("created_at", "ended"),
                binned=("created_at", 10, 0),
                count=True,
                sums=("input_tokens", "output_tokens"),
                order="created_at",
                descending=True,
                limit=5,
            ),
            "COVERING INDEX sessions_by_workflow",
        ),
        (
            Query(
                "sessions",
                at_least=("created_at", 5),
                columns=("workflow", "ended", "ended_at"),
                order="created_at",
                descending=True,
                limit=5,
            ),
            "COVERING INDEX sessions_by_creation",
        ),
        (
            Query(
                "human_interactions",
                one_of=("execution_id", ("a", "b")),
                columns=("status", "created_at", "resolved_at"),
            ),
            "COVERING INDEX human_interactions_by_execution",
        ),
        (Query("wakeups", at_most=("at", 5), order="at"), "wakeups_by_time"),
        (
            Query("checkpoints", {"session": "s"}, at_most=("position", 5), order="position"),
            "PRIMARY KEY",
        ),
        (
            Query("checkpoints", {"session": "s"}, ("position", 5), "position", True, 1),
            "PRIMARY KEY",
        ),
    ],
)
async def test_a_question_uses_its_index(log: SqliteLog, query: Query, index: str):
    sql, values = select(query)
    plan = log._reading.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
    # What is grouped is read first, in a step of its own.
    read = [step[3] for step in plan if step[3].startswith(("SEARCH", "SCAN view"))]
    assert index in read[0]
    if query.beyond:
        assert "created_at" in plan[0][3]
    assert not any("TEMP B-TREE" in step[3] for step in plan if query.order and not query.count)


async def test_what_waits_for_a_driver_is_found_by_its_index(log: SqliteLog):
    sql = "SELECT id FROM streams WHERE unsettled ORDER BY updated_at, key LIMIT 5"
    plan = log._reading.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    assert "streams_unsettled" in plan[0][3]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt),
        (sqlite3.SQLITE_CORRUPT_VTAB, StoreCorrupt),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_LOCKED, StoreBusy),
        (sqlite3.SQLITE_IOERR_READ, StoreError),
        (None, StoreError),
    ],
)
def test_errors_are_told_in_our_words(code: int | None, kind: type[StoreError]):
    error = sqlite3.OperationalError("words of SQLite")
    if code is not None:
        error.sqlite_errorcode = code
    told = translate(error, Path("here.db"))
    assert type(told) is kind
    assert "here.db" in str(told)
    assert told.context["path"] == "here.db"


async def test_an_unknown_name_is_kept(log: SqliteLog):
    await log.append("s", [happened("from:the-future", {"a": 1})])
    assert (await log.read("s"))[0].name == "from:the-future"


async def test_a_list_of_events_reused_by_its_caller_does_no_harm(log: SqliteLog):
    events = several(2)
    appending = asyncio.ensure_future(log.append("s", events))
    await asyncio.sleep(0)
    events.clear()
    assert (await appending).head == 2
    assert places(await log.read("s")) == [1, 2]


async def test_an_error_while_a_stream_is_looked_up_is_everyones(log: SqliteLog):
    log._database.execute("ALTER TABLE streams RENAME COLUMN owner TO elsewhere")
    outcomes = await asyncio.gather(
        log.append("s", several(1)), log.append("t", several(1)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [StoreError] * 2
    log._database.execute("ALTER TABLE streams RENAME COLUMN elsewhere TO owner")
    await log.append("s", several(1))


async def test_a_connection_that_broke_is_told_of(log: SqliteLog, tmp_path: Path):
    log._database.close()
    with pytest.raises(StoreError, match="closed database"):
        await log.append("s", several(1))
    log._database = log._committer._database = sqlite3.connect(tmp_path / "log.db")


async def test_whatever_link_leads_to_the_file_its_users_meet(log: SqliteLog, tmp_path: Path):
    link = tmp_path / "elsewhere.db"
    link.symlink_to("log.db")
    other = SqliteLog.open(link, described)
    await log.append("s", several(1), Writing(claim=True))
    assert other.path == log.path
    lease = await other.lease("s")
    assert lease is not None
    assert lease.alive
    await other.close()
