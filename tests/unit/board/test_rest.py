"""A watchdog that has nothing to look at rests, and misses nothing for it."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tests.unit.board.boards import Board

from callboard.board.held_hooks import HeldHooks
from callboard.board.hook_folders import Counting
from callboard.board.rest import Rest
from callboard.board.watchdog import LOOK_EVERY, REST, Rounds
from callboard.engine.inbox import Inbox
from callboard.errors import StoreError
from callboard.events import plates
from callboard.systems import folder_watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="others look often, as before")


class Watchdog:
    """Rounds on a board, counted."""

    def __init__(self, folder: Path) -> None:
        self.board = Board()
        self.spool = folder / "spool"
        self.rounds_made = 0
        self.received: dict[str, object] = {"received": 0}
        self.fails = False
        self.is_behind = False
        holding = HeldHooks(self.board.log, Inbox(self.board.log, self.board.clock))
        self.rounds = Rounds(
            self.board.plates,
            holding,
            self.board.clock,
            self._keep_up,
            Counting(folder, lambda: self.received),
            Rest(self.board.log, folder, self.board.clock),
        )

    async def _keep_up(self) -> bool:
        self.rounds_made += 1
        if self.fails:
            raise StoreError("The disk is gone.")
        return not self.is_behind

    async def made_in(self, seconds: float) -> int:
        before = self.rounds_made
        await self.board.clock.advance(seconds)
        return self.rounds_made - before

    async def settled(self) -> None:
        """Until it rests."""
        await self.board.clock.advance(LOOK_EVERY)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(90):
            while not condition():
                await asyncio.sleep(0.005)


@pytest.fixture
async def dog(folder: Path) -> AsyncIterator[Watchdog]:
    dog = Watchdog(folder)
    await dog.rounds.start()
    await dog.settled()
    yield dog
    await dog.rounds.stop()


async def test_with_nothing_to_look_at_it_rests(dog: Watchdog):
    assert await dog.made_in(30 * (LOOK_EVERY + REST)) == 30


async def test_a_commit_ends_the_rest_at_once(dog: Watchdog):
    await dog.board.tell(plates.SESSION_START)
    assert await dog.made_in(0) == 1


async def test_a_hook_in_the_spool_ends_the_rest_at_once(dog: Watchdog):
    before = dog.rounds_made
    (dog.spool / "claude.1.2.3.json").write_text("{}")
    await dog.until(lambda: dog.rounds_made > before)


async def test_what_comes_during_a_round_is_looked_at_after_the_usual_time(dog: Watchdog):
    await dog.board.tell(plates.SESSION_START)
    await dog.board.clock.advance(0)
    before = dog.rounds_made
    await dog.board.tell(plates.SESSION_END)
    await dog.board.clock.advance(LOOK_EVERY)
    assert dog.rounds_made > before


async def test_a_client_that_runs_is_looked_at_as_often_as_ever(dog: Watchdog):
    await dog.board.tell(plates.SESSION_START)
    await dog.settled()
    assert await dog.made_in(10 * LOOK_EVERY) == 10


async def test_it_does_not_rest_after_an_error_or_with_something_left_to_read(dog: Watchdog):
    dog.fails = True
    await dog.made_in(REST)
    assert await dog.made_in(10 * LOOK_EVERY) == 10
    dog.fails, dog.is_behind = False, True
    await dog.settled()
    assert await dog.made_in(10 * LOOK_EVERY) >= 10


async def test_counters_are_written_as_soon_as_ever(dog: Watchdog):
    dog.received = {"received": 1}
    await dog.made_in(REST)
    dog.received = {"received": 2}
    await dog.made_in(5.25)
    assert (dog.spool.parent / "received.json").read_text() == '{"received":2}'


async def test_where_the_system_reports_nothing_it_never_rests(
    monkeypatch: pytest.MonkeyPatch, folder: Path
):
    monkeypatch.setattr(folder_watch, "_libc", lambda: None)
    dog = Watchdog(folder)
    await dog.rounds.start()
    assert await dog.made_in(40 * LOOK_EVERY) >= 40
    await dog.rounds.stop()


async def test_without_its_folder_it_never_rests(dog: Watchdog):
    dog.spool.rmdir()
    await dog.until(lambda: dog.board.clock.sleepers > 0)
    await dog.board.clock.advance(REST)
    assert await dog.made_in(10 * LOOK_EVERY) == 10
