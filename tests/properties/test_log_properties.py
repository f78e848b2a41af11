"""What holds for logs whatever is written to them."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from callboard.errors import CallboardError
from callboard.events import codec
from callboard.events.envelope import Event, NewEvent, place
from callboard.events.rows import KEYS, Change, Drop, Put, Query, Row, RowChange
from callboard.events.status import status_of
from callboard.ids import event_id
from callboard.log.coalescing import coalesce
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.memory_views import MemoryViews, StreamFacts
from callboard.log.protocol import Base, EventLog, Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.faults import Mortal
from callboard.testing.log_suite_material import changing, completed, described, intent

T = TypeVar("T")

# What JSON, and so a payload, can hold: no lone surrogates, integers of 64 bits.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | text
json_values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
payloads = st.dictionaries(text.filter(lambda key: key != "referring"), json_values, max_size=3)
new_events = st.builds(
    NewEvent,
    id=st.uuids().map(str) | text,
    name=st.sampled_from(["agent:started", "text:delta", "unknown:name"]),
    payload=payloads,
    at_ms=st.integers(0, 4_000_000_000_000),
    version=st.integers(1, 3),
    caused_by=st.none() | st.uuids().map(str),
    outputs=st.none(),
)

sessions = st.sampled_from(["a", "b", "c"])
counts = st.integers(-2, 3)
wakeup_rows = st.fixed_dictionaries(
    {"session": sessions, "key": st.sampled_from(["x", "y"]), "at": counts}
)
session_rows = st.fixed_dictionaries(
    {"id": sessions, "workflow": st.just("w"), "created_at": counts},
    optional={
        "phase": st.none() | st.just("p"),
        "ended": st.sampled_from([None, "completed", "failed", "cancelled"]),
        "paused": st.integers(0, 1),
        "pending": st.integers(0, 2),
        "error": st.none() | text,
    },
)


def partial(rows: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of a row's columns."""
    return rows.flatmap(
        lambda row: st.sets(st.sampled_from(sorted(row))).map(
            lambda chosen: {column: row[column] for column in sorted(chosen)}
        )
    )


whole_keys = st.fixed_dictionaries({"session": sessions, "key": st.sampled_from(["x", "y"])})
wakeup_changes = st.one_of(
    st.builds(Put, st.just("wakeups"), wakeup_rows),
    st.builds(
        Change,
        st.just("wakeups"),
        whole_keys | partial(wakeup_rows),
        st.fixed_dictionaries({}, optional={"at": counts}),
        st.fixed_dictionaries({}, optional={"at": counts}),
    ).filter(lambda change: change.set.keys().isdisjoint(change.add)),
    st.builds(Drop, st.just("wakeups"), whole_keys | partial(wakeup_rows)),
)
session_changes = st.one_of(
    st.builds(Put, st.just("sessions"), session_rows),
    st.builds(
        Change,
        st.just("sessions"),
        st.fixed_dictionaries({"id": sessions}),
        st.fixed_dictionaries({}, optional={"phase": st.none() | st.just("q")}),
        st.fixed_dictionaries({}, optional={"pending": st.integers(0, 2)}),
    ),
    st.builds(Drop, st.just("sessions"), partial(session_rows)),
)
checkpoint_changes = st.builds(
    Put,
    st.just("checkpoints"),
    st.fixed_dictionaries({"session": sessions, "position": st.integers(1, 4)}),
)
row_changes = wakeup_changes | session_changes | checkpoint_changes


def in_a_database(work: Any) -> None:
    """Run `work(log)` with an SQLite log of its own."""

    async def main() -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = SqliteLog.open(Path(folder) / "log.db", described)
            try:
                await work(log)
            finally:
                await log.close()

    asyncio.run(main())


@given(st.lists(st.lists(new_events, max_size=4), max_size=5))
@settings(deadline=None, max_examples=30)
def test_what_is_appended_is_read_with_dense_positions(appends: list[list[NewEvent]]):
    async def work(log: EventLog) -> None:
        written = 0
        for events in appends:
            written += len(events)
            assert (await log.append("s", events)).head == written
        expected = [place(e, "s", n) for n, e in enumerate(sum(appends, list[NewEvent]()), 1)]
        assert await log.read("s") == expected

    in_a_database(work)
    asyncio.run(work(MemoryLog()))


@given(st.lists(json_values, max_size=4), st.data())
def test_decoding_undoes_encoding_with_references(outputs: list[Any], data: st.DataObject):
    """Whatever values are patched in, and whichever of them refer to outputs."""
    values = data.draw(st.lists(st.sampled_from(outputs), max_size=5)) if outputs else []
    referred = data.draw(st.sets(st.sampled_from(range(len(values))))) if values else set[int]()
    references = {index: outputs.index(values[index]) + 1 for index in referred}
    event = intent(values, references or None)

    def output_at(position: int) -> Any:
        return outputs[position - 1]

    decoded = codec.decode(codec.encode(event), output_at)
    assert codec.dump_json(decoded) == codec.dump_json(dict(event.payload))


@given(payloads)
def test_decoding_undoes_encoding(payload: dict[str, Any]):
    event = NewEvent(event_id(), "any", payload, 0)
    assert codec.decode(codec.encode(event), lambda _: StreamFacts()) == payload


@given(st.lists(row_changes, max_size=12))
@settings(max_examples=300)
def test_joined_changes_do_what_they_did_apart(changes: list[RowChange]):
    apart, joined = MemoryViews(), MemoryViews()
    apart.apply(changes)
    joined.apply(coalesce(changes))
    for table in KEYS:
        query = Query(table)
        assert joined.rows(query, lambda _: StreamFacts()) == apart.rows(
            query, lambda _: StreamFacts()
        )


@given(st.lists(st.lists(row_changes, max_size=4), max_size=6))
@settings(deadline=None, max_examples=30)
def test_views_equal_the_model_and_survive_rebuilding(appends: list[list[RowChange]]):
    async def work(log: EventLog) -> None:
        model = MemoryLog(described)
        for number, changes in enumerate(appends):
            for each in (log, model):
                await each.append(f"s{number % 2}", [changing(change) for change in changes])
        for table in KEYS:
            live = await log.rows(Query(table))
            assert live == await model.rows(Query(table))
            await log.rebuild()
            assert await log.rows(Query(table)) == live

    in_a_database(work)


@given(st.lists(session_rows, max_size=8, unique_by=lambda row: row["id"]))
@settings(deadline=None, max_examples=30)
def test_the_status_column_is_the_status_function(rows: list[dict[str, Any]]):
    async def work(log: EventLog) -> None:
        await log.append("s", [changing(Put("sessions", row)) for row in rows])
        for row in await log.rows(Query("sessions")):
            assert row["status"] == status_of(
                ended=row["ended"],
                paused=bool(row["paused"]),
                questions=row["pending"],
                entered=row["phase"] is not None,
            )

    in_a_database(work)


@dataclass(frozen=True)
class Handles:
    """The same handle on both logs."""

    model: MemoryLog
    real: Mortal


STREAMS = ["s", "t", "u", "v", "a"]
streams = st.sampled_from(STREAMS)
some_events = st.lists(
    st.one_of(
        new_events,
        row_changes.map(changing),
        st.integers().filter(lambda n: abs(n) < 2**53).map(completed),
    ),
    max_size=3,
)
lengths = st.none() | st.integers(0, 9)
some_cells = st.lists(st.sampled_from(["a", "b", "p", "q", "waiting", "failed", None]), max_size=4)
some_columns = st.lists(st.sampled_from(["id", "workflow", "phase", "error"]), max_size=3)


def without_owner(rows: list[Row]) -> list[Row]:
    """Rows whose owner is told as whether there is one: each log has names of its own."""
    return [{**row, "owner": row["owner"] is not None} for row in rows]


class LogMachine(RuleBasedStateMachine):
    """Whatever is done, the SQLite log answers as the memory log does."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.memory = SharedMemory()
        self.create()
        self.handles = [self.runner.run(self.open()), self.runner.run(self.open())]
        self.epochs: dict[str, int] = {}

    def create(self) -> None:
        """Make an empty database."""
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "log.db"

    async def open(self) -> Handles:
        return Handles(MemoryLog(described, memory=self.memory), await self.opened())

    async def opened(self) -> Mortal:
        """Another handle on the database."""
        return SqliteLog.open(self.path, described)

    def remove(self) -> None:
        """Remove the database."""
        self.folder.cleanup()

    def can_ask(self, query: Query) -> bool:
        """Whether the database understands every value."""
        return True

    def as_stored(self, rows: list[Row]) -> list[Row]:
        """How the database stores rows."""
        return rows

    def wrongly_marked(self) -> int:
        """How many streams are not marked as they should be."""
        log = self.handles[0].real
        assert isinstance(log, SqliteLog)
        sql = "SELECT count(*) FROM streams WHERE unsettled IS NOT (head > settled)"
        return log._reading.execute(sql).fetchone()[0]

    def teardown(self) -> None:
        for each in self.handles:
            self.runner.run(each.model.close())
            self.runner.run(each.real.close())
        self.runner.close()
        self.remove()

    def outcome(self, work: Coroutine[Any, Any, T]) -> T | str:
        """What came of it: a result, or the kind of refusal."""
        try:
            return self.runner.run(work)
        except CallboardError as refusal:
            return type(refusal).__name__

    def append(self, handle: int, stream: str, events: list[NewEvent], writing: Writing) -> None:
        chosen = self.handles[handle]
        wanted = self.outcome(chosen.model.append(stream, events, writing))
        found = self.outcome(chosen.real.append(stream, events, writing))
        assert found == wanted
        if not isinstance(found, str):
            self.epochs[stream] = found.epoch

    @rule(handle=st.integers(0, 1), stream=streams, events=some_events, expect=lengths)
    def append_events(
        self, handle: int, stream: str, events: list[NewEvent], expect: int | None
    ) -> None:
        self.append(handle, stream, events, Writing(expect=expect))

    @rule(
        handle=st.integers(0, 1),
        stream=streams,
        events=some_events,
        claim=st.booleans(),
        giving_back=st.sampled_from(["", "settle", "release"]),
        fresh=st.none() | st.booleans(),
    )
    def append_as_driver(
        self,
        handle: int,
        stream: str,
        events: list[NewEvent],
        claim: bool,
        giving_back: str,
        fresh: bool | None,
    ) -> None:
        known = self.epochs.get(stream, 0)
        epoch = None if fresh is None else known if fresh else known - 1
        writing = Writing(
            epoch=epoch,
            claim=claim,
            settle=giving_back == "settle",
            release=giving_back == "release",
        )
        self.append(handle, stream, events, writing)

    @rule(
        handle=st.integers(0, 1),
        appends=st.lists(
            st.tuples(
                streams,
                some_events,
                st.builds(
                    Writing,
                    expect=lengths,
                    claim=st.booleans(),
                    base=st.none() | st.builds(Base, streams, st.integers(0, 4)),
                ),
            ),
            min_size=2,
            max_size=5,
        ),
    )
    def append_in_one_turn(
        self, handle: int, appends: list[tuple[str, list[NewEvent], Writing]]
    ) -> None:
        async def together(log: EventLog) -> list[Any]:
            outcomes = await asyncio.gather(
                *(log.append(*append) for append in appends), return_exceptions=True
            )
            return [type(each) if isinstance(each, Exception) else each for each in outcomes]

        chosen = self.handles[handle]
        wanted = self.runner.run(together(chosen.model))
        assert self.runner.run(together(chosen.real)) == wanted

    @rule(
        handle=st.integers(0, 1),
        stream=streams,
        parent=streams,
        position=st.integers(0, 6),
        events=some_events,
        claim=st.booleans(),
    )
    def fork(
        self,
        handle: int,
        stream: str,
        parent: str,
        position: int,
        events: list[NewEvent],
        claim: bool,
    ) -> None:
        writing = Writing(base=Base(parent, position), claim=claim)
        self.append(handle, stream, events, writing)

    @rule(handle=st.integers(0, 1), stream=streams, data=st.data())
    def refer_to_an_output(self, handle: int, stream: str, data: st.DataObject) -> None:
        events = self.runner.run(self.handles[0].model.read(stream))
        outputs = [event for event in events if "output" in event.payload]
        if outputs:
            chosen = data.draw(st.sampled_from(outputs))
            event = intent([chosen.payload["output"]], {0: chosen.position})
            self.append(handle, stream, [event], Writing())

    @rule(handle=st.integers(0, 1), stream=streams)
    def delete(self, handle: int, stream: str) -> None:
        chosen = self.handles[handle]
        wanted = self.outcome(chosen.model.delete(stream))
        assert self.outcome(chosen.real.delete(stream)) == wanted

    @rule(handle=st.integers(0, 1), limit=st.integers(1, 4))
    def trim(self, handle: int, limit: int) -> None:
        chosen = self.handles[handle]
        assert self.runner.run(chosen.real.trim(limit)) == self.runner.run(chosen.model.trim(limit))

    @rule(handle=st.integers(0, 1))
    def rebuild(self, handle: int) -> None:
        chosen = self.handles[handle]
        assert self.runner.run(chosen.real.rebuild()) == self.runner.run(chosen.model.rebuild())

    @invariant()
    def views_are_equal(self) -> None:
        chosen = self.handles[0]
        for table in ("wakeups", "checkpoints"):
            wanted = self.runner.run(chosen.model.rows(Query(table)))
            assert self.runner.run(chosen.real.rows(Query(table))) == wanted

    @rule(
        handle=st.integers(0, 1),
        after=st.integers(-1, 12),
        upto=st.none() | st.integers(-1, 12),
        limit=lengths,
    )
    def read_all(self, handle: int, after: int, upto: int | None, limit: int | None) -> None:
        chosen = self.handles[handle]
        wanted = self.runner.run(chosen.model.read_all(after, upto, limit))
        assert self.runner.run(chosen.real.read_all(after, upto, limit)) == wanted

    @rule(handle=st.integers(0, 1))
    def open_anew(self, handle: int) -> None:
        chosen = self.handles[handle]
        self.runner.run(chosen.model.close())
        self.runner.run(chosen.real.close())
        self.handles[handle] = self.runner.run(self.open())

    @rule(handle=st.integers(0, 1))
    def crash(self, handle: int) -> None:
        async def stop() -> None:
            self.handles[handle].model.crash()
            self.handles[handle].real.crash()

        self.runner.run(stop())
        self.handles[handle] = self.runner.run(self.open())

    @rule(
        handle=st.integers(0, 1),
        stream=streams,
        after=st.integers(0, 6),
        upto=lengths,
        limit=lengths,
        skip=st.sets(st.sampled_from(["text:delta", "rows:changed"])),
    )
    def read(
        self,
        handle: int,
        stream: str,
        after: int,
        upto: int | None,
        limit: int | None,
        skip: set[str],
    ) -> None:
        chosen = self.handles[handle]
        wanted = self.runner.run(chosen.model.read(stream, after, upto, limit, skip))
        assert self.runner.run(chosen.real.read(stream, after, upto, limit, skip)) == wanted

    @rule(
        where=partial(session_rows),
        one_of=st.none() | st.tuples(st.sampled_from(["id", "phase", "status"]), some_cells),
        searched=st.none() | st.tuples(some_columns, text | st.sampled_from(["A", "w", "P", "%"])),
        order=st.sampled_from([None, "created_at", "status", "position"]),
        beyond=st.none() | st.tuples(counts, sessions | text),
        descending=st.booleans(),
        limit=lengths,
    )
    def query(
        self,
        where: dict[str, Any],
        one_of: tuple[str, list[str | None]] | None,
        searched: tuple[list[str], str] | None,
        order: str | None,
        beyond: tuple[int, str] | None,
        descending: bool,
        limit: int | None,
    ) -> None:
        place = None if beyond is None else beyond if order == "created_at" else beyond[1:]
        query = Query(
            "sessions",
            where,
            one_of=one_of,
            text=searched,
            beyond=place if order in (None, "created_at") else None,
            order=order,
            descending=descending,
            limit=limit,
        )
        if not self.can_ask(query):
            return
        chosen = self.handles[0]
        wanted = self.as_stored(self.runner.run(chosen.model.rows(query)))
        assert without_owner(self.runner.run(chosen.real.rows(query))) == without_owner(wanted)

    @precondition(lambda self: self.epochs)
    @invariant()
    def streams_and_leases_are_equal(self) -> None:
        owners = {each.model.owner: each.real.owner for each in self.handles}
        for stream in STREAMS:
            chosen = self.handles[0]
            assert self.runner.run(chosen.real.head(stream)) == self.runner.run(
                chosen.model.head(stream)
            )
            wanted = self.runner.run(chosen.model.lease(stream))
            found = self.runner.run(chosen.real.lease(stream))
            assert (found is None) == (wanted is None)
            if found and wanted:
                assert (found.epoch, found.settled, found.alive) == (
                    wanted.epoch,
                    wanted.settled,
                    wanted.alive,
                )
                if wanted.alive and wanted.owner:
                    assert found.owner == owners[wanted.owner]

    @invariant()
    def what_is_unsettled_is_marked(self) -> None:
        assert self.wrongly_marked() == 0

    @rule()
    def the_sequence_of_all_is_equal(self) -> None:
        chosen = self.handles[0]
        wanted = self.runner.run(chosen.model.read_all(0))

        async def everything(log: EventLog) -> list[tuple[int, Event]]:
            tail = log.tail_all()
            return [await anext(tail) for _ in wanted]

        assert self.runner.run(chosen.real.read_all(0)) == wanted
        assert self.runner.run(everything(chosen.real)) == wanted
        last = self.runner.run(chosen.model.last_sequence())
        assert self.runner.run(chosen.real.last_sequence()) == last
        assert set(self.runner.run(chosen.real.unsettled())) == set(
            self.runner.run(chosen.model.unsettled())
        )


LogMachine.TestCase.settings = settings(deadline=None, max_examples=15, stateful_step_count=30)
TestLogMachine = LogMachine.TestCase
