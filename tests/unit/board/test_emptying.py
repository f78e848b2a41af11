"""Emptying the spool: a payload that fails stops nothing, and a store that fails loses nothing."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.unit.board.boards import Board

from callboard.board.emptying import Emptying
from callboard.board.listening import Listener
from callboard.board.places import hooks_folder, make_folders, spool_folder
from callboard.board.spool import Spool
from callboard.errors import StoreBusy, StoreError
from callboard.testing.fake_clock import FakeClock


@dataclass
class Ear(Listener):
    """Hears numbers, and fails at some of them."""

    fails: dict[int, BaseException] = field(default_factory=dict)
    heard: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        board = Board()
        super().__init__(board.plates, board.clock.now_ms)

    async def overhear(
        self, agent: str, body: bytes, at_ms: int, pid: int | None, *, again: bool = False
    ) -> None:
        number = json.loads(body)
        if number in self.fails:
            raise self.fails[number]
        self.heard.append(number)
        if again:
            self.again.append(number)


@dataclass
class Place:
    folder: Path
    ear: Ear = field(default_factory=Ear)

    def __post_init__(self) -> None:
        make_folders(self.folder)
        self.spool = Spool(self.folder, FakeClock())
        self.emptying = Emptying(self.spool, self.ear)

    def drop(self, *numbers: int) -> None:
        for number in numbers:
            path = spool_folder(self.folder) / f"claude.7.{number}.0.json"
            path.write_text(str(number))
            os.utime(path, ns=(number * 1_000_000, number * 1_000_000))

    def aside(self) -> list[str]:
        there = spool_folder(self.folder) / "rejected"
        return sorted(one.read_text() for one in there.iterdir()) if there.exists() else []


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(hooks_folder(tmp_path / "x.db"))
    yield place
    place.emptying.close()


async def test_everything_is_heard_in_order(place: Place):
    place.drop(*range(1, 500))
    await place.emptying.empty()
    assert place.ear.heard == list(range(1, 500))


@pytest.mark.parametrize("error", [ValueError("odd"), RecursionError(), OSError("no"), KeyError(1)])
async def test_a_payload_that_fails_is_put_aside(place: Place, error: Exception):
    place.drop(1, 2, 3)
    place.ear.fails = {2: error}
    await place.emptying.empty()
    assert place.ear.heard == [1, 3]
    assert place.aside() == ["2"]
    assert place.emptying.counted()["rejected"] == 1
    await place.emptying.empty()
    assert place.ear.heard == [1, 3]


async def test_a_store_that_fails_loses_nothing(place: Place):
    place.drop(1, 2, 3)
    place.ear.fails = {2: StoreBusy("busy")}
    with pytest.raises(StoreError):
        await place.emptying.empty()
    place.ear.fails = {}
    place.drop(4)
    await place.emptying.empty()
    assert place.ear.heard == [1, 2, 3, 4]
    # Nobody knows how far the store came with the one that it failed at.
    assert place.ear.again == [2]
    assert place.aside() == []


async def test_who_is_stopped_while_it_hears_loses_nothing(place: Place):
    place.drop(1, 2, 3)
    place.ear.fails = {2: asyncio.CancelledError()}
    with pytest.raises(asyncio.CancelledError):
        await place.emptying.empty()
    place.ear.fails = {}
    await place.emptying.empty()
    assert (place.ear.heard, place.ear.again) == ([1, 2, 3], [2])


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
    emptying = asyncio.create_task(place.emptying.empty())
    # Nobody waits for the thread that reads: others are served meanwhile.
    while not taking.is_set():
        await asyncio.sleep(0)
    emptying.cancel()
    await asyncio.sleep(0)
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await emptying
    monkeypatch.undo()
    other = Spool(place.folder, FakeClock())
    assert [one.payload for one in other.take(10)] == [b"1", b"2"]
    other.close()


async def test_a_spool_that_cannot_be_read_is_told(place: Place):
    place.folder.rename(place.folder.with_name("away"))
    place.folder.write_text("in the way")
    with pytest.raises(StoreError):
        await place.emptying.empty()
