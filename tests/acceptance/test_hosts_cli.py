"""`callboard pair` and `callboard hosts`: machines come and go from the command line."""

import asyncio
from pathlib import Path

import pexpect
import pytest
from tests.acceptance.cli_process import CallboardCommand

from callboard import Callboard
from callboard.board.hosts import Host
from callboard.log.presence import present

URL = "https://board.example.com"


@pytest.fixture
def command(tmp_path: Path) -> CallboardCommand:
    return CallboardCommand(tmp_path)


def known(folder: Path, *hosts: Host) -> None:
    """Machines that were connected once, each with a token."""

    async def connect() -> None:
        async with Callboard.open(folder / "t.db") as board:
            for host in hosts:
                await board.tokens.create(host.name, "hook", host=host.id)
                await board.hosts.connected(host, "0.1.0")
                await board.hosts.disconnected(host.id, board.clock.now_ms())

    asyncio.run(connect())


def test_a_machine_is_removed_by_its_name(command: CallboardCommand):
    known(command.folder, Host("atlas000", "atlas"), Host("mira0000", "mira"))
    assert "✗ unreachable" in command.here("hosts").out
    assert command.here("hosts", "remove", "atlas").out.startswith("Removed atlas.")
    assert [one["name"] for one in command.here("hosts", "--json").json] == ["mira"]
    assert [one["name"] for one in command.here("token", "list", "--json").json] == ["mira"]
    refused = command.here("hosts", "remove", "atlas", code=2)
    assert "There is no machine 'atlas'" in refused.err
    assert "callboard hosts --db t.db" in refused.err
    nowhere = command.here("start", "claude", "--host", "atlas", "--cwd", "/", code=2)
    assert "callboard hosts --db t.db" in nowhere.err


def test_of_two_machines_with_one_name_the_id_says_which(command: CallboardCommand):
    known(command.folder, Host("atlas000", "atlas"), Host("atlas001", "atlas"))
    refused = command.here("hosts", "remove", "atlas", code=2)
    assert "atlas000, atlas001" in refused.err
    assert command.here("hosts", "remove", "atlas001", "--json").json == [
        {"ok": True, "id": "atlas001"}
    ]
    assert [one["id"] for one in command.here("hosts", "--json").json] == ["atlas000"]


def test_remove_needs_a_machine(command: CallboardCommand):
    known(command.folder)
    assert "Missing argument 'HOST'" in command.here("hosts", "remove", code=2).err
    refused = command.here("hosts", "list", "atlas", code=2).err
    assert "only with `check`, `log` or `remove`" in refused


def test_a_code_comes_with_the_command_to_run(command: CallboardCommand):
    known(command.folder)
    (made,) = command.here("pair", "--url", URL, "--json").json
    assert made["command"] == f"callboard relay --server {URL} --pair {made['code']}"
    told = command.here("pair")
    assert "callboard relay --server URL --pair" in told.out
    assert "Replace URL with the server's address" in told.err
    assert "█" not in told.out


def test_a_code_comes_with_the_address_of_the_server(command: CallboardCommand):
    known(command.folder)
    for address, is_said in (("http://127.0.0.1:4100", True), ("http://10.1.2.3:4100", False)):
        with present(command.folder / "t.db", [], address, listed=False):
            told = command.here("pair")
        assert f"callboard relay --server {address} --pair" in told.out
        assert ("Only this machine can reach" in told.err) is is_said


def test_a_terminal_shows_a_qr_code(command: CallboardCommand):
    known(command.folder)
    child = command.terminal("pair", "--url", URL)
    child.expect_exact(f"--server {URL} --pair")
    child.expect("█{41}")
    child.expect(pexpect.EOF)
