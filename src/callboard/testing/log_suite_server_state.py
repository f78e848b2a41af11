# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: what servers share for a while, which is not part of any stream."""

import asyncio

from callboard.log.protocol import EventLog
from callboard.testing.log_suite_material import PATIENCE, Contract, OpenLog

LONG = 3600.0


class ServerStateContract(Contract):
    """Values are taken once, and what is held is free when its holder dies."""

    async def test_a_value_is_found_by_its_kind_and_key(self, log: EventLog) -> None:
        assert await log.server_state.add("code", "k", "v é", LONG)
        assert await log.server_state.find("code", "k") == "v é"
        assert await log.server_state.find("cookie", "k") is None
        assert await log.server_state.find("code", "other") is None

    async def test_the_first_value_counts_until_it_expires(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        assert await one.server_state.add("told", "k", "one", LONG)
        assert not await two.server_state.add("told", "k", "two", LONG)
        assert await one.server_state.add("told", "k", "one", 0)
        assert await two.server_state.add("told", "k", "two", LONG)
        assert await one.server_state.find("told", "k") == "two"

    async def test_what_has_expired_is_not_found_and_not_taken(self, log: EventLog) -> None:
        await log.server_state.add("code", "k", "v", 0)
        assert await log.server_state.find("code", "k") is None
        assert await log.server_state.take("code", "k") is None
        assert await log.server_state.add("code", "other", "v", LONG)
        assert await log.server_state.find("code", "other") == "v"

    async def test_of_all_who_take_a_value_one_gets_it(self, open_log: OpenLog) -> None:
        logs = [open_log() for _ in range(3)]
        await logs[0].server_state.add("code", "k", "v", LONG)
        taken = await asyncio.gather(
            *(log.server_state.take("code", "k") for log in logs for _ in range(3))
        )
        assert sorted(filter(None, taken)) == ["v"]
        assert await logs[1].server_state.find("code", "k") is None

    async def test_of_all_who_add_a_value_one_does(self, open_log: OpenLog) -> None:
        logs = [open_log() for _ in range(3)]
        added = await asyncio.gather(
            *(log.server_state.add("told", "k", log.owner, LONG) for log in logs)
        )
        assert sorted(added) == [False, False, True]
        winner = logs[added.index(True)]
        assert await logs[0].server_state.find("told", "k") == winner.owner

    async def test_the_values_of_a_kind_are_listed(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        await one.server_state.add("seen", "k", "one", LONG)
        await two.server_state.add("seen", "l", "two", LONG)
        await one.server_state.add("seen", "m", "over", 0)
        await one.server_state.add("code", "k", "other", LONG)
        await one.server_state.hold("seen", "n")
        assert sorted(await two.server_state.values("seen")) == ["one", "two"]
        assert await two.server_state.values("none") == []

    async def test_a_kind_is_cleared_and_the_others_stay(self, log: EventLog) -> None:
        await log.server_state.add("cookie", "k", "v", LONG)
        await log.server_state.add("code", "k", "v", LONG)
        await log.server_state.clear("cookie")
        assert await log.server_state.find("cookie", "k") is None
        assert await log.server_state.find("code", "k") == "v"

    async def test_others_see_what_a_handle_holds(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        await one.server_state.hold("hook", "a")
        await one.server_state.hold("hook", "a")
        await two.server_state.hold("hook", "b")
        assert await two.server_state.held_elsewhere("hook", ["a", "b", "c"]) == {"a"}
        assert await one.server_state.held_elsewhere("hook", ["a", "b", "c"]) == {"b"}
        assert await one.server_state.held_elsewhere("other", ["a", "b"]) == set()
        assert await one.server_state.held_elsewhere("hook", []) == set()
        await one.server_state.release("hook", "a")
        assert await two.server_state.held_elsewhere("hook", ["a"]) == set()

    async def test_the_dead_hold_nothing(self, open_log: OpenLog) -> None:
        one, two = open_log(), open_log()
        await one.server_state.hold("hook", "a")
        assert await two.server_state.held_elsewhere("hook", ["a"]) == {"a"}
        self.kill(one)
        async with asyncio.timeout(PATIENCE):
            # A death isn't announced.
            while await two.server_state.held_elsewhere("hook", ["a"]):  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    async def test_of_the_living_one_adopts_what_the_dead_held(self, open_log: OpenLog) -> None:
        one, two, three = open_log(), open_log(), open_log()
        for key in ("a 1", "a 2", "a 3", "b 1"):
            await one.server_state.hold("telling", key)
        await one.server_state.hold("hook", "a 1")
        await one.server_state.release("telling", "a 2")
        await two.server_state.hold("telling", "a 4")
        assert await three.server_state.adopt("telling", "a ") == set()
        self.kill(one)
        found: list[str] = []
        async with asyncio.timeout(PATIENCE):
            while len(found) < 2:
                for each in (two, three):
                    found += await each.server_state.adopt("telling", "a ")
                await asyncio.sleep(0.02)
        assert sorted(found) == ["a 1", "a 3"]
        held = set[str]()
        for each in (two, three):
            assert await each.server_state.adopt("telling", "a ") == set()
            held |= await each.server_state.held_elsewhere("telling", ["a 1", "a 2", "a 3"])
        assert held == {"a 1", "a 3"}

    async def test_what_is_shared_belongs_to_no_stream(self, log: EventLog) -> None:
        await log.server_state.add("code", "k", "v", LONG)
        assert await log.last_sequence() == 0
        assert log.outage() is None
