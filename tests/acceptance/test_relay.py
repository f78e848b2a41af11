"""Coding agents of another machine on the board: a home and a port of their own, on loopback."""

import asyncio

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
from tests.relays import printed, relaying
from tests.servers import serving


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
            (found,) = (await http.get("/hosts")).json()["hosts"]
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
