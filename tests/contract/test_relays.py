"""Agents of another machine on the board: a server and a relay in one loop, and real hooks.

The relay is cut off by cancelling it, which leaves what a crash leaves: what is on disk.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.held_hooks import PATIENCE, bash, behavior, hook

import callboard.hookclient
from callboard.app import Callboard
from callboard.board.plate import Plate
from callboard.board.relay_hosts import RelayHost
from callboard.errors import Forbidden
from callboard.interactions.records import Interaction
from callboard.relay.http import HttpConnection, HttpReply, ServerUrl
from callboard.relay.running import Relay
from callboard.relay.settings import RelaySettings, hooks_of
from callboard.relay.uplink import RelayRefused
from callboard.server.running import bind, serve
from callboard.server.settings import ServerSettings
from callboard.server.wiring import prepare

T = TypeVar("T")

ADMIN = "cb_a-token-for-tests"


@dataclass
class World:
    """A server and the relay of another machine, each of which can be stopped and started."""

    folder: Path
    port: int = 0
    token: str = ""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    stopping_relay: asyncio.Event = field(default_factory=asyncio.Event)

    async def start_server(self) -> None:
        self.stopping = asyncio.Event()
        self.board = Callboard.open(self.folder / "t.db")
        settings = ServerSettings(port=self.port)
        app, service = prepare(self.board, settings, self.folder / "t.db")
        listening, ready = bind(settings), asyncio.Event()
        self.port = listening.getsockname()[1]
        working = serve(app, service, listening, lambda at: ready.set(), self.stopping)
        self.serving = asyncio.create_task(working)
        await ready.wait()

    async def stop_server(self) -> None:
        self.stopping.set()
        await self.serving
        await self.board.close()

    async def post(self, path: str, told: dict[str, Any], token: str = "") -> HttpReply:
        connection = HttpConnection(ServerUrl.parse(f"http://127.0.0.1:{self.port}"), token)
        try:
            headers = {"Content-Type": "application/json"}
            return await connection.post(path, json.dumps(told).encode(), headers)
        finally:
            connection.close()

    async def pair(self) -> None:
        code = (await self.board.pairing.create()).code
        told = {"code": code, "host": "machine1", "name": "ada-mac"}
        self.token = json.loads((await self.post("/relay/pair", told)).body)["token"]

    def start_relay(self) -> None:
        url = f"http://127.0.0.1:{self.port}"
        settings = RelaySettings(url, self.token, "machine1", "ada-mac")
        self.stopping_relay = asyncio.Event()
        relay = Relay(self.folder / "relay", settings, "0.1.0")
        self.relaying = asyncio.create_task(relay.run(self.stopping_relay))

    async def cut_relay(self) -> None:
        self.relaying.cancel()
        await asyncio.wait({self.relaying})

    async def hook(
        self, agent: int, payload: dict[str, Any], *more: str
    ) -> asyncio.subprocess.Process:
        script, folder = str(callboard.hookclient.__file__), str(hooks_of(self.folder / "relay"))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", script, folder, "claude", *more,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "CLAUDE_PID": str(agent)},
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        return process

    async def report(self, agent: int, payload: dict[str, Any]) -> None:
        assert await printed(await self.hook(agent, payload)) is None

    async def plate(self, **wanted: Any) -> Plate:
        async def found() -> Plate | None:
            plates = await self.board.plates.all()
            return next((one for one in plates if _is_like(one, wanted)), None)

        return await until(found)

    async def host(self, **wanted: Any) -> RelayHost:
        async def found() -> RelayHost | None:
            hosts = await self.board.hosts.list()
            return next((one for one in hosts if _is_like(one, wanted)), None)

        return await until(found)

    async def question(self) -> Interaction:
        async def found() -> Interaction | None:
            asked = await self.board.people.find(status="pending")
            return next((one for one in asked if one.accepted is None), None)

        return await until(found)


def _is_like(one: object, wanted: dict[str, Any]) -> bool:
    return all(getattr(one, name) == value for name, value in wanted.items())


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    async with asyncio.timeout(PATIENCE):
        while (found := await look()) is None:
            await asyncio.sleep(0.01)
        return found


async def printed(process: asyncio.subprocess.Process) -> Any:
    async with asyncio.timeout(PATIENCE):
        told, complaints = await process.communicate()
    assert (process.returncode, complaints) == (0, b"")
    return json.loads(told) if told else None


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[World]:
    monkeypatch.setenv("CALLBOARD_TOKEN", ADMIN)
    made = World(tmp_path)
    await made.start_server()
    await made.pair()
    made.start_relay()
    try:
        await made.host(connected=True)
        yield made
    finally:
        await made.cut_relay()
        await made.stop_server()


@pytest.fixture
async def agent() -> AsyncGenerator[int]:
    process = await asyncio.create_subprocess_exec("sleep", "600")
    yield process.pid
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def test_a_permission_is_answered_with_a_receipt(world: World, agent: int):
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.board.answer(asked.id, approved=True)
    assert behavior(await printed(held)) == "allow"
    await world.report(agent, bash("PostToolUse"))

    async def closed() -> Interaction | None:
        found = await world.board.people.get(asked.id)
        return None if found.status == "pending" else found

    found = await until(closed)
    assert (found.status, found.receipt) == ("completed", "delivered")


async def test_an_answer_accepted_during_a_cut_is_delivered_after_it(world: World, agent: int):
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    await world.cut_relay()
    await world.board.answer(asked.id, approved=True)
    world.start_relay()
    assert behavior(await printed(held)) == "allow"


async def test_reports_wait_while_the_server_is_away(world: World, agent: int):
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    await world.stop_server()
    await world.report(agent, hook("UserPromptSubmit", prompt="Mend it"))
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    await world.start_server()
    asked = await world.question()
    await world.board.answer(asked.id, approved=False)
    assert behavior(await printed(held)) == "deny"
    await world.plate(prompt="Mend it")


async def test_a_dead_agent_closes_its_plate(world: World, agent: int):
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle", host_name="ada-mac")
    os.kill(agent, 9)
    assert (await world.plate(status="closed")).ended == "process_exit"


async def test_an_unreachable_machine_is_not_guessed_at(world: World, agent: int):
    await world.report(agent, hook("SessionStart", source="startup"))
    await world.plate(status="idle")
    before = await world.host(connected=True)
    world.stopping_relay.set()
    await world.relaying
    os.kill(agent, 9)
    assert (await world.host(connected=False)).seen_at >= before.seen_at
    await world.plate(status="idle")
    world.start_relay()
    await world.plate(status="closed")


async def test_a_revoked_token_stops_the_relay(world: World, agent: int):
    (token,) = [one for one in await world.board.tokens.list() if one.host]
    assert (token.scope, token.name, token.host) == ("hook", "ada-mac", "machine1")
    await world.board.tokens.revoke(token.id)
    await world.report(agent, hook("SessionStart", source="startup"))
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(RelayRefused, match="revoked"):
            await asyncio.shield(world.relaying)


async def test_a_relay_cannot_answer(world: World, agent: int):
    held = await world.hook(agent, bash("PermissionRequest"), "--hold")
    asked = await world.question()
    path = f"/interactions/{asked.id}/answer"
    assert (await world.post(path, {"approved": True}, world.token)).status == 403
    assert (await world.board.people.get(asked.id)).status == "pending"
    with pytest.raises(Forbidden):
        await world.board.pairing.exchange("wrong", "machine2", "x", "server01")
    await world.board.answer(asked.id, approved=False)
    assert behavior(await printed(held)) == "deny"


async def test_a_token_without_a_machine_is_no_relays(world: World):
    made = await world.board.tokens.create("hooks", "hook")
    reply = await world.post("/relay/commands", {"name": "x"}, made.secret)
    assert reply.status == 403
