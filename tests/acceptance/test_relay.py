"""Coding agents of another machine on the board: a home and a port of their own, on loopback."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.held_hooks import (
    PATIENCE,
    answered,
    bash,
    behavior,
    closed,
    hook,
    living_agent,
    question,
)
from tests.relays import RelayProcess, printed, relaying
from tests.servers import serving

import callboard.__main__
import callboard.hookclient
import callboard.relay.__main__ as relay_process
from callboard.relay.settings import read_settings

ROOT = str(Path(__file__).parents[2])
AS_MAC = ["-m", "tests.as_mac", "--run"]
MAC_COMMAND = [*AS_MAC, str(callboard.__main__.__file__)]


async def plates(server, count=1, **wanted):
    """The plates, once there are so many that look like this."""
    async with asyncio.timeout(PATIENCE), server.client() as http:
        while True:
            found = (await http.get("/plates")).json()["plates"]
            meant = [one for one in found if wanted.items() <= one.items()]
            if len(meant) == count:
                return meant
            await asyncio.sleep(0.02)


async def hosts(server, **wanted):
    async with asyncio.timeout(PATIENCE), server.client() as http:
        while True:
            for found in (await http.get("/hosts")).json()["hosts"]:
                if wanted.items() <= found.items():
                    return found
            await asyncio.sleep(0.02)


async def test_plates_of_another_machine_have_its_name(tmp_path, monkeypatch):
    async with (
        living_agent(monkeypatch),
        serving(tmp_path / "t.db") as server,
        relaying(tmp_path / "mac", "ada-mac", server) as relay,
    ):
        assert await printed(await relay.hook(hook("SessionStart", source="startup"))) is None
        (plate,) = await plates(server)
        assert plate["hostName"] == "ada-mac"
        assert (await hosts(server, connected=True))["id"] == plate["host"]


async def test_a_permission_is_answered_across_machines(tmp_path, monkeypatch):
    async with (
        living_agent(monkeypatch),
        serving(tmp_path / "t.db") as server,
        relaying(tmp_path / "mac", "ada-mac", server) as relay,
    ):
        held = await relay.hook(bash("PermissionRequest"), "--hold")
        asked = await question(server)
        await answered(server, asked["id"])
        assert behavior(await printed(held)) == "allow"
        await printed(await relay.hook(bash("PostToolUse")))
        found = await closed(server, asked["id"])
        assert (found["status"], found["receipt"]) == ("completed", "delivered")


async def command(
    relay: RelayProcess, *words: str, program: Sequence[str] = ("-m", "callboard")
) -> tuple[int | None, str]:
    """A command on the relay's machine: how it ended, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *program, *words, cwd=relay.home,
        env={**relay.env, "HOME": str(relay.home), "PYTHONPATH": ROOT},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    told, _ = await process.communicate()
    return process.returncode, told.decode()


async def test_a_machine_says_how_its_relay_is(tmp_path, monkeypatch):
    async with (
        living_agent(monkeypatch),
        serving(tmp_path / "t.db") as server,
        relaying(tmp_path / "mac", "ada-mac", server) as relay,
    ):
        (tmp_path / "mac" / ".claude").mkdir()
        install = ("hooks", "install", "--agent", "claude", "--server", server.url)
        assert (await command(relay, *install))[0] == 0
        await printed(await relay.hook(hook("SessionStart", source="startup")))
        await plates(server)
        await hosts(server, connected=True)
        async with asyncio.timeout(PATIENCE):
            while "last delivery" not in (told := (await command(relay, "doctor"))[1]):
                await asyncio.sleep(0.1)
        assert f"The relay is connected to {server.url}" in told
        assert (
            f"The relay is connected to {server.url}"
            in ((await command(relay, "hooks", "status"))[1])
        )
        await server.stop()
        async with asyncio.timeout(PATIENCE):
            while "can't reach" not in (told := (await command(relay, "doctor"))[1]):
                await asyncio.sleep(0.1)
        assert f"The relay can't reach {server.url}:" in told


async def test_a_mac_asks_and_is_answered(tmp_path, monkeypatch):
    """The relay, its hooks and `watch`, with /proc hidden from each of them."""
    async with (
        living_agent(monkeypatch) as agent,
        serving(tmp_path / "t.db") as server,
        relaying(tmp_path / "mac", "ada-mac", server) as relay,
    ):
        await relay.stop()
        relay.command = [*AS_MAC, str(relay_process.__file__)]
        relay.hook_command = [*AS_MAC, str(callboard.hookclient.__file__)]
        await relay.start(str(relay.folder), "1")
        assert await printed(await relay.hook(hook("SessionStart", source="startup"))) is None
        (plate,) = await plates(server, status="idle")
        assert (plate["pid"], plate["hostName"]) == (agent.pid, "ada-mac")
        held = await relay.hook(bash("PermissionRequest"), "--hold")
        asked = await question(server)
        await answered(server, asked["id"])
        assert behavior(await printed(held)) == "allow"
        await printed(await relay.hook(bash("PostToolUse")))
        await closed(server, asked["id"])
        agent.kill()
        await agent.wait()
        await plates(server, status="closed")
        assert not any("Traceback" in one for one in relay.log), relay.log


@pytest.mark.parametrize("program", [["-m", "callboard"], MAC_COMMAND], ids=["here", "as a Mac"])
async def test_a_watched_agent_is_on_the_board_before_its_first_hook(tmp_path, program):
    async with (
        serving(tmp_path / "t.db") as server,
        relaying(tmp_path / "mac", "ada-mac", server) as relay,
    ):
        (tmp_path / "mac" / ".claude").mkdir()
        install = ("hooks", "install", "--agent", "claude", "--server", server.url)
        assert (await command(relay, *install))[0] == 0
        watch = ("watch", "--", "sh", "-c", "read x <go")
        os.mkfifo(tmp_path / "mac" / "go")
        watching = asyncio.create_task(command(relay, *watch, program=program))
        (plate,) = await plates(server, status="starting")
        assert (plate["hostName"], plate["agent"]) == ("ada-mac", "claude")
        await asyncio.to_thread((tmp_path / "mac" / "go").write_text, "\n")
        assert (await watching)[0] == 0
        await plates(server, status="closed")


async def on_server(server, *words, expected=0):
    """What a command prints on the server's machine."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "callboard", *words, f"--db={server.db}",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    told, _ = await process.communicate()
    assert process.returncode == expected, told
    return told.decode()


async def test_a_token_without_its_secret_is_shown(tmp_path, monkeypatch):
    async with (
        serving(tmp_path / "t.db") as server,
        relaying(tmp_path / "mac", "ada-mac", server) as relay,
    ):
        await hosts(server, connected=True)
        assert "without its relay's secret" not in await on_server(server, "hosts")
        token = read_settings(relay.folder).token
        async with server.client() as http:
            stolen = {"Authorization": f"Bearer {token}"}
            told = await http.post("/relay/commands", json={"name": "x"}, headers=stolen)
        assert told.status_code == 401
        shown = " ".join((await on_server(server, "hosts")).split())
        assert "someone used the token of ada-mac without its relay's secret" in shown
        assert "callboard token list" in shown


async def test_a_machine_is_asked_how_it_is(tmp_path, monkeypatch):
    async with (
        serving(tmp_path / "t.db") as server,
        relaying(tmp_path / "mac", "ada-mac", server) as relay,
    ):
        told = await on_server(server, "hosts", "check", "ada-mac")
        assert "ada-mac answered" in told
        assert "Its clock agrees with the server's." in told
        assert "No agent's hooks report there." in told
        assert "callboard relay --allow read" in await on_server(
            server, "hosts", "log", "ada-mac", expected=2
        )
        await relay.stop()
        await relay.start("--allow", "read")
        await hosts(server, connected=True, powers=["read"])
        assert "Reporting to" in await on_server(server, "hosts", "log", "ada-mac")
        await relay.stop()
        await relay.start()
        await hosts(server, connected=True, powers=["read"])
        await relay.stop()
        await relay.start("--allow", "none")
        await hosts(server, connected=True, powers=[])
