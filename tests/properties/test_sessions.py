"""What holds of every session, whatever workflow it ran and whatever happened to it."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.faults.laws import check_laws
from tests.properties.random_flows import SESSION, Play, Spec, flows, history, moves

from callboard.engine.forking import Forking
from callboard.engine.loading import load
from callboard.events import names
from callboard.events.codec import dump_json, load_json
from callboard.events.envelope import Event, NewEvent
from callboard.events.json_values import as_object
from callboard.events.rows import KEYS, Query
from callboard.ids import event_id
from callboard.log.memory import MemoryLog
from callboard.log.protocol import EventLog
from callboard.state.control import control, restore
from callboard.state.fold import apply, fold
from callboard.state.rows import project
from callboard.state.session import SessionView
from callboard.state.undo import Undo

pytestmark = pytest.mark.timeout(300)

SOME_FORKS = 12


def check_folds(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    """Folding in two parts gives what folding at once gives, wherever it is split."""
    _, events = history(phases, ahead)
    check_laws(events)
    whole = fold(events)
    for split in range(len(events) + 1):
        first = fold(events[:split])
        kept = repr(first)
        assert fold(events[split:], first) == whole
        assert repr(first) == kept, "folding on changed the view that it began with"


def as_new(event: Event) -> NewEvent:
    return NewEvent(event.id, event.name, event.payload, event.at_ms)


def checkpoint(view: SessionView) -> NewEvent:
    """The view as a checkpoint holds it, through JSON."""
    payload = {"state": view.state, "phase": view.last_phase, "control": control(view)}
    return NewEvent(
        event_id(), names.CHECKPOINT, as_object(load_json(dump_json(payload))), view.updated_at
    )


def check_checkpoints(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    """A checkpoint anywhere changes nothing, and folding can begin there."""
    _, events = history(phases, ahead)
    for split in range(1, len(events)):
        before = fold(events[:split])
        again = SessionView(before.session_id, before.position, updated_at=before.updated_at)
        saved = checkpoint(before).payload
        restore(again, saved["state"], dict(as_object(saved["control"])))
        assert again == before
        asyncio.run(_loads_alike(events, split, before))


async def _loads_alike(events: Sequence[Event], split: int, before: SessionView) -> None:
    log = MemoryLog(project)
    await log.append(SESSION, [as_new(event) for event in events[:split]])
    await log.append(SESSION, [checkpoint(before)])
    await log.append(SESSION, [as_new(event) for event in events[split:]])
    view = (await load(log, SESSION)).view
    whole = fold(events)
    # Outputs are found by their position, which the checkpoint has moved by one.
    for run in view.visit.runs.values() if view.visit else ():
        run.output_at -= run.output_at > split
    view.position -= 1
    assert view == whole


def open_in(view: SessionView) -> dict[str, Any]:
    """What is kept beside a view, so that it can be compared."""
    unfinished = view.open
    groups = ("questions", "halting", "running", "busy", "ready", "blocked", "lost")
    found: dict[str, Any] = {name: set(getattr(unfinished, name)) for name in groups}
    for moments in ("deadlines", "retries"):
        kept = getattr(unfinished, moments)
        found[moments] = (bool(kept), kept.earliest(), set(kept.due(2**62)))
    by_run = {run: set(asked) for run, asked in unfinished.by_run.items() if asked}
    return found | {"by_run": by_run, "fresh": unfinished.fresh}


def searched(view: SessionView) -> dict[str, Any]:
    """The same, looked for in the whole view."""
    other = view.copy()
    other.open.rebuild(other.questions, other.visit)
    return open_in(other)


def check_unfinished(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    """What the fold keeps at hand is what a search of the view finds, after every event."""
    _, events = history(phases, ahead)
    view = SessionView()
    for event in events:
        apply(view, event)
        assert open_in(view) == searched(view)
        pending = [asked for asked in view.questions.values() if asked.status == "pending"]
        assert view.pending() == pending


def check_undo(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    """Events that are taken back have never been, however many of them there are."""
    _, events = history(phases, ahead)
    for first in range(len(events)):
        for last in {first + 1, first + 3, len(events)}:
            view = fold(events[:first])
            before, undo = repr(view), Undo(view)
            for event in events[first:last]:
                undo.before(event)
                apply(view, event)
            undo.take_back()
            assert repr(view) == before
            assert open_in(view) == searched(view)


def check_rows(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    """After every event, the rows that people query say what the fold says."""
    _, events = history(phases, ahead)
    asyncio.run(_rows_agree(events))


async def _rows_agree(events: Sequence[Event]) -> None:
    log, view = MemoryLog(project), SessionView()
    for event in events:
        await log.append(SESSION, [as_new(event)])
        view = fold([event], view)
        (row,) = await log.rows(Query("sessions", {"id": SESSION}))
        assert (row["status"], row["phase"]) == (view.status, view.phase)
        assert (row["pending"], row["position"]) == (len(view.pending()), view.position)
        pending = await log.rows(Query("human_interactions", {"status": "pending"}))
        assert {one["id"] for one in pending} == {asked.id for asked in view.pending()}
        open_now = await log.rows(Query("tasks", {"status": "running"}))
        assert {one["id"]: one["title"] for one in open_now} == view.tasks
        await _wakeups_agree(log, view)


async def _wakeups_agree(log: EventLog, view: SessionView) -> None:
    deadlines = {asked.deadline for asked in view.pending() if asked.deadline is not None}
    runs = view.visit.runs.values() if view.visit else ()
    retries = {run.retry_at for run in runs if run.retry_at is not None}
    expected = set() if view.ended else deadlines | retries
    assert {row["at"] for row in await log.rows(Query("wakeups"))} == expected


def check_forks(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    """Every position is a place to stand: a fork there runs to an end of its own.

    Of a long history only some are tried, others in the next one: each fork is a session to run.
    """
    play, events = history(phases, ahead)
    step = 1 + len(events) // SOME_FORKS
    asyncio.run(_fork_at(play, events, range(1 + len(events) % step, len(events) + 1, step)))


def check_all_forks(phases: Sequence[Spec], ahead: Sequence[str]) -> None:
    """The same, at every position."""
    play, events = history(phases, ahead)
    asyncio.run(_fork_at(play, events, range(1, len(events) + 1)))


async def _fork_at(play: Play, events: Sequence[Event], positions: Iterable[int]) -> None:
    for position in positions:
        forked = await play.outside.operations.fork(SESSION, Forking(position=position))
        own = await play.finish(forked.session_id)
        assert [e.id for e in own[:position]] == [e.id for e in events[:position]]
        check_laws(own)
        check_end(own, events)
    await _rebuilds_alike(play.outside.log)


def check_end(own: Sequence[Event], parents: Sequence[Event]) -> None:
    """People say the same, agents do the same: so a fork ends as its parent did.

    A fork behind a failed phase visits that phase again, and each visit has its own `before`.
    """
    mine, theirs = fold(own), fold(parents)
    state = mine.state
    if theirs.status == "failed":
        visits = theirs.visits
        extra = [["before", one, n] for one, n in mine.visits.items() if n > visits.get(one, 0)]
        state = state | {"seen": [one for one in state["seen"] if one not in extra]}
    assert (mine.status, mine.exit_phase, state) == (
        theirs.status,
        theirs.exit_phase,
        theirs.state,
    )


async def _rebuilds_alike(log: EventLog) -> None:
    before = {table: await log.rows(Query(table)) for table in KEYS}
    await log.rebuild()
    assert {table: await log.rows(Query(table)) for table in KEYS} == before


def each(*checks: Any) -> Any:
    return pytest.mark.parametrize("check", checks, ids=lambda check: check.__name__)


@each(check_folds, check_checkpoints, check_unfinished, check_undo, check_rows, check_forks)
@settings(max_examples=15)
@given(phases=flows, ahead=moves)
def test_every_session(check: Any, phases: Sequence[Spec], ahead: Sequence[str]):
    check(phases, ahead)


@pytest.mark.long
@pytest.mark.timeout(1800)
@each(check_folds, check_checkpoints, check_unfinished, check_undo, check_rows)
@settings(max_examples=1000)
@given(phases=flows, ahead=moves)
def test_many_sessions(check: Any, phases: Sequence[Spec], ahead: Sequence[str]):
    check(phases, ahead)


@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(max_examples=300)
@given(phases=flows, ahead=moves)
def test_many_forks(phases: Sequence[Spec], ahead: Sequence[str]):
    """Of each session one fork for each of its events, so of fewer sessions."""
    check_all_forks(phases, ahead)


@given(st.data())
@settings(max_examples=10)
def test_the_same_workflow_leaves_the_same_history(data: st.DataObject):
    """Else a failure of the tests above could not be tried again."""
    phases, ahead = data.draw(flows), data.draw(moves)
    first, second = history(phases, ahead)[1], history(phases, ahead)[1]
    assert [event.name for event in first] == [event.name for event in second]
