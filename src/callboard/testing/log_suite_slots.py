# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: the slots of limits, which are not part of any stream."""

import asyncio

import pytest

from callboard.errors import StoreError
from callboard.events.limits import AgentLimit
from callboard.log import slots
from callboard.log.protocol import EventLog
from callboard.testing.log_suite_material import PATIENCE, Contract, OpenLog


async def limit(log: EventLog, name: str = "llm") -> AgentLimit:
    """A limit as the log lists it; an empty one if it doesn't."""
    found = [one for one in await log.slots.list() if one.name == name]
    return found[0] if found else AgentLimit(name, None, 0, 0, [])


async def queue(log: EventLog, in_use: int, waiting: int) -> AgentLimit:
    """The limit, as soon as so many have a slot and so many wait."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = await limit(log)
            if (found.in_use, found.waiting) == (in_use, waiting):
                return found
            await asyncio.sleep(0.01)


def taking(log: EventLog, session: str) -> asyncio.Task[str]:
    """Start to wait for a slot."""
    return asyncio.create_task(log.slots.take("llm", session, "write#1"))


async def taken(waiting: asyncio.Task[str]) -> str:
    """The slot, once it is there."""
    async with asyncio.timeout(PATIENCE):
        return await waiting


async def keep(log: EventLog, session: str, run: str = "write#1") -> None:
    """Let a session keep its place, while no process waits for it."""
    async with asyncio.timeout(PATIENCE):
        assert await log.slots.queue("llm", session, run, lambda: True) is None


class SlotContract(Contract):
    """So many agents at once, whichever handle they belong to, and first come, first served."""

    async def test_without_a_number_there_is_a_slot_for_everyone(self, log: EventLog) -> None:
        assert await log.slots.list() == []
        slots = [await taken(taking(log, f"s{number}")) for number in range(3)]
        assert len(set(slots)) == 3
        assert (await limit(log)).number is None
        await queue(log, 3, 0)
        for slot in slots:
            log.slots.free(slot)
        assert (await queue(log, 0, 0)).slots == []

    async def test_who_came_first_is_next_over_all_handles(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        await one.slots.set("llm", 1)
        first = await taken(taking(one, "s0"))
        waiting: list[tuple[EventLog, asyncio.Task[str]]] = []
        for number, log in enumerate((two, one, two, one), 1):
            waiting.append((log, taking(log, f"s{number}")))
            await queue(one, 1, number)
        one.slots.free(first)
        for number, (log, task) in enumerate(waiting, 1):
            slot = await taken(task)
            found = await queue(two, 1, 4 - number)
            assert [each.session_id for each in found.slots if not each.waiting] == [f"s{number}"]
            log.slots.free(slot)
        await queue(two, 0, 0)

    async def test_limits_do_not_affect_each_other(self, log: EventLog) -> None:
        await log.slots.set("llm", 0)
        blocked = taking(log, "s")
        await queue(log, 0, 1)
        await log.slots.take("other", "s", "write#1")
        assert not blocked.done()
        assert [one.name for one in await log.slots.list()] == ["llm", "other"]
        blocked.cancel()
        await queue(log, 0, 0)

    async def test_a_list_shows_who_has_a_slot_and_who_waits(self, open_log: OpenLog) -> None:
        log, other = open_log(), open_log()
        await log.slots.set("llm", 1)
        await taken(taking(log, "a"))
        waiting = taking(other, "b")
        found = await queue(log, 1, 1)
        assert found.number == 1
        assert [(one.session_id, one.run, one.waiting) for one in found.slots] == [
            ("a", "write#1", False),
            ("b", "write#1", True),
        ]
        assert [one.owner for one in found.slots] == [log.owner, other.owner]
        [only] = await log.slots.list("b")
        assert (only.in_use, only.waiting) == (1, 1)
        assert [one.session_id for one in only.slots] == ["b"]
        waiting.cancel()

    async def test_who_gives_up_leaves_the_queue(self, open_log: OpenLog) -> None:
        log, other = open_log(), open_log()
        await log.slots.set("llm", 1)
        slot = await taken(taking(log, "a"))
        gives_up, stays = taking(log, "b"), taking(other, "c")
        await queue(log, 1, 2)
        gives_up.cancel()
        await queue(log, 1, 1)
        log.slots.free(slot)
        log.slots.free(slot)
        await taken(stays)
        await queue(log, 1, 0)

    async def test_a_higher_number_takes_effect_at_once(self, open_log: OpenLog) -> None:
        log, other = open_log(), open_log()
        await log.slots.set("llm", 1)
        waiting = [taking(log, f"s{number}") for number in range(4)]
        await queue(log, 1, 3)
        await other.slots.set("llm", 3)
        await queue(log, 3, 1)
        await other.slots.set("llm", None)
        await queue(log, 4, 0)
        for task in waiting:
            await taken(task)

    async def test_a_lower_number_lets_agents_finish(self, open_log: OpenLog) -> None:
        log, other = open_log(), open_log()
        slots = [await taken(taking(log, f"s{number}")) for number in range(3)]
        await other.slots.set("llm", 1)
        assert (await queue(log, 3, 0)).number == 1
        waiting = taking(other, "late")
        for left, slot in enumerate(slots):
            await queue(log, 3 - left, 1)
            assert not waiting.done()
            log.slots.free(slot)
        await taken(waiting)
        await queue(log, 1, 0)

    async def test_the_slots_of_the_dead_are_free(self, open_log: OpenLog) -> None:
        dead, log = open_log(), open_log()
        await log.slots.set("llm", 2)
        for number in range(2):
            await taken(taking(dead, f"dead{number}"))
        ahead, waiting = taking(dead, "ahead"), taking(log, "alive")
        await queue(log, 2, 2)
        self.kill(dead)
        await taken(waiting)
        assert [one.session_id for one in (await queue(log, 1, 0)).slots] == ["alive"]
        with pytest.raises(StoreError):
            await taken(ahead)

    async def test_closing_gives_every_slot_back(self, open_log: OpenLog) -> None:
        leaving, log = open_log(), open_log()
        await log.slots.set("llm", 1)
        await taken(taking(leaving, "leaving"))
        ahead, waiting = taking(leaving, "ahead"), taking(log, "stays")
        await queue(log, 1, 2)
        await leaving.close()
        await taken(waiting)
        assert [one.session_id for one in (await queue(log, 1, 0)).slots] == ["stays"]
        with pytest.raises(StoreError):
            await taken(ahead)


class KeptPlaceContract(Contract):
    """Sessions keep their places while no process waits, and take their turns like all others."""

    async def test_who_gets_a_slot_at_once_keeps_no_place(self, log: EventLog) -> None:
        await log.slots.set("llm", 1)
        slot = await log.slots.queue("llm", "a", "write#1", lambda: True)
        assert slot is not None
        assert await log.slots.due() == []

    async def test_kept_places_are_in_order_with_those_who_wait(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        await one.slots.set("llm", 1)
        slot = await taken(taking(one, "s0"))
        await keep(two, "s1")
        second = taking(one, "s2")
        await queue(one, 1, 2)
        await keep(one, "s3")
        assert [each.session_id for each in (await queue(two, 1, 3)).slots] == [
            "s0", "s1", "s2", "s3",
        ]  # fmt: skip
        one.slots.free(slot)
        await due(two, "s1")
        assert not second.done()
        # Who drives it has the slot at once, and no other.
        slot = await taken(taking(one, "s1"))
        assert await two.slots.due() == []
        one.slots.free(slot)
        two_slot = await taken(second)
        one.slots.free(two_slot)
        await due(one, "s3")
        await queue(one, 1, 0)

    async def test_who_comes_back_early_has_the_same_place(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        await one.slots.set("llm", 0)
        for session in "abc":
            await keep(one, session)
        waiting = taking(two, "b")
        await keep(two, "a")
        assert [each.session_id for each in (await queue(one, 0, 3)).slots] == list("abc")
        await one.slots.set("llm", 1)
        await due(two, "a")
        assert not waiting.done()
        await one.slots.set("llm", 2)
        await taken(waiting)

    async def test_a_place_that_is_not_asked_for_again_is_given_up(self, log: EventLog) -> None:
        await log.slots.set("llm", 0)
        taking_two = [log.slots.queue("llm", "a", run, lambda: True) for run in ("one", "two")]
        assert await asyncio.gather(*taking_two) == [None, None]
        await queue(log, 0, 2)
        await keep(log, "a", "three")
        assert [each.run for each in (await queue(log, 0, 1)).slots] == ["three"]
        assert await log.slots.leave("a")
        await queue(log, 0, 0)
        assert not await log.slots.leave("a")

    async def test_a_kept_place_survives_its_process(self, open_log: OpenLog) -> None:
        dead, log = open_log(), open_log()
        await log.slots.set("llm", 1)
        await taken(taking(dead, "held"))
        await keep(dead, "kept")
        self.kill(dead)
        # No one waits, so this is where the dead are noticed.
        await due(log, "kept")
        assert [each.session_id for each in (await queue(log, 1, 0)).slots] == ["kept"]

    async def test_a_higher_number_calls_all_whose_turn_it_is(self, open_log: OpenLog) -> None:
        log, other = open_log(), open_log()
        await log.slots.set("llm", 0)
        for session in "abcd":
            await keep(log, session)
        assert await log.slots.due() == []
        await other.slots.set("llm", 2)
        await due(log, "a", "b")
        assert await log.slots.due("b") == ["b"]
        assert await log.slots.due("c") == []
        await other.slots.set("llm", None)
        await due(log, "a", "b", "c", "d")

    async def test_a_slot_that_no_one_takes_goes_to_others(
        self, log: EventLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await log.slots.set("llm", 1)
        slot = await taken(taking(log, "first"))
        for session in ("late", "next"):
            await keep(log, session)
        log.slots.free(slot)
        await due(log, "late")
        with monkeypatch.context() as patched:
            patched.setattr(slots, "TAKEN_WITHIN", -1)
            await log.slots.due()
        # It is still called, but it keeps no one waiting.
        await due(log, "late", "next")
        slot, waiting = await taken(taking(log, "next")), taking(log, "behind")
        early = taking(log, "late")
        await queue(log, 1, 2)
        log.slots.free(slot)
        await taken(early)
        assert not waiting.done()

    async def test_who_gives_a_slot_back_twice_takes_none_from_others(
        self, open_log: OpenLog
    ) -> None:
        log, other = open_log(), open_log()
        await log.slots.set("llm", 1)
        slot = await taken(taking(log, "a"))
        log.slots.free(slot)
        await queue(log, 0, 0)
        await taken(taking(other, "a"))
        await keep(other, "b")
        log.slots.free(slot)
        await queue(log, 1, 1)


async def due(log: EventLog, *sessions: str) -> None:
    """Wait until it is the turn of these sessions, and of no others."""
    async with asyncio.timeout(PATIENCE):
        while sorted(await log.slots.due()) != sorted(sessions):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
