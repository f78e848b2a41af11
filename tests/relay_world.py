"""A server and the relay of another machine in one loop, with real hooks, for tests of both."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from tests.held_hooks import PATIENCE
from tests.relays import printed

import callboard.hookclient
from callboard.app import Callboard
from callboard.board.plate import Plate
from callboard.board.relay_hosts import RelayHost
from callboard.clock import SystemClock
from callboard.events.json_values import as_object, as_text
from callboard.interactions.records import Interaction
from callboard.relay.http import HttpConnection, HttpReply, ServerUrl
from callboard.relay.running import Relay
from callboard.relay.settings import Power, RelaySettings, hooks_of, secret_of
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
    database: str = ""
    """Its address, unless it is a file in the folder."""
    way: int = 0
    """The port by which the relay reaches the server, if something is between them."""
    clock: SystemClock = field(default_factory=SystemClock)
    """The relay's."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    stopping_relay: asyncio.Event = field(default_factory=asyncio.Event)

    async def start_server(self) -> None:
        self.stopping = asyncio.Event()
        self.board = Callboard.open(self.database or self.folder / "t.db")
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

    def start_relay(self, *powers: Power) -> None:
        url = f"http://127.0.0.1:{self.way or self.port}"
        settings = RelaySettings(url, self.token, "machine1", "ada-mac", powers=powers)
        self.stopping_relay = asyncio.Event()
        relay = Relay(self.folder / "relay", settings, "0.1.0", self.clock)
        self.relaying = asyncio.create_task(relay.run(self.stopping_relay))

    async def idle_relay(self) -> None:
        """Take the relay's commands, and do none of them."""
        secret = secret_of(self.folder / "relay")
        await self.post("/relay/commands", {"name": "ada-mac", "secret": secret}, self.token)

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

    async def prompts(self) -> list[str]:
        """The prompts on the one plate, in the order in which they are in the log."""
        (plate,) = await self.board.plates.all()
        events = await self.board.plates.events(plate.plate_id)
        raws = (as_object(one.payload.get("raw")) for one in events)
        return [as_text(raw["prompt"]) for raw in raws if "prompt" in raw]

    async def prompts_like(self, wanted: list[str]) -> None:
        """Wait for the last of them; then they are exactly these."""

        async def complete() -> bool | None:
            return (
                bool(await self.board.plates.all()) and wanted[-1] in await self.prompts()
            ) or None

        await until(complete)
        assert await self.prompts() == wanted

    async def sent(self) -> None:
        """Wait until the relay knows that the server has everything."""

        async def empty() -> bool | None:
            return not any((self.folder / "relay" / "outbox").glob("*~*")) or None

        await until(empty)

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

    async def settled(self, id: str) -> Interaction:
        """Wait until it is known what the agent did with an answer."""

        async def found() -> Interaction | None:
            one = await self.board.people.get(id)
            return None if "pending" in (one.status, one.receipt) else one

        return await until(found)


def _is_like(one: object, wanted: dict[str, Any]) -> bool:
    return all(getattr(one, name) == value for name, value in wanted.items())


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    async with asyncio.timeout(PATIENCE):
        while (found := await look()) is None:
            await asyncio.sleep(0.01)
        return found


@asynccontextmanager
async def paired(
    folder: Path, monkeypatch: pytest.MonkeyPatch, database: str = ""
) -> AsyncGenerator[World]:
    """A world whose relay is paired and not started."""
    monkeypatch.setenv("CALLBOARD_TOKEN", ADMIN)
    made = World(folder, database=database)
    await made.start_server()
    await made.pair()
    try:
        yield made
    finally:
        await made.cut_relay()
        await made.stop_server()


@asynccontextmanager
async def sleeping_agent() -> AsyncGenerator[int]:
    """The process that has the hooks; gives its id."""
    process = await asyncio.create_subprocess_exec("sleep", "600")
    yield process.pid
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
