"""kill -9 of whoever asked for an interactive session: the answer is found all the same."""

import asyncio
import re
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.faults.caller_process import SESSION, flow
from tests.faults.laws import check_laws
from tests.faults.processes import living
from tests.listening import connected, listening
from tests.servers import TOKEN, Server, serving

from callboard import Callboard, Client, HumanInteractive
from callboard.board.human import Human
from callboard.errors import ServerUnreachable

ANSWER_WITHIN = 90


async def line(process: Process, word: str) -> str:
    """What it says after this word, as soon as it says it."""
    assert process.stdout is not None
    async with asyncio.timeout(ANSWER_WITHIN):
        while told := (await process.stdout.readline()).decode():
            first, _, rest = told.rstrip("\n").partition(" ")
            if first == word:
                return rest
    raise AssertionError(f"it ended without a word of {word}")


async def killed_while_waiting(place: str | Path, *options: str) -> str:
    """The id of what a caller asked for, which was killed while it waited."""
    async with living("caller_process", place, *options) as process:
        asked = await line(process, "asked")
        process.send_signal(signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
    return asked


async def end(human: Human, asked: str) -> None:
    await human.complete_interactive(asked, "completed", "approved", by="ann")


@pytest.mark.parametrize("when", ["while it is dead", "when it is back"])
@pytest.mark.parametrize("how", ["by its key", "by its id"])
async def test_a_caller_that_comes_back_finds_the_answer(tmp_path: Path, when: str, how: str):
    path = tmp_path / "cb.db"
    async with Callboard.open(path) as board:
        asked = await killed_while_waiting(path)
        assert [one.id for one in await board.human.list_pending("*")] == [asked]
        if when == "while it is dead":
            await end(board.human, asked)
        options = ["--attach", asked] if how == "by its id" else []
        async with living("caller_process", path, *options) as process:
            assert await line(process, "asked") == asked
            if when == "when it is back":
                await end(board.human, asked)
            assert await line(process, "ended") == "completed approved"
            assert await process.wait() == 0
        names = [event.name for event in await board.log.read(asked)]
        assert names == ["input:requested", "input:received"]


async def test_killed_again_and_again_it_asks_once(tmp_path: Path):
    path = tmp_path / "cb.db"
    async with Callboard.open(path) as board:
        asked = {await killed_while_waiting(path) for _ in range(3)}
        assert len(asked) == 1
        await board.human.cancel_interactive(*asked)
        async with living("caller_process", path) as process:
            assert await line(process, "ended") == "cancelled None"


async def test_an_agent_that_was_killed_finds_it_too(tmp_path: Path):
    path = tmp_path / "cb.db"
    async with Callboard.open(path, [flow]) as board:
        asked = await killed_while_waiting(path, "--session")
        [pending] = await board.human.list_pending(SESSION)
        assert pending.id == asked
        async with living("caller_process", path, "--session") as process:
            # The question that was asked is found: the second attempt asks nothing.
            assert await line(process, "attempt") == "2"
            await end(board.human, asked)
            told = await line(process, "ended")
        assert told == "completed [['completed', 'approved', True]]"
        events = await board.events(SESSION)
        check_laws(events)
        assert sum(event.name == "input:requested" for event in events) == 1
        assert (await board.session(SESSION)).status == "completed"


async def test_the_server_may_die_and_come_back_under_its_callers(tmp_path: Path):
    async with serving(tmp_path / "cb.db") as server, Client(server.url, TOKEN) as client:
        interactive = HumanInteractive[str](client, standalone=True)
        waiting = interactive.request_async("Review", key="k")
        async with living("caller_process", server.url) as process:
            asked = await line(process, "asked")
            [own] = [one.id for one in await client.inbox() if one.id != asked]
            await server.kill()
            await server.restart()
            await end(client.human, asked)
            await end(client.human, own)
            assert await line(process, "ended") == "completed approved"
        async with asyncio.timeout(ANSWER_WITHIN):
            assert (await waiting).response == "approved"


async def message(reader: asyncio.StreamReader) -> bytes:
    """A whole request or response, in however many parts it comes."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
    return head + await reader.readexactly(int(length[1]) if length else 0)


@asynccontextmanager
async def deaf_at_first(server: Server) -> AsyncGenerator[Client]:
    """A client that never gets the first response, and is cut off for a while after it."""
    connections = 0

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        if connections in (2, 3):
            return
        async with connected(server.port) as (there, to_server):
            to_server.write(await message(reader))
            answer = await message(there)
            if connections > 1:
                writer.write(answer)
                await writer.drain()

    async with listening(accept) as port, Client(f"http://127.0.0.1:{port}", TOKEN) as client:
        yield client


async def test_a_question_with_a_key_is_asked_again_if_the_response_is_lost(tmp_path: Path):
    async with serving(tmp_path / "cb.db") as server, deaf_at_first(server) as client:
        asked = await client.people.ask(type="approval", prompt="Go?", key="k")
        assert [one.id for one in await client.inbox()] == [asked.id]


async def test_a_question_without_a_key_is_asked_only_once(tmp_path: Path):
    async with serving(tmp_path / "cb.db") as server, deaf_at_first(server) as client:
        with pytest.raises(ServerUnreachable, match="Check whether it went through"):
            await client.people.ask(type="approval", prompt="Go?")
        async with Client(server.url, TOKEN) as direct:
            assert len(await direct.inbox()) == 1


async def test_the_answer_may_come_while_nobody_listens_to_the_server(tmp_path: Path):
    """Straight into the database, between two lives of the server."""
    async with serving(tmp_path / "cb.db") as server, Client(server.url, TOKEN) as client:
        interactive = HumanInteractive[str](client, standalone=True)
        waiting = interactive.request_async("Review", key="k")
        while not (pending := await client.inbox()):
            await asyncio.sleep(0)
        await server.kill()
        async with Callboard.open(tmp_path / "cb.db") as board:
            await end(board.human, pending[0].id)
        await server.restart()
        async with asyncio.timeout(ANSWER_WITHIN):
            assert (await waiting).response == "approved"
