"""One session, several processes: one drives it, the others are told, and the dead make way."""

import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.faults.laws import check_laws
from tests.faults.owner import SESSION, STEPS
from tests.faults.processes import living

from callboard import Callboard
from callboard.events import names
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project


class Owner:
    """A process that drives the session, as the test talks to it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.pid = process.pid

    async def said(self, *unless: str) -> str:
        """The next line; those that begin with one of these words are passed over."""
        assert self.process.stdout is not None
        while line := (await self.process.stdout.readline()).decode().strip():
            if line.split()[0] not in unless:
                return line
        return "gone"

    def go_on(self, steps: int = 1) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n" * steps)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


class Place:
    """A database, the effects, and processes that are ended with the test."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "log.db"
        self.effects = folder / "effects"
        self.board = Callboard(SqliteLog.open(self.database, project))

    @asynccontextmanager
    async def owner(self, *options: str) -> AsyncGenerator[Owner]:
        files = (self.database, self.effects)
        async with living("owner", *files, *options, stdin=PIPE) as process:
            yield Owner(process)

    def steps(self) -> list[tuple[str, int]]:
        """What was done, and by whom."""
        lines = self.effects.read_text().splitlines() if self.effects.exists() else []
        return [(line.split()[0], int(line.split()[1])) for line in lines]

    async def asked(self) -> str:
        """Wait for the question; gives its id."""
        async for event in self.board.log.tail(SESSION):
            if asked := names.REQUESTED.of(event):
                return asked["id"]
        raise AssertionError("nothing was asked")

    async def answer(self) -> None:
        await self.board.answer(await self.asked(), "yes")

    async def check(self) -> None:
        """Everything was done, each thing once."""
        check_laws(await self.board.log.read(SESSION))
        expected = [*(f"step{number}" for number in range(STEPS)), "last"]
        assert [what for what, _ in self.steps()] == expected
        state = (await self.board.view(SESSION)).state
        assert state["seen"] == [[*expected[:-1], True], "last"]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    given = Place(tmp_path)
    yield given
    await given.board.close()


async def test_one_drives_and_the_other_is_told(place: Place):
    async with place.owner() as first:
        assert await first.said() == "ready 0"
        async with place.owner() as second:
            assert await second.said() == "owned"
            assert await second.said() == "gone"
        first.go_on(STEPS)
        await place.answer()
        assert await first.said("ready") == "completed"
    await place.check()


async def test_of_many_that_recover_at_once_one_drives(place: Place):
    async with place.owner() as first:
        assert await first.said() == "ready 0"
        first.send(signal.SIGKILL)
    async with place.owner() as one, place.owner() as two, place.owner() as three:
        owners = [one, two, three]
        said = [await owner.said() for owner in owners]
        assert sorted(said) == ["owned", "owned", "ready 0"]
        driving = owners[said.index("ready 0")]
        driving.go_on(STEPS)
        await place.answer()
        assert await driving.said("ready") == "completed"
    await place.check()


async def test_a_killed_owner_is_replaced_at_once(place: Place):
    async with place.owner() as first:
        assert await first.said() == "ready 0"
        first.go_on()
        assert await first.said() == "ready 1"
        first.send(signal.SIGKILL)
        await first.process.wait()
        async with place.owner("--frozen-after", "3600") as second:
            # What was done once is not done again: it stands in the log.
            assert await second.said() == "ready 0"
            second.go_on(STEPS)
            await place.answer()
            assert await second.said("ready") == "completed"
    await place.check()
    assert {pid for _, pid in place.steps()} == {first.pid, second.pid}


async def test_a_frozen_owner_is_replaced_and_can_do_nothing_when_it_wakes(place: Place):
    async with place.owner() as first:
        assert await first.said() == "ready 0"
        first.go_on()
        assert await first.said() == "ready 1"
        first.send(signal.SIGSTOP)
        async with place.owner("--frozen-after", "0.3", "--insist") as second:
            assert await second.said("owned") == "ready 0"
            before = place.steps()
            first.send(signal.SIGCONT)
            first.go_on(STEPS)
            assert await first.said("ready") == "lost"
            assert place.steps() == before == [("step0", first.pid)]
            second.go_on(STEPS)
            await place.answer()
            assert await second.said("ready") == "completed"
    await place.check()


async def test_a_frozen_owner_finds_the_work_done_when_it_wakes(place: Place):
    async with place.owner() as first:
        assert await first.said() == "ready 0"
        first.send(signal.SIGSTOP)
        async with place.owner("--frozen-after", "0.3", "--insist") as second:
            assert await second.said("owned") == "ready 0"
            second.go_on(STEPS)
            await place.answer()
            assert await second.said("ready") == "completed"
        length = await place.board.log.head(SESSION)
        first.send(signal.SIGCONT)
        first.go_on(STEPS)
        assert await first.said("ready") in ("lost", "completed")
        assert await place.board.log.head(SESSION) == length
        assert first.pid not in {pid for _, pid in place.steps()}
    await place.check()


async def test_an_answer_from_another_process_wakes_the_agent_where_it_waits(place: Place):
    async with place.owner() as owner:
        owner.go_on(STEPS)
        await place.answer()
        assert await owner.said("ready") == "completed"
    events = await place.board.log.read(SESSION)
    assert [e.payload["attempt"] for e in events if e.name == "agent:started"] == [1, 1]
    await place.check()


@pytest.mark.parametrize("interrupt", [False, True])
async def test_a_pause_from_another_process_reaches_an_agent_that_waits(
    place: Place, interrupt: bool
):
    async with place.owner() as owner:
        owner.go_on(STEPS)
        question = await place.asked()
        assert await place.board.pause(SESSION, interrupt=interrupt)
        assert await owner.said("ready") == "paused"
    await place.board.resume(SESSION)
    async with place.owner() as owner:
        owner.go_on(STEPS)
        await place.board.answer(question, "yes")
        assert await owner.said("ready") == "completed"
    await place.check()


async def test_a_cancellation_from_another_process_stops_the_agent(place: Place):
    async with place.owner() as owner:
        owner.go_on(STEPS)
        await place.asked()
        assert await place.board.cancel(SESSION)
        assert await owner.said("ready") == "cancelled"
    events = await place.board.log.read(SESSION)
    check_laws(events)
    assert events[-1].name == "workflow:cancelled"
