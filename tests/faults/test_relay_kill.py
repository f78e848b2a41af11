"""Kill the server or the relay at every step of a permission that is answered across machines.

The agent gets one decision, and the board shows what became of it.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.faults.relay_kill_points import RELAY, SERVER, VARIABLE
from tests.held_hooks import PATIENCE, bash, behavior, closed, living_agent, question
from tests.relays import RelayProcess, printed
from tests.servers import Server, serving

IN_SERVER = (
    "taking hook",
    "permission_request",
    "input:requested",
    "input:accepted",
    "sending the decision",
    "taking receipt",
    "permission_resolved",
    "input:received",
)
IN_RELAY = (
    "adding hook",
    "confirming hook",
    "handing the decision over",
    "adding receipt",
    "confirming receipt",
)
EVERY = [f"{when} {step}" for step in (*IN_SERVER, *IN_RELAY) for when in ("before", "after")]
ONCE = (
    "permission_request",
    "input:requested",
    "input:accepted",
    "input:received",
    "tool_call",
)
QUICK = ["after input:accepted", "after adding hook", "after adding receipt"]


@dataclass
class Machines:
    """A server and a relay that are started again whenever they die."""

    server: Server
    relay: RelayProcess
    step: Path
    rounds: int = 0
    deaths: int = 0

    async def watch(self) -> None:
        while True:
            for one in (self.server, self.relay):
                assert one.process is not None
                if one.process.returncode is None:
                    continue
                assert one.process.returncode == -signal.SIGKILL, one.log
                if one is self.server:
                    await self.server.restart()
                else:
                    await self.relay.start(str(self.relay.folder))
                self.deaths += 1
            await asyncio.sleep(0.01)

    async def answer(self, id: str) -> None:
        """As a person does: again, if the server went away."""
        async with asyncio.timeout(PATIENCE), self.server.client() as http:
            while True:
                with contextlib.suppress(httpx.TransportError):
                    path = f"/interactions/{id}/answer"
                    told = await http.post(path, json={"approved": True})
                    assert told.status_code in (200, 202, 409, 503), told.text
                    if told.status_code != 503:
                        return
                await asyncio.sleep(0.02)

    async def settled(self, id: str) -> dict[str, Any]:
        while True:
            with contextlib.suppress(httpx.TransportError, KeyError):
                return await closed(self.server, id)
            await asyncio.sleep(0.02)

    async def one_permission(self) -> None:
        self.rounds += 1
        command = f"echo {self.rounds}"
        held = await self.relay.hook(bash("PermissionRequest", command), "--hold")
        asked = await question(self.server)
        await self.answer(asked["id"])
        assert behavior(await printed(held)) == "allow"
        assert await printed(await self.relay.hook(bash("PostToolUse", command))) is None
        found = await self.settled(asked["id"])
        assert (found["status"], found["receipt"]) == ("completed", "delivered")

    async def events(self) -> list[dict[str, Any]]:
        async with self.server.client() as http:
            (plate,) = (await http.get("/plates")).json()["plates"]
            assert (plate["status"], plate["waitingFor"]) == ("running", None)
            return (await http.get(f"/plates/{plate['plateId']}/events")).json()["events"]


@pytest.fixture
async def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Machines]:
    step = tmp_path / "step"
    monkeypatch.setenv(VARIABLE, str(step))
    async with (
        living_agent(monkeypatch),
        serving(tmp_path / "t.db", program=["-c", SERVER]) as server,
    ):
        relay = RelayProcess(tmp_path / "mac", "ada-mac")
        await relay.pair(server)
        await relay.stop()
        relay.command = ["-c", RELAY]
        await relay.start(str(relay.folder))
        made = Machines(server, relay, step)
        watching = asyncio.create_task(made.watch())
        try:
            yield made
        finally:
            watching.cancel()
            await asyncio.wait({watching})
            await relay.stop(signal.SIGKILL)


@pytest.mark.parametrize(
    "steps", [QUICK, pytest.param(EVERY, marks=pytest.mark.long)], ids=["quick", "every"]
)
async def test_one_decision_whatever_dies(machines: Machines, steps: list[str]):
    for number, step in enumerate(steps, start=1):
        machines.step.write_text(step)
        await machines.one_permission()
        async with asyncio.timeout(PATIENCE):
            while machines.step.exists() or machines.deaths < number:
                await asyncio.sleep(0.02)
        names = [one["name"] for one in await machines.events()]
        counted = {name: names.count(name) for name in ONCE}
        assert (step, counted) == (step, dict.fromkeys(ONCE, number))
