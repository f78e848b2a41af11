"""Drivers that watch, in processes of their own: killed, frozen, told to stop, in a storm."""

import asyncio
import random
import signal
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from tests.faults.killed import Effects
from tests.faults.laws import check_laws
from tests.faults.processes import living
from tests.faults.watcher import workflow

from callboard import Callboard
from callboard.errors import ConflictError
from callboard.events import names
from callboard.events.rows import Query
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project

_LOOK_AGAIN = 0.01


class Place:
    """A database, and the processes that watch it, all ended with the test."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "log.db"
        self.effects = folder / "effects"
        self.hold = folder / "hold"
        flow = workflow(Effects(self.effects), self.hold)
        self.board = Callboard(SqliteLog.open(self.database, project), [flow])

    @asynccontextmanager
    async def watcher(self, *options: str) -> AsyncGenerator[Process]:
        async with living("watcher", self.database, self.effects, *options) as process:
            assert await said(process) == "started"
            yield process

    async def begin(self, count: int) -> list[str]:
        sessions = [f"s{number}" for number in range(count)]
        await asyncio.gather(*(self.board.start(None, session_id=id) for id in sessions))
        return sessions

    async def ran(self, count: int) -> None:
        """Wait until so many agents have begun."""
        async with asyncio.timeout(90):
            while len(self.lines("ran")) < count:
                await asyncio.sleep(_LOOK_AGAIN)

    async def until(self, status: str, count: int) -> None:
        query = Query("sessions", {"status": status}, count=True)
        async with asyncio.timeout(90):
            while await self.board.log.rows(query) != [{"count": count}]:
                await asyncio.sleep(_LOOK_AGAIN)

    async def complete(self, count: int) -> None:
        """Wait for the questions of so many sessions, answer them, and wait for their end."""
        await self.until("waiting", count)
        await self.answer_all()
        await self.until("completed", count)

    async def check_all(self, sessions: Sequence[str]) -> None:
        """Beside that, what was to happen once has happened once."""
        await self.check(sessions)
        assert len(self.lines("once")) == len(set(self.lines("once"))) == 2 * len(sessions)

    def lines(self, word: str) -> list[str]:
        lines = self.effects.read_text().splitlines()
        return [line for line in lines if line.split()[0] == word]

    async def answer_all(self) -> None:
        for question in await self.board.inbox():
            await self.board.answer(question.id, "yes")

    async def check(self, sessions: Sequence[str]) -> None:
        """Every session has ended, and lawfully."""
        for session in sessions:
            events = await self.board.log.read(session)
            check_laws(events)
            assert events[-1].name == "workflow:completed"
        assert await self.board.log.unsettled() == []

    async def reasons(self, sessions: Sequence[str]) -> Counter[str]:
        """Why agents were interrupted."""
        found: Counter[str] = Counter()
        for session in sessions:
            events = await self.board.log.read(session)
            found.update(one["reason"] for one in names.AGENT_INTERRUPTED.among(events))
        return found


async def said(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    given = Place(tmp_path)
    yield given
    await given.board.close()


async def test_whoever_watches_takes_over_from_one_that_was_killed(place: Place):
    place.hold.touch()
    async with place.watcher() as first:
        sessions = await place.begin(20)
        await place.ran(20)
        async with place.watcher():
            first.send_signal(signal.SIGKILL)
            await first.wait()
            await place.ran(40)
            place.hold.unlink()
            await place.complete(20)
    await place.check_all(sessions)
    assert await place.reasons(sessions) == {"crashed": 20}


async def test_whoever_comes_takes_up_what_was_killed(place: Place):
    place.hold.touch()
    async with place.watcher() as first:
        sessions = await place.begin(20)
        await place.ran(20)
        first.send_signal(signal.SIGKILL)
        await first.wait()
    await place.answer_all()
    place.hold.unlink()
    async with place.watcher():
        await place.complete(20)
    await place.check_all(sessions)


async def test_whoever_watches_takes_over_from_one_that_is_frozen(place: Place):
    place.hold.touch()
    async with place.watcher() as first:
        sessions = await place.begin(5)
        await place.ran(5)
        first.send_signal(signal.SIGSTOP)
        async with place.watcher("--frozen-after", "0.5"):
            await place.ran(10)
            place.hold.unlink()
            await place.complete(5)
        first.send_signal(signal.SIGCONT)
        first.send_signal(signal.SIGTERM)
        assert await said(first) == "stopped 0 0"
    await place.check_all(sessions)


async def test_one_that_is_told_to_stop_lets_its_agents_finish(place: Place):
    place.hold.touch()
    async with place.watcher("--grace", "60") as first:
        sessions = await place.begin(10)
        await place.ran(10)
        first.send_signal(signal.SIGTERM)
        place.hold.unlink()
        assert await said(first) == "stopped 0 0"
        assert await first.wait() == 0
    await place.until("waiting", 10)
    await place.answer_all()
    async with place.watcher():
        await place.until("completed", 10)
    await place.check_all(sessions)
    assert await place.reasons(sessions) == {}


async def test_one_that_is_told_to_stop_puts_down_what_takes_too_long(place: Place):
    place.hold.touch()
    async with place.watcher("--grace", "0.1") as first:
        sessions = await place.begin(10)
        await place.ran(10)
        first.send_signal(signal.SIGTERM)
        assert await said(first) == "stopped 0 0"
    for session in sessions:
        lease = await place.board.log.lease(session)
        assert lease is not None
        assert lease.owner is None
    assert len(await place.board.log.unsettled()) == 10
    assert await place.reasons(sessions) == {"stopped": 10}
    place.hold.unlink()
    async with place.watcher():
        await place.complete(10)
    await place.check_all(sessions)


async def test_one_that_watches_goes_on_with_what_another_put_down(place: Place):
    place.hold.touch()
    async with place.watcher() as first:
        sessions = await place.begin(10)
        await place.ran(10)
        async with place.watcher():
            first.send_signal(signal.SIGTERM)
            assert await said(first) == "stopped 0 0"
            await place.ran(20)
            place.hold.unlink()
            await place.complete(10)
    await place.check_all(sessions)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 10))]
)
async def test_every_session_ends_in_a_storm(place: Place, seed: int):
    """Two that watch, one of them killed again and again, and people in two processes."""
    chance = random.Random(seed)
    sessions: list[str] = []
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(place.watcher())
        await stack.enter_async_context(place.watcher("--answer"))
        people = asyncio.create_task(_answer(place, chance))
        for _ in range(4):
            async with place.watcher() as dying:
                for _ in range(10):
                    session = f"s{len(sessions)}"
                    sessions.append(await place.board.start(None, session_id=session))
                    await asyncio.sleep(chance.random() * _LOOK_AGAIN)
                dying.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM]))
                await dying.wait()
        await place.until("completed", len(sessions))
        people.cancel()
        await asyncio.wait({people})
    # One that was killed between an effect and its record has it again: so no count of those.
    await place.check(sessions)


async def _answer(place: Place, chance: random.Random) -> None:
    while True:
        found = await place.board.inbox()
        for question in chance.sample(found, len(found)):
            try:
                await place.board.answer(question.id, "yes")
            except ConflictError:
                continue
            await asyncio.sleep(chance.random() * _LOOK_AGAIN)
        await asyncio.sleep(chance.random() * _LOOK_AGAIN)
