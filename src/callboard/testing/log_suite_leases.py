# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: who may drive a stream."""

import asyncio

import pytest

from callboard.errors import OwnershipLost, PositionConflict, SessionNotFound, SessionOwned
from callboard.log.protocol import Base, EventLog, Lease, Writing
from callboard.testing.log_suite_material import (
    AT,
    Contract,
    OpenLog,
    attributes,
    described,
    happened,
    several,
)


class LeaseContract(Contract):
    """One owner at a time, with an epoch that only grows."""

    async def test_each_handle_is_an_owner_of_its_own(self, open_log: OpenLog) -> None:
        assert open_log(described).owner != open_log(described).owner

    async def test_a_new_stream_belongs_to_nobody(self, log: EventLog) -> None:
        appended = await log.append("s", several(2))
        assert appended.epoch == 0
        assert await log.lease("s") == Lease(None, 0, 0, alive=False)

    async def test_claiming_takes_the_lease_with_the_append(self, log: EventLog) -> None:
        appended = await log.append("s", several(1), Writing(claim=True))
        assert appended.epoch == 1
        assert await log.lease("s") == Lease(log.owner, 1, 0, alive=True)

    async def test_claiming_again_keeps_the_epoch(self, log: EventLog) -> None:
        await log.append("s", several(1), Writing(claim=True))
        assert (await log.append("s", [], Writing(claim=True))).epoch == 1

    async def test_the_living_are_not_robbed(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        await mine.append("s", several(1), Writing(claim=True))
        with pytest.raises(SessionOwned) as refused:
            await other.append("s", several(1), Writing(claim=True))
        assert attributes(refused)["owner"] == mine.owner
        for giving_back in (Writing(settle=True), Writing(release=True)):
            with pytest.raises(SessionOwned):
                await other.append("s", [], giving_back)
        assert await other.lease("s") == Lease(mine.owner, 1, 0, alive=True)
        assert await mine.head("s") == 1

    async def test_others_may_append_without_a_claim(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        await mine.append("s", several(1), Writing(claim=True))
        assert (await other.append("s", several(1))).epoch == 1
        await mine.append("s", several(1), Writing(epoch=1, expect=2))
        assert await mine.head("s") == 3

    async def test_settling_gives_the_lease_back(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        await mine.append("s", several(1), Writing(claim=True))
        await mine.append("s", several(2), Writing(epoch=1, settle=True))
        assert await mine.lease("s") == Lease(None, 1, 3, alive=False)
        assert (await other.append("s", [], Writing(claim=True))).epoch == 2

    async def test_releasing_leaves_something_to_do(self, log: EventLog) -> None:
        await log.append("s", several(1), Writing(claim=True))
        await log.append("s", several(1), Writing(epoch=1, release=True))
        assert await log.lease("s") == Lease(None, 1, 0, alive=False)
        assert await log.unsettled() == ["s"]

    async def test_claim_and_settle_in_one(self, log: EventLog) -> None:
        appended = await log.append("s", several(2), Writing(claim=True, settle=True))
        assert appended.epoch == 1
        assert await log.lease("s") == Lease(None, 1, 2, alive=False)

    async def test_settling_what_nobody_drives(self, log: EventLog) -> None:
        await log.append("s", several(2), Writing(settle=True))
        assert await log.lease("s") == Lease(None, 0, 2, alive=False)
        with pytest.raises(SessionNotFound):
            await log.append("unknown", [], Writing(settle=True))

    async def test_an_epoch_that_is_over_can_append_nothing(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        await mine.append("s", several(1), Writing(claim=True))
        await mine.append("s", [], Writing(epoch=1, settle=True))
        with pytest.raises(OwnershipLost):
            await mine.append("s", several(1), Writing(epoch=1))
        await other.append("s", [], Writing(claim=True))
        with pytest.raises(OwnershipLost) as lost:
            await mine.append("s", several(1), Writing(epoch=1))
        assert attributes(lost)["owner"] == other.owner
        with pytest.raises(OwnershipLost):
            await other.append("s", several(1), Writing(epoch=1))
        with pytest.raises(OwnershipLost):
            await mine.append("unknown", several(1), Writing(epoch=1))
        assert await mine.head("s") == 1

    async def test_the_epoch_is_checked_before_the_length(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        await mine.append("s", several(2), Writing(claim=True))
        with pytest.raises(OwnershipLost):
            await other.append("s", several(1), Writing(epoch=1, expect=1))
        with pytest.raises(PositionConflict):
            await other.append("s", several(1), Writing(expect=1, claim=True))

    async def test_the_dead_are_replaced(self, open_log: OpenLog) -> None:
        dead, other = open_log(described), open_log(described)
        await dead.append("s", several(1), Writing(claim=True))
        self.kill(dead)
        assert await other.lease("s") == Lease(dead.owner, 1, 0, alive=False)
        assert (await other.append("s", several(1), Writing(claim=True))).epoch == 2
        assert await other.lease("s") == Lease(other.owner, 2, 0, alive=True)

    async def test_closing_gives_every_lease_back(self, open_log: OpenLog) -> None:
        mine, other = open_log(described), open_log(described)
        for stream in ("a", "b"):
            await mine.append(stream, several(1), Writing(claim=True))
        await mine.append("b", [], Writing(settle=True))
        await mine.close()
        assert await other.lease("a") == Lease(None, 1, 0, alive=False)
        assert await other.unsettled() == ["a"]

    async def test_a_fork_has_a_lease_of_its_own(self, log: EventLog) -> None:
        await log.append("s", several(2), Writing(claim=True))
        forked = await log.append("fork", several(1), Writing(claim=True, base=Base("s", 1)))
        assert forked.epoch == 1
        await log.append("fork", [], Writing(settle=True))
        assert await log.lease("s") == Lease(log.owner, 1, 0, alive=True)
        assert await log.lease("fork") == Lease(None, 1, 2, alive=False)

    async def test_one_of_many_who_claim_at_once_gets_it(self, open_log: OpenLog) -> None:
        logs = [open_log(described) for _ in range(4)]
        await logs[0].append("s", several(1))
        claims = [log.append("s", [], Writing(claim=True)) for log in logs]
        outcomes = await asyncio.gather(*claims, return_exceptions=True)
        refused = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert [type(error) for error in refused] == [SessionOwned] * 3

    async def test_what_has_grown_waits_for_a_driver_oldest_first(self, log: EventLog) -> None:
        for stream, at in (("late", 30), ("early", 10), ("settled", 20), ("middle", 20)):
            await log.append(stream, [happened()._replace(at_ms=AT + at)])
        await log.append("settled", [], Writing(settle=True))
        assert await log.unsettled() == ["early", "middle", "late"]
        assert await log.unsettled(limit=2) == ["early", "middle"]
        await log.append("settled", [happened()._replace(at_ms=AT)])
        assert await log.unsettled(limit=1) == ["settled"]
