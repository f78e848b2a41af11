# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: who has it open, what they can drive, and who hears of what is written."""

import asyncio
from collections.abc import Callable, Collection

from callboard.log.protocol import EventLog, Writing
from callboard.log.registry import Description, LoadedWorkflow
from callboard.testing.log_suite_material import Contract, OpenLog, several, soon

TRIP = Description((LoadedWorkflow("trip", "1", ("plan", "book")),), "7")


async def until(is_true: Callable[[], bool]) -> None:
    """Wait until something holds that a beat has to show."""
    async with asyncio.timeout(90):
        while not is_true():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.01)


class OwnerContract(Contract):
    """Every handle knows the others, and says what it can drive."""

    async def test_a_handle_that_says_nothing_is_listed(self, log: EventLog) -> None:
        await log.append("s", several(1), Writing(claim=True))
        [own] = await log.owners.list()
        assert (own.id, own.alive, own.described) == (log.owner, True, Description())

    async def test_others_read_what_a_handle_can_drive(self, open_log: OpenLog) -> None:
        mine, other = open_log(), open_log()
        await mine.owners.describe(TRIP)
        found = {one.id: one for one in await other.owners.list()}
        assert found[mine.owner].described == TRIP
        assert found[mine.owner].knows("trip", "book")
        assert not found[mine.owner].knows("trip", "pay")
        assert not found[mine.owner].knows("other", "book")

    async def test_a_handle_can_change_what_it_says(self, open_log: OpenLog) -> None:
        mine, other = open_log(), open_log()
        await mine.owners.describe(TRIP)
        await mine.owners.describe(Description())
        assert all(not one.described.workflows for one in await other.owners.list())

    async def test_a_killed_owner_is_not_alive_for_long(self, open_log: OpenLog) -> None:
        mine, other = open_log(), open_log()
        await mine.owners.describe(TRIP)
        await other.owners.describe(TRIP)
        assert other.owners.alive(mine.owner)
        assert other.owners.alive(other.owner)
        self.kill(mine)
        await until(lambda: not other.owners.alive(mine.owner))
        assert not any(one.alive for one in await other.owners.list() if one.id == mine.owner)

    async def test_a_death_is_certain_at_once_to_who_waits_for_it(self, open_log: OpenLog) -> None:
        mine = open_log()
        await mine.owners.describe(TRIP)
        self.kill(mine)
        other = open_log()
        assert await other.owners.has_died(mine.owner)
        assert not await other.owners.has_died(other.owner)

    async def test_someone_is_elected_and_replaced(self, open_log: OpenLog) -> None:
        mine, other = open_log(), open_log()
        await until(mine.owners.elected)
        other.owners.elected()
        await mine.close()
        await until(other.owners.elected)

    async def test_a_handle_hears_of_its_own_appends(self, open_log: OpenLog) -> None:
        mine, other = open_log(), open_log()
        heard: list[str] = []

        def hear(streams: Collection[str]) -> None:
            heard.extend(streams)

        undo = mine.on_append(hear)
        await other.append("theirs", several(1))
        await mine.append("ours", several(1))
        await until(lambda: bool(heard))
        undo()
        await mine.append("later", several(1))
        await asyncio.sleep(0)
        assert heard == ["ours"]

    async def test_a_handle_hears_what_others_leave_to_be_driven(self, open_log: OpenLog) -> None:
        mine, other = open_log(), open_log()
        heard: list[str] = []
        told = asyncio.Event()

        def hear(streams: Collection[str]) -> None:
            heard.extend(streams)

        undo = mine.on_work(hear)
        await other.append("settled", several(1), Writing(settle=True))
        await other.append("driven", several(1), Writing(claim=True))
        await other.append("left", several(1))
        await until(lambda: "left" in heard)
        undo()
        mine.on_change("later", lambda head: told.set())
        await other.append("later", several(1))
        await soon(told)
        assert set(heard) == {"left"}
