"""What is particular to the log in PostgreSQL: addresses, errors, the schema, and its views."""

import asyncio
import builtins
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from tests.in_process import run_here
from tests.postgres import PostgresServer

from callboard.app import Callboard
from callboard.errors import (
    MissingExtra,
    StoreBusy,
    StoreError,
    StoreForeign,
    StoreTooNew,
    ValidationError,
)
from callboard.events.rows import KEYS, Change, Drop, Put, Query
from callboard.log.location import database_path, without_password
from callboard.log.postgres.errors import translate
from callboard.log.postgres.log import PostgresLog
from callboard.log.postgres.notices import pause_after
from callboard.log.postgres.views import check, statements
from callboard.log.protocol import Writing
from callboard.log.tables import shapes
from callboard.testing.log_suite_material import changing, described, happened, several

Opened = Callable[[], PostgresLog]


@pytest.fixture
async def opened(postgres_url: str) -> AsyncIterator[Opened]:
    logs: list[PostgresLog] = []

    def open_log() -> PostgresLog:
        logs.append(PostgresLog.open(postgres_url, described))
        return logs[-1]

    yield open_log
    for log in logs:
        await log.close()


def test_the_views_have_the_same_columns_as_in_sqlite(postgres: PostgresServer, postgres_url: str):
    sql = (
        "SELECT table_name, column_name, data_type, is_nullable, is_generated "
        "FROM information_schema.columns WHERE table_schema = 'public'"
    )
    found = postgres.execute(sql, postgres_url.rpartition("/")[2])
    for name in KEYS:
        shape = shapes()[name]
        columns = {str(one[1]): one[2:] for one in found if one[0] == name}
        joined = shape.readable - set(shape.defaults) - {"status"}
        assert set(columns) == shape.readable - joined
        assert {one for one, (kind, *_) in columns.items() if kind == "bigint"} == shape.numbers
        written = {one for one, (_, _, generated) in columns.items() if generated == "NEVER"}
        assert written == set(shape.defaults)
        required = {one for one, (_, nullable, _) in columns.items() if nullable == "NO"}
        assert required == shape.not_null


def use(url: str) -> None:
    """Open a database, and close it again."""

    async def use() -> None:
        async with Callboard.open(url):
            pass

    asyncio.run(use())


def failure(url: str) -> StoreError:
    with pytest.raises(StoreError) as refused:
        use(url)
    assert "secret" not in str(refused.value)
    return refused.value


def test_what_is_wrong_is_said_with_what_to_do(postgres: PostgresServer):
    missing = failure(postgres.url("nowhere").replace("postgres@", "postgres:secret@"))
    assert "no database" in missing.message
    assert "createdb" in missing.message
    port = postgres.url("postgres").replace(str(postgres.port), "1")
    assert "server is running" in failure(port).message
    assert "server is running" in failure("postgresql://no-such-host.invalid/x").message
    unknown = failure(postgres.url("postgres", user="stranger"))
    assert "stranger" in unknown.message


@contextmanager
def admitting(postgres: PostgresServer, rule: str) -> Generator[None]:
    """A role named guest, which the server admits by this rule only."""
    rules = postgres.data / "pg_hba.conf"
    before = rules.read_text()
    postgres.execute("CREATE ROLE guest LOGIN PASSWORD 'right'")
    rules.write_text(f"{rule}\nhost all guest 127.0.0.1/32 reject\n{before}")
    postgres.execute("SELECT pg_reload_conf()")
    try:
        _wait_until_refused(postgres.url("postgres", user="guest"))
        yield
    finally:
        rules.write_text(before)
        postgres.execute("SELECT pg_reload_conf()")
        postgres.execute("DROP ROLE guest")


def test_a_wrong_password_is_said(postgres: PostgresServer):
    with admitting(postgres, "host all guest 127.0.0.1/32 scram-sha-256"):
        for given in ("guest:secret", "guest"):
            refused = failure(postgres.url("postgres", user=given))
            assert "password" in refused.message


def test_a_server_that_requires_tls_is_said(postgres: PostgresServer):
    rules = postgres.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text("hostssl all guest 127.0.0.1/32 trust\nhost all postgres 127.0.0.1/32 trust\n")
    postgres.execute("SELECT pg_reload_conf()")
    try:
        _wait_until_refused(postgres.url("postgres", user="guest"))
        assert "sslmode=require" in failure(postgres.url("postgres", user="guest")).message
    finally:
        rules.write_text(before)
        postgres.execute("SELECT pg_reload_conf()")


def test_a_server_without_tls_is_said(postgres: PostgresServer):
    wanted = failure(f"{postgres.url('postgres')}?sslmode=require").message
    assert "sslmode" in wanted
    assert "ssl = on" in wanted
    text = 'connection failed: root certificate file "~/.postgresql/root.crt" does not exist'
    assert "sslrootcert" in translate(psycopg.OperationalError(text), "x").message


def test_a_server_without_free_connections_is_busy(postgres: PostgresServer):
    postgres.execute("CREATE DATABASE narrow")
    postgres.execute("CREATE ROLE one LOGIN CONNECTION LIMIT 0")
    try:
        busy = failure(postgres.url("narrow", user="one"))
        assert isinstance(busy, StoreBusy)
        assert busy.context["retry_after"] == 1
    finally:
        postgres.execute("DROP DATABASE narrow")
        postgres.execute("DROP ROLE one")


async def test_opening_blocks_nothing_and_fails_where_it_is_awaited():
    connected, held = asyncio.Event(), list[asyncio.StreamWriter]()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)
        connected.set()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    board = Callboard.open(f"postgresql://postgres@127.0.0.1:{port}/board?sslmode=disable")
    opening = asyncio.ensure_future(board.__aenter__())
    await connected.wait()
    assert not opening.done()
    silent.close()
    for writer in held:
        writer.transport.abort()
    with pytest.raises(StoreError, match="server is running"):
        await opening


async def test_an_owner_says_where_it_runs(opened: Opened):
    log = opened()
    await log.append("s", several(1), Writing(claim=True))
    host, pid, chance = log.owner.rsplit("-", 2)
    assert (host, int(pid)) == (socket.gethostname(), os.getpid())
    assert chance


def _wait_until_refused(url: str) -> None:
    """The server reads its files a moment later."""
    for _ in range(500):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            return
        time.sleep(0.01)


def test_a_replica_a_stranger_and_a_newer_schema_are_refused(postgres: PostgresServer):
    url = postgres.create()
    name = url.rpartition("/")[2]
    postgres.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert "primary" in failure(url).message
    postgres.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    postgres.execute("CREATE TABLE streams ()", name)
    with pytest.raises(StoreForeign, match="another program"):
        use(url)
    postgres.execute("DROP TABLE streams", name)
    use(url)
    postgres.execute("INSERT INTO migrations VALUES (99, 'x', 'x', 0)", name)
    with pytest.raises(StoreTooNew, match="99"):
        use(url)


def test_a_missing_privilege_is_said(postgres: PostgresServer):
    url = postgres.create()
    postgres.execute("CREATE ROLE reader LOGIN")
    try:
        refused = failure(url.replace("postgres@", "reader@"))
        assert "GRANT" in refused.message
    finally:
        postgres.execute(f"DROP DATABASE {url.rpartition('/')[2]}")
        postgres.execute("DROP ROLE reader")


def test_an_old_encoding_is_refused(postgres: PostgresServer):
    postgres.execute(
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
    )
    assert "UTF-8" in failure(postgres.url("latin")).message


async def test_several_processes_may_create_the_schema_at_once(postgres: PostgresServer):
    url = postgres.create()
    logs = [PostgresLog.open(url) for _ in range(5)]
    await asyncio.gather(*(log.head("s") for log in logs))
    await logs[0].append("s", several(1))
    assert await logs[4].head("s") == 1
    for log in logs:
        await log.close()


def test_an_address_is_shown_without_its_password():
    assert without_password("postgresql://a:b@h:1/d?x=y") == "postgresql://a@h:1/d?x=y"
    assert without_password("postgresql://a@h/d?password=b&x=y") == "postgresql://a@h/d?x=y"
    assert without_password("postgresql://a:b/c@h/d") == "postgresql://…"
    for known in ("a@h:1,i/d", "[::1]/d", "a@[::1]:2/d", "/d?host=/run"):
        assert without_password(f"postgresql://{known}") == f"postgresql://{known}"
    for wrong in ("a%zz@h/x", "a:b%zz@h/x", "a:b/c@h/x"):
        with pytest.raises(ValidationError, match="percent-encoded") as refused:
            PostgresLog.open(f"postgresql://{wrong}")
        assert "b%" not in refused.value.message
    one, two = (database_path(f"postgresql://ada:{word}@host/db") for word in ("a", "b"))
    assert one == two != database_path("postgresql://ada@host/other")


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    real = builtins.__import__

    def missing(name: str, *rest: object, **more: object) -> object:
        if name.startswith("callboard.log.postgres"):
            raise ImportError(name=name)
        return real(name, *rest, **more)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtra, match=r"callboard\[postgres\]"):
        Callboard.open("postgresql://host/db")


async def test_a_board_opens_on_postgresql(postgres_url: str, tmp_path: Path):
    async with Callboard.open(postgres_url) as board:
        await board.log.append("s", several(2))
        with pytest.raises(ValidationError, match="pg_dump"):
            await board.backup(tmp_path / "copy")
        with pytest.raises(ValidationError, match="autovacuum"):
            await board.compact()
    async with Callboard.open(postgres_url) as board:
        assert await board.log.head("s") == 2


def test_a_log_can_be_used_in_one_loop_after_another(postgres_url: str):
    log = PostgresLog.open(postgres_url)
    asyncio.run(_append(log))
    asyncio.run(_append(log))
    assert asyncio.run(_closed(log)) == 2


async def _append(log: PostgresLog) -> None:
    await log.append("s", [happened()], Writing(claim=True))


async def _closed(log: PostgresLog) -> int:
    head = await log.head("s")
    await log.close()
    return head


async def test_what_others_did_meanwhile_is_not_overwritten(opened: Opened):
    mine, other = opened(), opened()
    await mine.append("s", several(1))
    await other.append("s", [], Writing(settle=True))
    await mine.append("s", several(1))
    lease = await other.lease("s")
    assert lease is not None
    assert lease.settled == 1


async def test_who_writes_is_told_its_own_length_among_the_commits_of_others(opened: Opened):
    mine, other = opened(), opened()
    heads: list[int | None] = []
    appended: list[str] = []
    heard = asyncio.Event()
    await mine.head("s")
    mine.on_change("s", heads.append)
    mine.on_change("t", lambda head: heard.set())
    mine.on_append(appended.extend)
    # What the other one writes in between makes this one look, and find its own commit.
    await asyncio.gather(other.append("t", several(1)), mine.append("s", several(2)))
    await other.append("t", several(1))
    async with asyncio.timeout(5):
        await heard.wait()
    assert set(heads) == {2}
    assert appended == ["s"]


def test_notices_gather_for_longer_on_a_busy_machine():
    assert pause_after(0.0005) == pytest.approx(0.005)
    assert pause_after(0.005) == pytest.approx(0.02)
    assert pause_after(3.0) == pytest.approx(0.05)


async def test_a_board_that_is_connected_does_not_ask_again(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
):
    async with Callboard.open(postgres_url) as board:
        monkeypatch.delattr(PostgresLog, "last_sequence")
        await board.connect()


async def test_nul_in_a_row_is_replaced(opened: Opened):
    log = opened()
    row = {"id": "s", "workflow": "a\x00b", "created_at": 1}
    await log.append("s", [changing(Put("sessions", row))])
    (found,) = await log.rows(Query("sessions", {"workflow": "a\x00b"}))
    assert found["workflow"] == "a\N{REPLACEMENT CHARACTER}b"


def test_changes_of_a_shape_are_one_statement():
    rows = [Put("wakeups", {"session": f"s{n}", "key": "k", "at": n}) for n in range(5)]
    moves = [Change("wakeups", {"session": f"t{n}", "key": "k"}, add={"at": n}) for n in range(5)]
    drops = [Drop("wakeups", {"session": f"u{n}", "key": "k"}) for n in range(5)]
    mixed = [one for three in zip(rows, moves, drops, strict=True) for one in three]
    assert len(list(statements(check(mixed)))) == 3
    # What names rows by only a part of their key may concern those of the others.
    mixed.append(Change("wakeups", {"session": "s1"}, {"at": 9}))
    assert len(list(statements(check(mixed)))) > 3


def test_commands_work_on_postgresql(postgres_url: str, tmp_path: Path):
    def run(*words: str) -> tuple[int, str]:
        env = {**os.environ, "CALLBOARD_DB": postgres_url}
        code, out, err = run_here(words, tmp_path, env)
        return code, out + err

    assert run("token", "create", "--name", "ci", "--scope", "read")[0] == 0
    assert "ci" in run("token", "list")[1]
    assert run("rebuild")[0] == 0
    assert run("inbox")[0] == 0
    code, said = run("backup", "x")
    assert (code, "pg_dump" in said) == (2, True)
    found = run("doctor")[1]
    assert postgres_url in found
