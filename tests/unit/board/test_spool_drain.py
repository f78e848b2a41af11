"""Emptying the spool: a payload that fails stops nothing, and a store that fails loses nothing."""

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.unit.board.boards import Board

from callboard.board.hook_backlog import NO_BACKLOG, HookBacklog
from callboard.board.hook_folders import hooks_folder, make_folders, spool_folder
from callboard.board.intake import Listener
from callboard.board.late_hook import LateHook
from callboard.board.spool.drain import SpoolDrain
from callboard.board.spool.files import Spool
from callboard.errors import StoreBusy, StoreError
from callboard.testing.fake_clock import FakeClock

PATIENCE = 90


@dataclass
class Ear(Listener):
    """Hears numbers, and fails at some of them."""

    fails: dict[int, BaseException] = field(default_factory=dict)
    heard: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    waits: asyncio.Event | None = None

    def __post_init__(self) -> None:
        board = Board()
        super().__init__(board.plates, board.clock.now_ms)

    async def overhear(self, hooks: Sequence[LateHook]) -> None:
        self.asked.append(len(hooks))
        if self.waits is not None:
            await self.waits.wait()
        numbers = [json.loads(hook.body) for hook in hooks]
        for number in numbers:
            if number in self.fails:
                raise self.fails[number]
        self.heard += numbers
        self.again += [json.loads(hook.body) for hook in hooks if hook.again]


@dataclass
class Place:
    folder: Path
    ear: Ear = field(default_factory=Ear)

    def __post_init__(self) -> None:
        make_folders(self.folder)
        self.spool = Spool(self.folder, FakeClock())
        self.drain = SpoolDrain(self.spool, self.ear, FakeClock())

    def drop(self, *numbers: int) -> None:
        for number in numbers:
            path = spool_folder(self.folder) / f"claude.7.{number}.0.json"
            path.write_text(str(number))
            os.utime(path, ns=(number * 1_000_000, number * 1_000_000))

    def aside(self) -> list[str]:
        there = spool_folder(self.folder) / "rejected"
        return sorted(one.read_text() for one in there.iterdir()) if there.exists() else []


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(hooks_folder(tmp_path / "x.db"))
    yield place
    await place.drain.close()


async def test_everything_is_heard_in_order(place: Place):
    place.drop(*range(1, 500))
    assert await place.drain.catch_up(PATIENCE)
    assert place.ear.heard == list(range(1, 500))
    assert len(place.ear.asked) < 10


@pytest.mark.parametrize("error", [ValueError("odd"), RecursionError(), OSError("no"), KeyError(1)])
async def test_a_payload_that_fails_is_put_aside(place: Place, error: Exception):
    place.drop(1, 2, 3)
    place.ear.fails = {2: error}
    assert await place.drain.catch_up(PATIENCE)
    assert place.ear.heard == [1, 3]
    assert place.aside() == ["2"]
    assert place.drain.counted()["rejected"] == 1
    assert await place.drain.catch_up(PATIENCE)
    assert place.ear.heard == [1, 3]


async def test_a_store_that_fails_loses_nothing(place: Place):
    place.drop(1, 2, 3)
    place.ear.fails = {2: StoreBusy("busy")}
    with pytest.raises(StoreError):
        assert await place.drain.catch_up(PATIENCE)
    place.ear.fails = {}
    place.drop(4)
    assert await place.drain.catch_up(PATIENCE)
    assert place.ear.heard == [1, 2, 3, 4]
    # Nobody knows how far the store came with those that it failed at.
    assert place.ear.again == [1, 2, 3]
    assert place.aside() == []


async def test_who_is_stopped_while_it_hears_loses_nothing(place: Place):
    place.drop(1, 2, 3)
    place.ear.waits = asyncio.Event()
    assert not await place.drain.catch_up(0)
    while not place.ear.asked:
        await asyncio.sleep(0)
    await place.drain.close()
    place.ear.waits = None
    assert await place.drain.catch_up(PATIENCE)
    assert (place.ear.heard, place.ear.again) == ([1, 2, 3], [1, 2, 3])


async def test_who_is_stopped_while_it_takes_loses_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    place.drop(1, 2)
    take, taking, may_go_on = place.spool.take, threading.Event(), threading.Event()

    def slow(limit: int):
        taking.set()
        assert may_go_on.wait(20)
        return take(limit)

    monkeypatch.setattr(place.spool, "take", slow)
    # Nobody waits for the thread that reads: others are served meanwhile.
    assert not await place.drain.catch_up(0)
    while not taking.is_set():
        await asyncio.sleep(0)
    closing = asyncio.create_task(place.drain.close())
    await asyncio.sleep(0)
    may_go_on.set()
    await closing
    monkeypatch.undo()
    other = Spool(place.folder, FakeClock())
    assert [one.hook.body for one in other.take(10)] == [b"1", b"2"]
    other.close()


async def test_nobody_waits_long_for_a_backlog(place: Place):
    place.drop(*range(1, 300))
    place.ear.waits = asyncio.Event()
    assert not await place.drain.catch_up(0)
    assert not await place.drain.keep_up()
    assert place.drain.backlog == HookBacklog(299, 1)
    assert place.drain.counted()["backlog"] == 299
    place.ear.waits.set()
    assert await place.drain.catch_up(PATIENCE)
    assert await place.drain.keep_up()
    assert place.drain.backlog == NO_BACKLOG
    assert place.ear.heard == list(range(1, 300))


async def test_a_spool_that_cannot_be_read_is_told(place: Place):
    place.folder.rename(place.folder.with_name("away"))
    place.folder.write_text("in the way")
    with pytest.raises(StoreError):
        assert await place.drain.catch_up(PATIENCE)
