# ruff: noqa: D102 - the name of a test says what it shows
"""The log's contract: appending and reading."""

import asyncio
import itertools

import pytest

from callboard.errors import (
    PositionConflict,
    SessionExists,
    SessionNotFound,
    StateNotSerializable,
    StoreError,
)
from callboard.events import upcast
from callboard.events.envelope import place
from callboard.events.json_values import as_list, objects
from callboard.events.rows import Query
from callboard.log.protocol import Appended, EventLog, Portion, Writing
from callboard.testing.log_suite_material import (
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
    session_row,
    several,
)


class AppendContract(Contract):
    """Appends are gapless, atomic and ordered, and refusals have a reason."""

    async def test_positions_are_dense_from_one(self, log: EventLog) -> None:
        first = await log.append("s", several(3))
        second = await log.append("s", several(2))
        assert (first.head, second.head) == (3, 5)
        assert places(await log.read("s")) == [1, 2, 3, 4, 5]
        assert await log.head("s") == 5

    async def test_what_was_appended_is_read(self, log: EventLog) -> None:
        payload = {"output": {"ä": [1, 2.5, None, True, "\x00"]}}
        event = happened("agent:completed", payload)._replace(version=3, caused_by=happened().id)
        appended = await log.append("s", [event])
        assert appended.head == 1
        assert await log.read("s") == [place(event, "s", 1)]
        assert await log.read("s") == [place(event, "s", 1)]

    @pytest.mark.parametrize("id", ["a", "sixteen-letters!", "x" * 36, "A" * 36, ""])
    async def test_an_id_need_not_be_a_uuid(self, log: EventLog, id: str) -> None:
        await log.append("s", [happened()._replace(id=id, caused_by=id)])
        (event,) = await log.read("s")
        assert (event.id, event.caused_by) == (id, id)

    async def test_a_large_payload_comes_back_whole(self, log: EventLog) -> None:
        payload = {"output": ["compressible"] * 50_000}
        appended = await log.append("s", [happened(payload=payload)])
        assert (await log.read("s"))[0].payload == payload
        assert 0 < appended.size < 50_000

    async def test_size_counts_the_bytes_of_the_payloads(self, log: EventLog) -> None:
        small = await log.append("s", [happened(payload={"a": 1})])
        both = await log.append("s", [happened(payload={"a": 1}), happened(payload={"a": 1})])
        assert 0 < small.size == both.size / 2

    async def test_a_payload_changed_later_changes_nothing(self, log: EventLog) -> None:
        payload = {"list": [1]}
        await log.append("s", [happened(payload=payload)])
        payload["list"].append(2)
        assert (await log.read("s"))[0].payload == {"list": [1]}

    async def test_what_json_cannot_hold_is_refused(self, log: EventLog) -> None:
        with pytest.raises(StateNotSerializable):
            await log.append("s", [happened(), happened(payload={"no": object()})])
        assert await log.head("s") == 0

    async def test_an_old_shape_is_lifted_when_read(
        self, log: EventLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await log.append("s", [happened("old", {"was": 1})])
        monkeypatch.setitem(upcast.STEPS, ("old", 1), lambda payload: {"is": payload["was"]})  # pyright: ignore[reportArgumentType]
        (event,) = await log.read("s")
        assert (event.version, event.payload) == (2, {"is": 1})

    async def test_expect_must_be_the_length(self, log: EventLog) -> None:
        await log.append("s", several(2), Writing(expect=0))
        await log.append("s", several(1), Writing(expect=2))
        with pytest.raises(PositionConflict) as refused:
            await log.append("s", several(1), Writing(expect=2))
        assert attributes(refused)["expected"] == 2
        assert attributes(refused)["actual"] == 3
        with pytest.raises(PositionConflict):
            await log.append("unknown", several(1), Writing(expect=1))
        assert await log.head("s") == 3
        assert await log.lease("unknown") is None

    async def test_expecting_nothing_where_something_is_says_that_it_exists(
        self, log: EventLog
    ) -> None:
        await log.append("s", several(1), Writing(expect=0))
        with pytest.raises(SessionExists):
            await log.append("s", several(1), Writing(expect=0))

    async def test_an_empty_append_makes_no_stream(self, log: EventLog) -> None:
        appended = await log.append("s", [])
        assert (appended.head, appended.epoch, appended.size) == (0, 0, 0)
        assert await log.lease("s") is None
        with pytest.raises(SessionNotFound):
            await log.append("s", [], Writing(claim=True))

    async def test_appends_of_one_turn_keep_their_order(self, log: EventLog) -> None:
        appends = [log.append("s", [event]) for event in several(50)]
        appended = await asyncio.gather(*appends)
        assert [each.head for each in appended] == list(range(1, 51))
        assert [event.payload["number"] for event in await log.read("s")] == list(range(1, 51))

    async def test_a_first_claim_keeps_its_place(self, log: EventLog) -> None:
        """A handle may have to prepare before it takes a lease; what comes after it waits."""
        await asyncio.gather(
            log.append("a", several(1), Writing(claim=True)), log.append("b", several(1))
        )
        assert [event.session_id for _, event in await log.read_all(0)] == ["a", "b"]

    async def test_a_refused_append_does_not_disturb_the_others(self, log: EventLog) -> None:
        outcomes = await asyncio.gather(
            log.append("s", several(1), Writing(expect=0)),
            log.append("s", several(1), Writing(expect=0)),
            log.append("fork", several(1), fork("nowhere", 0)),
            log.append("t", several(1)),
            log.append("s", several(1), Writing(expect=1)),
            return_exceptions=True,
        )
        kinds = [Appended, SessionExists, SessionNotFound, Appended, Appended]
        assert [type(outcome) for outcome in outcomes] == kinds
        assert (await log.head("s"), await log.head("t"), await log.head("fork")) == (2, 1, 0)

    async def test_a_projection_that_fails_fails_its_own_append_only(
        self, open_log: OpenLog
    ) -> None:
        def fails(event: object) -> list[object]:
            if "changes" in getattr(event, "payload", {}):
                raise ZeroDivisionError
            return []

        log = open_log(fails)  # pyright: ignore[reportArgumentType]
        outcomes = await asyncio.gather(
            log.append("a", several(1)),
            log.append("b", [happened(), changing(session_row("b"))]),
            log.append("a", several(1)),
            return_exceptions=True,
        )
        assert isinstance(outcomes[1], ZeroDivisionError)
        assert (await log.head("a"), await log.head("b")) == (2, 0)

    async def test_a_row_that_no_table_takes_fails_its_own_append_only(self, log: EventLog) -> None:
        rows = [session_row("b"), session_row("b2", workflow=None)]
        outcomes = await asyncio.gather(
            log.append("a", [changing(session_row("a"))]),
            log.append("b", [changing(row) for row in rows]),
            log.append("c", [changing(session_row("c"))]),
            return_exceptions=True,
        )
        assert isinstance(outcomes[1], StoreError)
        assert [await log.head(stream) for stream in "abc"] == [1, 0, 1]
        assert [row["id"] for row in await log.rows(Query("sessions"))] == ["a", "c"]

    async def test_a_cancelled_caller_loses_nobody_elses_append(self, log: EventLog) -> None:
        new = several(20)
        tasks = [asyncio.ensure_future(log.append("s", [event])) for event in new]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        ended = zip(new, outcomes, strict=True)
        kept = [event.id for event, end in ended if not isinstance(end, BaseException)]
        events = await log.read("s")
        assert len(kept) >= 10
        assert set(kept) <= {event.id for event in events}
        assert places(events) == list(range(1, len(events) + 1))
        assert (await log.append("s", several(1))).head == len(events) + 1

    async def test_a_closed_log_says_so(self, log: EventLog) -> None:
        await log.append("s", several(1))
        await log.close()
        await log.close()
        for call in (log.append("s", several(1)), log.read("s"), log.head("s"), log.rebuild()):
            with pytest.raises(StoreError, match="closed"):
                await call

    async def test_what_is_begun_when_the_log_closes_is_finished(self, open_log: OpenLog) -> None:
        log = open_log(described)
        appends = [asyncio.ensure_future(log.append("s", several(1))) for _ in range(5)]
        await asyncio.sleep(0)
        await log.close()
        assert all(not isinstance(e, Exception) for e in await asyncio.gather(*appends))
        assert await open_log(described).head("s") == 5


class ReadContract(Contract):
    """Reads return exact ranges, and references are resolved wherever they lead."""

    async def test_an_unknown_stream_is_empty(self, log: EventLog) -> None:
        assert await log.read("s") == []
        assert await log.head("s") == 0
        assert await log.lease("s") is None

    async def test_a_range_is_read_exactly(self, log: EventLog) -> None:
        await log.append("s", several(10))
        ranges = itertools.product(
            [-1, 0, 1, 4, 9, 10, 11], [None, 0, 3, 4, 10, 99], [None, 0, 1, 3, 99]
        )
        for after, upto, limit in ranges:
            last = 10 if upto is None else upto
            wanted = [position for position in range(1, 11) if after < position <= last][:limit]
            assert places(await log.read("s", after, upto, limit)) == wanted

    async def test_a_portion_ends_after_so_many_bytes_but_not_before_one_event(
        self, log: EventLog
    ) -> None:
        await log.append("s", [happened("a", {"text": "x" * 5000}) for _ in range(4)])
        await log.append("s", [completed("y" * 5000), intent(["y" * 5000], outputs={0: 5})])
        for portion, wanted in (
            (Portion(9, 1), [1]),
            (Portion(9, 5001), [1]),
            (Portion(9, 5100), [1, 2]),
            (Portion(1, 99_999), [1]),
            (Portion(9, 99_999), [1, 2, 3, 4, 5, 6]),
        ):
            assert places(await log.read("s", 0, None, portion)) == wanted
            found = await log.read_all(0, None, portion)
            assert places([event for _, event in found]) == wanted
        assert places(await log.read("s", 4, None, Portion(9, 5100))) == [5, 6]
        assert places(await log.read("s", 5, None, Portion(9, 5100))) == [6]

    async def test_names_can_be_left_out(self, log: EventLog) -> None:
        await log.append("s", [happened("a"), happened("b"), happened("c"), happened("a")])
        assert places(await log.read("s", skip=["a"])) == [2, 3]
        assert places(await log.read("s", limit=1, skip={"a", "b"})) == [3]

    async def test_a_long_stream_is_read_whole(self, log: EventLog) -> None:
        for _ in range(6):
            await log.append("s", several(500))
        assert places(await log.read("s")) == list(range(1, 3001))

    async def test_a_reference_is_found_outside_the_range(self, log: EventLog) -> None:
        await log.append("s", [completed({"x": [1]}), *several(3)])
        await log.append("s", [intent(["other", {"x": [1]}], outputs={1: 1})])
        (event,) = await log.read("s", after=4)
        assert event.payload == intent(["other", {"x": [1]}]).payload

    async def test_a_reference_may_lead_into_the_same_append(self, log: EventLog) -> None:
        events = [completed("out"), intent(["out"], outputs={0: 1})]
        await log.append("s", events)
        assert [event.payload for event in await log.read("s")] == [e.payload for e in events]

    async def test_a_referred_value_is_stored_once(self, log: EventLog) -> None:
        output = "".join(chr(65 + (number * number) % 57) for number in range(900))
        stored = await log.append("s", [completed(output)])
        referring = await log.append("s", [intent([output], outputs={0: 1})])
        assert referring.size < stored.size / 5

    async def test_two_references_never_share_a_value(self, log: EventLog) -> None:
        await log.append("s", [completed([1]), intent([[1], [1]], outputs={0: 1, 1: 1})])
        output, change = await log.read("s")
        first, second = objects(change.payload["patches"])
        as_list(first["value"]).append(2)
        assert second["value"] == output.payload["output"] == [1]
