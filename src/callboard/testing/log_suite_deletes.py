# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: deleting sessions, and trimming what can no longer be read."""

import asyncio
import itertools

import pytest

from callboard.errors import (
    OwnershipLost,
    PositionConflict,
    SessionExists,
    SessionNotFound,
    SessionOwned,
    StoreError,
)
from callboard.events.envelope import Event
from callboard.events.rows import Put, Query, RowChange
from callboard.log.protocol import EventLog, Writing
from callboard.testing.log_suite_forks import take
from callboard.testing.log_suite_material import (
    AT,
    Contract,
    OpenLog,
    completed,
    fork,
    happened,
    intent,
    places,
    several,
    soon,
)
from callboard.testing.log_suite_views import all_views


def own_rows(event: Event) -> list[RowChange]:
    """A projection like Callboard's: events only change rows of their own session."""
    session, position = event.session_id, event.position
    if position == 1 or event.name == "forked":
        return [
            Put("sessions", {"id": session, "workflow": "w", "created_at": AT}),
            Put("wakeups", {"session": session, "key": "k", "at": 1}),
            Put("tasks", {"id": f"t-{session}", "execution_id": session, **_TASK}),
            Put("human_interactions", {"id": f"q-{session}", "stream": session, **_QUESTION}),
            Put("plates", {"id": session, **_PLATE}),
            Put("plate_sessions", {"session_id": f"s-{session}", "plate": session}),
        ]
    return [Put("checkpoints", {"session": session, "position": position})]


_TASK = {"kind": "k", "title": "t", "status": "running", "started_at": AT}
_QUESTION = {"type": "approval", "prompt": "?", "created_at": AT}
_PLATE = {
    "agent": "a",
    "session_id": "s",
    "created_at": AT,
    "updated_at": AT,
    "status": "idle",
    "status_at": AT,
    "project_path": "/",
    "last_event": "stop",
}


async def trimmed(log: EventLog, limit: int = 1000) -> int:
    """Trim everything that can be trimmed; returns the number of events removed."""
    removed = 0
    while count := await log.trim(limit):
        assert count <= limit
        removed += count
    return removed


async def checkpoints(log: EventLog, session: str) -> list[int]:
    """The positions of a session's checkpoints."""
    return [row["position"] for row in await log.rows(Query("checkpoints", {"session": session}))]


class DeleteContract(Contract):
    """A deleted session leaves no trace, and its forks stay complete."""

    @pytest.fixture
    def rowed(self, open_log: OpenLog) -> EventLog:
        """One handle with a projection of rows per session."""
        return open_log(own_rows)

    async def test_a_deleted_stream_reads_as_if_it_had_never_been(self, open_log: OpenLog) -> None:
        log, other = open_log(own_rows), open_log(own_rows)
        await log.append("s", several(3))
        await log.append("t", several(1))
        await other.read("s")
        await log.delete("s")
        for each in (log, other):
            assert await each.read("s") == []
            assert await each.head("s") == 0
            assert await each.lease("s") is None
            assert await each.checkpoint("s", 3) == 0
            assert await each.unsettled() == ["t"]
            assert [event.session_id for _, event in await each.read_all(0)] == ["t"]
            assert [e.session_id for _, e in await take(each.tail_all(), 1)] == ["t"]
        await trimmed(other)
        assert await log.read("s") == []

    async def test_its_rows_go_with_it(self, rowed: EventLog) -> None:
        await rowed.append("t", several(2))
        wanted = await all_views(rowed)
        await rowed.append("s", several(3))
        await rowed.delete("s")
        assert await all_views(rowed) == wanted
        assert await rowed.rebuild() == 2
        assert await all_views(rowed) == wanted
        await trimmed(rowed)
        assert await rowed.rebuild() == 2
        assert await all_views(rowed) == wanted

    async def test_its_id_is_not_given_again(self, open_log: OpenLog) -> None:
        log, other = open_log(own_rows), open_log(own_rows)
        await log.append("s", several(2))
        await log.append("t", several(2))
        await log.delete("s")
        for each in (log, other, open_log(own_rows)):
            for writing in (Writing(), Writing(expect=0), Writing(claim=True), fork("t", 1)):
                with pytest.raises(SessionExists):
                    await each.append("s", several(1), writing)
            with pytest.raises(SessionExists):
                await each.append("s", [], fork("t", 1))
            await trimmed(each)
        assert await log.head("s") == 0

    async def test_who_still_writes_to_it_is_refused(self, rowed: EventLog) -> None:
        await rowed.append("s", several(2))
        await rowed.delete("s")
        with pytest.raises(PositionConflict):
            await rowed.append("s", several(1), Writing(expect=2))
        with pytest.raises(OwnershipLost):
            await rowed.append("s", several(1), Writing(epoch=1))
        with pytest.raises(SessionNotFound):
            await rowed.append("s", [], Writing(settle=True))
        assert (await rowed.append("s", [])).head == 0
        with pytest.raises(SessionNotFound):
            await rowed.append("fork", several(1), fork("s", 1))
        assert await rowed.lease("fork") is None

    async def test_what_is_not_there_cannot_be_deleted(self, rowed: EventLog) -> None:
        with pytest.raises(SessionNotFound):
            await rowed.delete("s")
        await rowed.append("s", several(1))
        await rowed.delete("s")
        with pytest.raises(SessionNotFound):
            await rowed.delete("s")

    async def test_what_a_living_owner_drives_is_not_deleted(self, open_log: OpenLog) -> None:
        log, other = open_log(own_rows), open_log(own_rows)
        await other.append("s", several(2), Writing(claim=True))
        for each in (log, other):
            with pytest.raises(SessionOwned):
                await each.delete("s")
        assert await log.head("s") == 2
        self.kill(other)
        await log.delete("s")
        assert await log.head("s") == 0
        assert await log.unsettled() == []

    async def test_who_had_a_lease_once_can_close(self, open_log: OpenLog) -> None:
        log = open_log(own_rows)
        await log.append("s", several(1), Writing(claim=True))
        await log.append("s", [], Writing(settle=True))
        await log.delete("s")
        await log.close()
        with pytest.raises(StoreError, match="closed"):
            await log.trim()
        with pytest.raises(StoreError, match="closed"):
            await log.delete("s")

    async def test_a_deletion_is_heard_of(self, rowed: EventLog) -> None:
        await rowed.append("s", several(1))
        told = asyncio.Event()
        undo = rowed.on_change("s", lambda head: told.set())
        await rowed.delete("s")
        await soon(told)
        undo()

    async def test_appends_and_deletions_of_one_turn(self, rowed: EventLog) -> None:
        await rowed.append("s", several(2))
        await rowed.append("t", several(2))
        await asyncio.gather(
            rowed.append("t", several(1)), rowed.delete("s"), rowed.append("u", several(1))
        )
        heads = [await rowed.head(stream) for stream in "stu"]
        assert heads == [0, 3, 1]

    async def test_a_sequence_is_never_given_twice(self, open_log: OpenLog) -> None:
        log = open_log(own_rows)
        await log.append("s", several(3))
        last = await log.last_sequence()
        await log.delete("s")
        assert await trimmed(log) == 2
        assert await log.last_sequence() == last
        again = open_log(own_rows)
        await again.append("t", several(1))
        [(sequence, event)] = await again.read_all(0)
        assert (event.session_id, sequence > last) == ("t", True)
        assert await trimmed(again) == 1
        assert await trimmed(again) == 0

    async def test_events_are_removed_in_slices(self, rowed: EventLog) -> None:
        for stream in ("a", "b", "c"):
            await rowed.append(stream, several(10))
        await rowed.append("stays", several(5))
        for stream in ("a", "c"):
            await rowed.delete(stream)
        assert [await rowed.trim(8) for _ in range(4)] == [8, 8, 4, 0]
        assert places(await rowed.read("b")) == list(range(1, 11))
        assert places(await rowed.read("stays")) == [1, 2, 3, 4, 5]
        assert len(await rowed.read_all(0)) == 15

    async def test_others_append_between_two_slices(self, open_log: OpenLog) -> None:
        log, other = open_log(own_rows), open_log(own_rows)
        await log.append("s", several(400))
        await log.append("t", several(1))
        await log.delete("s")

        async def write() -> None:
            for _ in range(20):
                await other.append("t", several(1))

        removed, _ = await asyncio.gather(trimmed(log, 20), write())
        assert removed == 400
        assert places(await log.read("t")) == list(range(1, 22))

    async def test_one_who_trims_for_long_keeps_nobody_waiting(self, rowed: EventLog) -> None:
        """With one handle: each append is written at most a few slices later."""
        await rowed.append("s", several(100))
        await rowed.append("t", several(1))
        await rowed.delete("s")
        slices = 0
        seen: list[int] = []

        async def write() -> None:
            for _ in range(10):
                await rowed.append("t", several(1))
                seen.append(slices)

        writing = asyncio.ensure_future(write())
        while await rowed.trim(1):
            slices += 1
        await writing
        assert slices == 100
        assert all(later - earlier <= 3 for earlier, later in itertools.pairwise([0, *seen]))


class OrphanContract(Contract):
    """A fork keeps everything when its parent is deleted."""

    @pytest.fixture
    async def family(self, open_log: OpenLog) -> EventLog:
        """Four generations: a (1-6), b from a at 4, c from b at 6, d from b at 3 (so from a)."""
        log = open_log(own_rows)
        await log.append("a", [completed("out"), *several(5)])
        referring = intent(["out"], outputs={0: 1})
        await log.append("b", [happened("forked"), referring, *several(2)], fork("a", 4))
        await log.append("c", [happened("forked"), *several(1)], fork("b", 6))
        await log.append("d", [happened("forked")], fork("b", 3))
        await log.append("newest", several(1))
        return log

    async def test_a_fork_reads_its_prefix_from_what_was_deleted(
        self, family: EventLog, open_log: OpenLog
    ) -> None:
        wanted = {stream: await family.read(stream) for stream in "bcd"}
        checkpoints = {
            (stream, upto): await family.checkpoint(stream, upto)
            for stream in "bcd"
            for upto in range(9)
        }
        assert [checkpoints["c", upto] for upto in range(9)] == [0, 0, 2, 3, 4, 4, 6, 6, 8]
        assert checkpoints["d", 4] == 3
        await family.delete("a")
        assert await trimmed(family) == 2
        other = open_log(own_rows)
        for each in (family, other):
            assert {stream: await each.read(stream) for stream in "bcd"} == wanted
            for (stream, upto), found in checkpoints.items():
                assert await each.checkpoint(stream, upto) == found
        assert await take(other.tail("c"), 8) == wanted["c"]
        assert {e.session_id for _, e in await other.read_all(0)} == {"b", "c", "d", "newest"}

    async def test_a_fork_of_an_orphan_reads_through_it(self, family: EventLog) -> None:
        before = await family.read("c")
        await family.delete("a")
        await family.delete("b")
        await family.append("inside", several(1), fork("c", 2))
        await family.append("later", several(1), fork("c", 5))
        await trimmed(family)
        for stream, upto in (("inside", 2), ("later", 5)):
            found = await family.read(stream, upto=upto)
            assert [event.id for event in found] == [event.id for event in before[:upto]]
        assert [e.payload for e in await family.read("c")] == [e.payload for e in before]

    async def test_checkpoints_stay_that_a_fork_needs(self, family: EventLog) -> None:
        assert await checkpoints(family, "a") == [2, 3, 4, 5, 6]
        await family.delete("a")
        assert await checkpoints(family, "a") == [2, 3, 4]
        await family.delete("b")
        assert await checkpoints(family, "b") == [6]
        await trimmed(family)
        assert (await checkpoints(family, "a"), await checkpoints(family, "b")) == ([2, 3, 4], [6])
        live = await all_views(family)
        await family.rebuild()
        assert await all_views(family) == live
        await family.delete("c")
        await trimmed(family)
        assert (await checkpoints(family, "a"), await checkpoints(family, "b")) == ([2, 3], [])
        live = await all_views(family)
        await family.rebuild()
        assert await all_views(family) == live

    async def test_with_the_last_fork_everything_goes(self, family: EventLog) -> None:
        await family.append("last", several(1))
        removed = [0]
        for stream in ("a", "b", "c", "d", "newest"):
            await family.delete(stream)
            removed.append(await trimmed(family))
        # What a and b had beyond their forks; then c's own, and what only c needed; then the rest.
        assert removed == [0, 2, 2, 2 + 2 + 1, 1 + 3, 1]
        assert [event.session_id for _, event in await family.read_all(0)] == ["last"]
        assert await family.rebuild() == 1
        assert [row["id"] for row in await family.rows(Query("sessions"))] == ["last"]

    async def test_the_order_of_deletions_does_not_matter(self, family: EventLog) -> None:
        for stream in ("d", "c", "a", "b"):
            await family.delete(stream)
        assert await trimmed(family, 3) == 6 + 4 + 2 + 1
        assert [event.session_id for _, event in await family.read_all(0)] == ["newest"]

    async def test_a_fork_at_nothing_needs_nothing(self, family: EventLog) -> None:
        await family.append("nothing", several(2), fork("newest", 0))
        await family.delete("newest")
        assert await trimmed(family) == 1
        assert places(await family.read("nothing")) == [1, 2]
