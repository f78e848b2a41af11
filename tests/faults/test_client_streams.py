"""The client's stream through whatever happens on the way: nothing lost, nothing repeated."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.listening import connected, listening
from tests.servers import TOKEN, Server, serving

from callboard import Client, errors

pytestmark = pytest.mark.timeout(300)

PATIENCE = 120
"""Seconds: a server that starts again and again takes its time on a busy machine."""

FLOWS = """
import asyncio
from callboard import Phase, Text, Workflow

async def talker(state, ctx):
    for number in range(60):
        await ctx.emit(Text(f"word {number} ☕ " * 20))
        await asyncio.sleep(0.06)

async def greeter(state, ctx):
    for number in range(10):
        await ctx.emit(Text(f"word {number} ☕ " * 20))

talk = Workflow("talk", state=dict, phases=[Phase("talk", agent=talker, terminal=True)])
greet = Workflow("greet", state=dict, phases=[Phase("greet", agent=greeter, terminal=True)])
"""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[Server]:
    (tmp_path / "flows.py").write_text(FLOWS, encoding="utf-8")
    async with serving(tmp_path / "t.db", tmp_path / "flows.py") as running:
        yield running


async def follow(client: Client, session: str, heard: list[Any]) -> None:
    async for event in client.tail(session):
        heard.append(event)  # noqa: PERF401 - others look at it meanwhile


async def heard_at_least(heard: list[Any], count: int) -> None:
    while len(heard) < count:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.long)])
async def test_a_reader_outlives_its_server_again_and_again(server: Server, kills: int):
    async with Client(server.url, TOKEN) as client, asyncio.timeout(PATIENCE):
        session = await client.start("talk")
        heard: list[Any] = []
        everything: list[Any] = []

        async def all_of_it() -> None:
            async for _, event in client.tail_all(after=0):
                everything.append(event)

        reading = asyncio.create_task(follow(client, session, heard))
        listening = asyncio.create_task(all_of_it())
        for _ in range(kills):
            await heard_at_least(heard, len(heard) + 5)
            await server.kill()
            await server.restart()
        await heard_at_least(heard, len(heard) + 5)
        await server.stop()  # In order: the agent is put down, and the stream is ended.
        await server.restart()
        await reading
        history = await client.events(session)
        assert heard == history
        assert heard[-1].name == "workflow:completed"
        await heard_at_least(everything, len(history))
        listening.cancel()
        # Everything is told as it is stored; only the end of one session comes with its state.
        assert everything[:-1] == history[:-1]
        assert everything[-1].id == history[-1].id


async def test_who_listens_from_now_on_misses_nothing_though_it_is_cut_off_at_once(
    server: Server,
):
    cut, let_in = asyncio.Event(), asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if cut.is_set():
            await let_in.wait()
        async with connected(server.port) as (there, to_server):
            to_server.write(await reader.readuntil(b"\r\n\r\n"))
            if not cut.is_set():
                # The head, then the greeting: where the reader stands, before any event.
                writer.write(await there.readuntil(b"\r\n\r\n"))
                writer.write(await there.readuntil(b"\n\n"))
                await writer.drain()
                cut.set()
            while let_in.is_set() and (data := await there.read(65536)):
                writer.write(data)

    async with Client(server.url, TOKEN) as direct, asyncio.timeout(PATIENCE):
        await direct.run("greet")
        heard: list[Any] = []

        async def listen(url: str) -> None:
            async with Client(url, TOKEN) as client:
                async for _, event in client.tail_all():
                    heard.append(event)

        async with listening(accept) as port:
            task = asyncio.create_task(listen(f"http://127.0.0.1:{port}"))
            await cut.wait()
            session = await direct.start("talk")
            events = aiter(direct.tail(session))
            missed = [await anext(events) for _ in range(10)]
            let_in.set()
            await heard_at_least(heard, 10)
            task.cancel()
        assert heard[:10] == missed


class Cuts:
    """Passes bytes on in small pieces, and drops each connection after some of them."""

    def __init__(self, port: int, seed: int) -> None:
        self.dropped = 0
        self._port = port
        self._chance = random.Random(seed)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with connected(self._port) as (there, to_server):
            sending = asyncio.create_task(self._send(reader, to_server))
            try:
                left = self._chance.randint(500, 9000)
                while left > 0 and (data := await there.read(self._chance.randint(1, 900))):
                    writer.write(data[:left])
                    left -= len(data)
                self.dropped += left <= 0
            finally:
                sending.cancel()

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)


@asynccontextmanager
async def cutting(server: Server, seed: int) -> AsyncGenerator[tuple[Cuts, str]]:
    cuts = Cuts(server.port, seed)
    async with listening(cuts.accept) as port:
        yield cuts, f"http://127.0.0.1:{port}"


async def test_cuts_in_the_middle_of_frames_lose_nothing(server: Server):
    async with Client(server.url, TOKEN) as direct, asyncio.timeout(PATIENCE):
        session = await direct.start("talk")
        readers: list[tuple[Cuts, list[Any]]] = []

        async def read(seed: int) -> None:
            async with cutting(server, seed) as (cuts, url), Client(url, TOKEN) as client:
                heard: list[Any] = []
                readers.append((cuts, heard))
                await follow(client, session, heard)

        await asyncio.gather(*(read(seed) for seed in range(4)))
        history = await direct.events(session)
        for cuts, heard in readers:
            assert heard == history
            assert cuts.dropped >= 2, "nothing was cut: the test shows nothing"


async def test_a_server_that_stays_away_is_given_up(server: Server):
    async with Client(server.url, TOKEN, reconnect=0.3) as client, asyncio.timeout(PATIENCE):
        session = await client.start("talk")
        heard: list[Any] = []
        reading = asyncio.create_task(follow(client, session, heard))
        await heard_at_least(heard, 4)
        await server.kill()
        with pytest.raises(errors.ServerUnreachable, match="callboard serve"):
            await reading
        assert [event.position for event in heard] == list(range(1, len(heard) + 1))


async def test_silence_counts_as_a_lost_connection(server: Server, monkeypatch: pytest.MonkeyPatch):
    """A connection that is open and dead: a server sends at least a comment every 15 seconds."""
    monkeypatch.setattr("callboard.client.transport.SILENCE", 0.3)
    connections = 0

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        async with connected(server.port) as (there, to_server):
            to_server.write(await reader.readuntil(b"\r\n\r\n"))
            if connections == 1:
                writer.write(await there.readuntil(b"\r\n\r\n") + await there.readexactly(400))
                await reader.read()  # Nothing more is said, until the client has had enough.
            else:
                while data := await there.read(65536):
                    writer.write(data)

    async with Client(server.url, TOKEN) as direct, asyncio.timeout(PATIENCE):
        session = await direct.start("greet")
        await direct.drive(session)
        history = await direct.events(session)
        async with (
            listening(accept) as port,
            Client(f"http://127.0.0.1:{port}", TOKEN) as client,
        ):
            heard: list[Any] = []
            await follow(client, session, heard)
        assert heard == history
        assert connections == 2
