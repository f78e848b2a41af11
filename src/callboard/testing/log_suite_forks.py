# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: forks and tails."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import TypeVar

import pytest

from callboard.errors import PositionConflict, SessionExists, SessionNotFound
from callboard.events.envelope import NewEvent
from callboard.events.rows import Put
from callboard.log.protocol import EventLog, Writing
from callboard.testing.log_suite_material import (
    PATIENCE,
    Contract,
    OpenLog,
    attributes,
    changing,
    completed,
    described,
    fork,
    happened,
    intent,
    places,
    several,
    soon,
)

Item = TypeVar("Item")


async def take(items: AsyncIterator[Item], count: int) -> list[Item]:
    """The next items of a tail; fails if they don't come."""
    async with asyncio.timeout(PATIENCE):
        return [await anext(items) for _ in range(count)]


class ForkContract(Contract):
    """A fork shares its parent's start, then diverges."""

    async def test_a_fork_serves_the_prefix_as_its_own(self, log: EventLog) -> None:
        await log.append("parent", several(5))
        forked = await log.append("fork", [happened("forked")], fork("parent", 3, expect=3))
        assert forked.head == 4
        before, own = await log.read("parent"), await log.read("fork")
        assert places(own) == [1, 2, 3, 4]
        assert own[:3] == [event._replace(session_id="fork") for event in before[:3]]
        assert own[3].session_id == "fork"

    async def test_parent_and_fork_grow_apart(self, log: EventLog) -> None:
        await log.append("parent", several(2))
        await log.append("fork", [happened("b")], fork("parent", 2))
        await log.append("parent", [happened("a")])
        await log.append("fork", [happened("b")], Writing(expect=3))
        assert [event.name for event in await log.read("parent", 2)] == ["a"]
        assert [event.name for event in await log.read("fork", 2)] == ["b", "b"]

    async def test_a_fork_of_a_fork_reads_through_both(self, log: EventLog) -> None:
        await log.append("a", [happened("a1"), happened("a2"), happened("a3")])
        await log.append("b", [happened("b3"), happened("b4")], fork("a", 2))
        await log.append("inside", [happened("c2")], fork("b", 1))
        await log.append("edge", [happened("d3")], fork("b", 2))
        await log.append("beyond", [happened("e4")], fork("b", 3))
        await log.append("deep", [happened("f5")], fork("beyond", 4))

        async def names(stream: str) -> list[str]:
            return [event.name for event in await log.read(stream)]

        assert await names("inside") == ["a1", "c2"]
        assert await names("edge") == ["a1", "a2", "d3"]
        assert await names("beyond") == ["a1", "a2", "b3", "e4"]
        assert await names("deep") == ["a1", "a2", "b3", "e4", "f5"]
        assert [e.name for e in await log.read("deep", 1, 4, skip=["b3"])] == ["a2", "e4"]

    async def test_forks_of_one_turn_may_build_on_each_other(self, log: EventLog) -> None:
        await asyncio.gather(
            log.append("a", several(2)),
            log.append("b", several(2), fork("a", 1)),
            log.append("c", several(1), fork("b", 1)),
            log.append("d", several(1), fork("c", 2)),
        )
        a, d = await log.read("a"), await log.read("d")
        assert places(d) == [1, 2, 3]
        assert d[0].id == a[0].id

    async def test_a_fork_may_begin_at_nothing_or_at_the_end(self, log: EventLog) -> None:
        await log.append("s", several(2))
        await log.append("nothing", several(1), fork("s", 0, expect=0))
        await log.append("end", [], fork("s", 2))
        assert places(await log.read("nothing")) == [1]
        assert places(await log.read("end")) == [1, 2]
        assert await log.head("end") == 2
        assert (await log.append("end", several(1))).head == 3

    async def test_a_fork_that_cannot_be_is_refused(self, log: EventLog) -> None:
        await log.append("s", several(2))
        await log.append("there", several(1))
        with pytest.raises(PositionConflict) as refused:
            await log.append("fork", several(1), fork("s", 3))
        assert attributes(refused)["actual"] == 2
        with pytest.raises(PositionConflict):
            await log.append("fork", several(1), fork("s", 1, expect=2))
        with pytest.raises(SessionExists):
            await log.append("there", several(1), fork("s", 1))
        with pytest.raises(SessionNotFound):
            await log.append("fork", several(1), fork("nowhere", 0))
        assert await log.lease("fork") is None

    async def test_a_long_chain_of_forks_reads_as_one_stream(self, open_log: OpenLog) -> None:
        """A thousand generations, each with an event of its own: depth doesn't matter."""
        log, depth = open_log(described), 1000
        await log.append("s0", [happened("n0")])
        for first in range(1, depth + 1, 40):
            chain = ((n, fork(f"s{n - 1}", n)) for n in range(first, first + 40))
            await asyncio.gather(
                *(log.append(f"s{n}", [happened(f"n{n}")], forking) for n, forking in chain)
            )
        leaf, wanted = f"s{depth}", [f"n{number}" for number in range(depth + 1)]
        other = open_log(described)
        assert [event.name for event in await other.read(leaf)] == wanted
        assert [event.name for event in await other.read(leaf, 10, 12)] == wanted[10:12]
        assert [event.name for event in await log.read(leaf, 500, limit=3)] == wanted[500:503]
        assert [event.name for event in await log.read(leaf, depth)] == wanted[depth:]
        assert [event.name for event in await take(other.tail(leaf), depth + 1)] == wanted
        early = await log.append("early", [happened("e")], fork(leaf, 3))
        assert early.head == 4
        assert [event.name for event in await other.read("early")] == [*wanted[:3], "e"]

    async def test_a_long_chain_can_be_deleted(self, open_log: OpenLog) -> None:
        """Oldest first: nothing that a fork needs is removed, then everything is."""
        log, depth = open_log(described), 100
        await log.append("s0", several(2))
        for number in range(1, depth + 1):
            await log.append(f"s{number}", several(2), fork(f"s{number - 1}", number))
        await log.append("newest", several(1))
        wanted = await log.read(f"s{depth}")
        removed = 0
        for number in range(depth):
            await log.delete(f"s{number}")
            removed += await log.trim(3)
        assert removed == depth  # What each had beyond its fork.
        assert await open_log(described).read(f"s{depth}") == wanted
        await log.delete(f"s{depth}")
        while count := await log.trim(50):
            assert count <= 50
            removed += count
        assert removed == 2 * (depth + 1)
        assert [event.session_id for _, event in await log.read_all(0)] == ["newest"]

    async def test_the_newest_checkpoint_may_be_in_the_prefix(self, log: EventLog) -> None:
        def checkpoint(stream: str, position: int) -> NewEvent:
            return changing(Put("checkpoints", {"session": stream, "position": position}))

        assert await log.checkpoint("nowhere", 5) == 0
        await log.append("s", [happened(), checkpoint("s", 2), happened(), checkpoint("s", 4)])
        await log.append("fork", [happened(), checkpoint("fork", 5)], fork("s", 3))
        await log.append("deep", [happened()], fork("fork", 4))
        assert [await log.checkpoint("s", at) for at in (1, 2, 3, 4)] == [0, 2, 2, 4]
        assert [await log.checkpoint("fork", at) for at in (1, 3, 4, 5)] == [0, 2, 2, 5]
        assert [await log.checkpoint("deep", at) for at in (1, 4, 5)] == [0, 2, 2]

    async def test_a_reference_may_lead_into_the_prefix(self, log: EventLog) -> None:
        await log.append("s", [completed("out"), happened()])
        event = intent(["out"], outputs={0: 1})
        await log.append("fork", [event], fork("s", 2))
        await log.append("deep", [], fork("fork", 3))
        assert (await log.read("fork", 2))[0].payload == event.payload
        assert (await log.read("deep", 2))[0].payload == event.payload


class TailContract(Contract):
    """A tail yields everything once, in order, no matter which handle appended it."""

    async def test_history_comes_first_then_what_happens(self, log: EventLog) -> None:
        await log.append("s", several(3))
        tail = log.tail("s", after=1)
        assert places(await take(tail, 2)) == [2, 3]
        await log.append("other", several(1))
        await log.append("s", several(2))
        assert places(await take(tail, 2)) == [4, 5]

    async def test_a_tail_may_begin_before_its_stream(self, log: EventLog) -> None:
        tail = log.tail("s")
        waiting = asyncio.ensure_future(take(tail, 2))
        await asyncio.sleep(0)
        await log.append("s", several(2))
        assert places(await waiting) == [1, 2]

    async def test_a_tail_of_a_fork_begins_with_the_prefix(self, log: EventLog) -> None:
        await log.append("s", several(2))
        await log.append("fork", several(1), fork("s", 2))
        events = await take(log.tail("fork"), 3)
        assert [(one.session_id, one.position) for one in events] == [
            ("fork", n) for n in (1, 2, 3)
        ]

    async def test_many_tails_lose_and_repeat_nothing(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        tails = [
            asyncio.ensure_future(take(log.tail("s", after), 100 - after))
            for log in (mine, other)
            for after in (0, 7, 50)
        ]

        async def write(log: EventLog) -> None:
            for _ in range(25):
                await log.append("s", several(2))

        await asyncio.gather(write(mine), write(other))
        for tail, after in zip(await asyncio.gather(*tails), (0, 7, 50) * 2, strict=True):
            assert places(tail) == list(range(after + 1, 101))

    async def test_everything_has_a_place_in_one_sequence(self, log: EventLog) -> None:
        await asyncio.gather(*(log.append(stream, several(2)) for stream in "abc"))
        await log.append("fork", [happened("own")], fork("a", 2))
        everything = await take(log.tail_all(), 7)
        sequence = [place for place, _ in everything]
        assert sequence == sorted(set(sequence))
        assert [(e.session_id, e.position) for _, e in everything[-1:]] == [("fork", 3)]
        assert await take(log.tail_all(after=sequence[2]), 4) == everything[3:]

    async def test_a_range_of_the_sequence_is_read_exactly(self, log: EventLog) -> None:
        assert await log.read_all(0) == []
        assert await log.last_sequence() == 0
        await asyncio.gather(*(log.append(stream, several(3)) for stream in "abc"))
        await log.append("fork", [happened("own")], fork("a", 2))
        everything = await take(log.tail_all(), 10)
        assert await log.read_all(0) == everything
        assert await log.last_sequence() == everything[-1][0]
        bounds = [-1, 0, *(sequence for sequence, _ in everything), everything[-1][0] + 5]
        for after, upto, limit in itertools.product(bounds, [None, *bounds], [None, 0, 1, 4, 99]):
            last = bounds[-1] if upto is None else upto
            wanted = [item for item in everything if after < item[0] <= last][:limit]
            assert await log.read_all(after, upto, limit) == wanted

    async def test_a_long_sequence_is_read_whole(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        for _ in range(3):
            await mine.append("s", several(500))
            await other.append("t", several(500))
        found = await mine.read_all(0)
        assert len(found) == 3000
        assert [sequence for sequence, _ in found] == sorted({sequence for sequence, _ in found})
        assert await mine.last_sequence() == found[-1][0]
        assert await other.read_all(found[1999][0], limit=700) == found[2000:2700]

    async def test_the_sequence_of_all_goes_on_live(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        waiting = asyncio.ensure_future(take(mine.tail_all(), 3))
        await asyncio.sleep(0)
        await other.append("a", several(2))
        await mine.append("b", several(1))
        assert [event.session_id for _, event in await waiting] == ["a", "a", "b"]

    async def test_who_listens_to_everything_is_told_of_every_stream(
        self, open_log: OpenLog
    ) -> None:
        mine, other = open_log(described), open_log(described)
        told = asyncio.Event()
        heard: list[int | None] = []

        def notify(head: int | None) -> None:
            heard.append(head)
            told.set()

        undo = mine.on_change(None, notify)
        for log, stream in ((mine, "s"), (other, "s"), (mine, "t"), (other, "new")):
            told.clear()
            await log.append(stream, several(1))
            await soon(told)
        assert set(heard) == {None}
        undo()
        await asyncio.sleep(0)
        told.clear()
        await mine.append("s", several(1))
        await asyncio.sleep(0)
        assert not told.is_set()

    async def test_closing_ends_every_tail(self, open_log: OpenLog) -> None:
        log = open_log(described)
        await log.append("s", several(1))

        async def count(tail: AsyncIterator[object]) -> int:
            return len([one async for one in tail])

        tails = [asyncio.ensure_future(count(tail)) for tail in (log.tail("s"), log.tail_all())]
        await asyncio.sleep(0.01)
        await log.close()
        async with asyncio.timeout(PATIENCE):
            assert await asyncio.gather(*tails) == [1, 1]

    async def test_who_listens_is_told_of_its_stream_only(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        told = asyncio.Event()
        undo = mine.on_change("s", lambda head: told.set())
        for log in (mine, other):
            await log.append("s", several(1))
            await soon(told)
        await asyncio.sleep(0)
        told.clear()
        await mine.append("t", several(1))
        undo()
        undo()
        await mine.append("s", several(1))
        await asyncio.sleep(0)
        assert not told.is_set()
