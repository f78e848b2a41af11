"""The file in which hooks find a server: it names one that lives, however many there are."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.board.hook_folders import connection_file, hooks_folder
from callboard.board.tokens import AccessTokens
from callboard.courier.wire import read_connection
from callboard.log.memory import MemoryLog
from callboard.server.hook_access import EVERY, NAME, HookAccess, keep_hooks_in
from callboard.testing.fake_clock import FakeClock


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


@pytest.fixture
def tokens() -> AccessTokens:
    return AccessTokens(MemoryLog().tokens, FakeClock())


@pytest.fixture
def other() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


async def started(tokens: AccessTokens, database: Path, port: int) -> HookAccess:
    return await keep_hooks_in(tokens, database, "127.0.0.1", port)


def named(database: Path) -> str:
    return connection_file(hooks_folder(database)).read_text().splitlines()[0]


def port_of(listening: socket.socket) -> int:
    return listening.getsockname()[1]


async def test_who_started_last_is_named_while_it_lives(
    tokens: AccessTokens, database: Path, other: socket.socket
):
    ours = await started(tokens, database, 1)
    await started(tokens, database, port_of(other))
    await ours.check(100.0)
    assert named(database) == f"127.0.0.1:{port_of(other)}"


async def test_when_the_named_one_is_gone_another_is(
    tokens: AccessTokens, database: Path, other: socket.socket
):
    ours = await started(tokens, database, 1)
    await started(tokens, database, port_of(other))
    secret = connection_file(hooks_folder(database)).read_text().splitlines()[1]
    await ours.check(100.0)
    other.close()
    await ours.check(100.0 + EVERY - 0.1)
    assert named(database) != "127.0.0.1:1"
    await ours.check(100.0 + EVERY)
    assert connection_file(hooks_folder(database)).read_text() == f"127.0.0.1:1\n{secret}\n"


async def test_a_server_that_takes_no_connections_for_a_while_lives(
    tokens: AccessTokens, database: Path
):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as busy:
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:  # More than it has room for: the next must wait.
            one.setblocking(False)
            one.connect_ex(busy.getsockname())
        ours = await started(tokens, database, 1)
        await started(tokens, database, port_of(busy))
        await ours.check(100.0)
        assert named(database) == f"127.0.0.1:{port_of(busy)}"
        for one in waiting:
            one.close()


@pytest.mark.parametrize("told", [None, "", "nowhere\nt\n", "127.0.0.1:99999\nt\n", "\xff"])
async def test_a_file_that_names_nobody_is_written_again(
    tokens: AccessTokens, database: Path, told: str | None
):
    ours = await started(tokens, database, 1)
    path = connection_file(hooks_folder(database))
    if told is None:
        path.unlink()
    else:
        path.write_text(told, encoding="latin-1")
    await ours.check(100.0)
    assert named(database) == "127.0.0.1:1"
    assert [one.name for one in await tokens.list()] == [NAME]


async def test_a_token_that_was_revoked_is_not_written_again(tokens: AccessTokens, database: Path):
    ours = await started(tokens, database, 1)
    path = connection_file(hooks_folder(database))
    old = path.read_text().splitlines()[1]
    await tokens.revoke((await tokens.list())[0].id)
    path.unlink()
    await ours.check(100.0)
    new = path.read_text().splitlines()[1]
    assert new != old
    found = await tokens.find(new)
    assert found is not None
    assert (found.name, found.scope) == (NAME, "hook")


async def test_a_file_that_cannot_be_written_stops_nothing(
    tokens: AccessTokens, database: Path, caplog: pytest.LogCaptureFixture
):
    ours = await started(tokens, database, 1)
    connection_file(hooks_folder(database)).unlink()
    hooks_folder(database).rename(database.with_name("away"))
    hooks_folder(database).write_text("in the way")
    await ours.check(100.0)
    assert "Cannot create" in caplog.text


@pytest.mark.parametrize(
    ("host", "written", "reached"),
    [
        ("127.0.0.1", "127.0.0.1:7", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1:7", "127.0.0.1"),
        ("::1", "[::1]:7", "::1"),
        ("::", "[::1]:7", "::1"),
        ("192.168.1.5", "192.168.1.5:7", "192.168.1.5"),
    ],
)
async def test_the_address_is_one_that_hooks_reach(
    tokens: AccessTokens, database: Path, host: str, written: str, reached: str
):
    await keep_hooks_in(tokens, database, host, 7)
    assert named(database) == written
    told = read_connection(str(hooks_folder(database)))
    assert told is not None
    assert (told.host, told.port) == (reached, 7)
