"""The four invariants of the seed's state machine, and its theorem of bounded recovery.

Beside them, what holds of the fold around it, whatever happens in whatever order.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

from hypothesis import assume, example, given
from hypothesis import strategies as st

from callboard.board.dialogs import Moment
from callboard.board.fold import apply
from callboard.board.plate import Pending, Plate, Unsettled
from callboard.board.transition import NEEDY, STATUSES, Happening, Status, transition
from callboard.board.watchdog import (
    HEALTH_CHECK_INTERVAL_SECS,
    MAX_RECOVERY_TIME_SECS,
    STALENESS_THRESHOLD_SECS,
    Checks,
    is_stale,
)
from callboard.events import plates
from callboard.events.event_name import Entry
from callboard.events.payloads.plates import OutcomeKind

TOOLS = ["AskUserQuestion", "ExitPlanMode", "Bash", ""]
NAMES = [*sorted(plates.ALL), "of_another_version"]

statuses = st.sampled_from(STATUSES)
happenings = st.builds(
    Happening,
    name=st.sampled_from(NAMES),
    tool=st.sampled_from([*TOOLS, None]),
    has_error=st.booleans(),
    subagent=st.booleans(),
)
details = st.fixed_dictionaries(
    {},
    optional={
        "toolName": st.sampled_from(TOOLS),
        "toolInput": st.sampled_from([{}, {"command": "ls"}, {"questions": []}, None]),
        "error": st.sampled_from(["boom", ""]),
        "subagent": st.sampled_from(["a1", "a2"]),
        "background": st.sampled_from([[], [{"id": "a1", "kind": "subagent"}]]),
        "origin": st.just("self"),
        "call": st.sampled_from(["c1", "c2"]),
        "request": st.sampled_from(["i1", None]),
        "interrupted": st.booleans(),
        "todo": st.just({"id": "1", "text": "x"}),
        "toolUseId": st.sampled_from(["t1", "t2"]),
        "outcome": st.sampled_from([*get_args(OutcomeKind), "of another version"]),
        "approved": st.sampled_from([True, False, None]),
        "handed": st.booleans(),
        "final": st.booleans(),
        "unheld": st.sampled_from(["i1", "i2"]),
    },
)
signals = st.builds(Entry, st.sampled_from(NAMES), details)
pendings = st.builds(
    Pending,
    id=st.sampled_from(["i1", "i2", None]),
    tool=st.sampled_from(TOOLS),
    call=st.sampled_from(["", "c1"]),
    asks=st.just("?"),
    at=st.integers(0, 200_000),
    subagent=st.sampled_from([None, "a1"]),
    use=st.sampled_from(["t1", None]),
)
unsettled = st.builds(
    Unsettled,
    id=st.sampled_from(["i3", "i4"]),
    tool=st.sampled_from(TOOLS),
    call=st.sampled_from(["", "c1"]),
    at=st.integers(0, 200_000),
    closed_at=st.integers(0, 200_000),
    use=st.sampled_from(["t1", None]),
    handed=st.booleans(),
    seen=st.sampled_from([None, "allowed", "denied"]),
)
found_plates = st.builds(
    Plate,
    plate_id=st.just("p1"),
    agent=st.just("claude"),
    session_id=st.sampled_from(["s1", "s2"]),
    created_at=st.just(0),
    updated_at=st.integers(0, 200_000),
    status=statuses,
    status_at=st.integers(0, 200_000),
    pending=st.lists(pendings, max_size=3, unique_by=lambda one: one.id).map(tuple),
    unsettled=st.lists(unsettled, max_size=2, unique_by=lambda one: one.id).map(tuple),
    subagents=st.sampled_from([(), ("a1",)]),
    unseen=st.booleans(),
)
moments = st.builds(
    Moment, st.integers(0, 300_000), st.sampled_from(["s1", "s2"]), fresh=st.booleans()
)


# ---------------------------------------------------------------------- the seed's four


@given(statuses, happenings)
def test_a_status_and_an_event_always_give_the_same_status(status: Status, event: Happening):
    assert transition(status, event) == transition(status, replace(event))


@given(statuses, happenings)
def test_every_transition_ends_in_a_status(status: Status, event: Happening):
    assert transition(status, event) in STATUSES


@given(statuses, st.lists(happenings))
def test_any_sequence_of_events_keeps_the_status_valid(status: Status, events: list[Happening]):
    for event in events:
        status = transition(status, event)
        assert status in STATUSES


@given(statuses)
def test_what_is_stuck_recovers_and_nothing_else_moves(status: Status):
    recovered = transition(status, Happening(plates.HEALTH_CHECK_RECOVERY))
    assert recovered == ("idle" if status in NEEDY else status)


# ---------------------------------------------------------------------- bounded recovery


class Watch:
    """A plate that is stuck since `stuck_at`, a transcript that somebody writes, and our checks.

    Times are milliseconds. We look every `tick`, from `begins` on.
    """

    def __init__(self, status: Status, stuck_at: int, begins: int, tick: int) -> None:
        self.plate = Plate("p1", "claude", "s1", 0, stuck_at, status=status, status_at=stuck_at)
        self.checks = Checks()
        self.now = begins
        self.tick = tick
        self.written = 0

    def look(self) -> None:
        due = self.checks.due(self.now / 1000)
        needs = self.plate.status in NEEDY
        if due and needs and is_stale(self.written / 1000, self.plate.updated_at / 1000):
            signal = plates.HEALTH_CHECK_RECOVERY({})
            self.plate = apply(self.plate, signal, Moment(self.now, "s1")).plate
        self.now += self.tick


needy = st.sampled_from(sorted(NEEDY))
ticks = st.sampled_from([50, 250, 1000, 2000, 5000, 10_000])
phases = st.integers(0, HEALTH_CHECK_INTERVAL_SECS * 1000)


@given(needy, phases, ticks, st.integers(1, 60_000))
def test_a_plate_recovers_within_twelve_seconds_of_the_transcript_going_on(
    status: Status, phase: int, tick: int, delay: int
):
    """The theorem: true state advances at any moment after the last event, and goes on."""
    stuck_at = 1_000_000
    advances_at = stuck_at + delay
    watch = Watch(status, stuck_at, stuck_at - phase, tick)
    while watch.now <= advances_at + MAX_RECOVERY_TIME_SECS * 1000:
        watch.written = watch.now if watch.now >= advances_at else stuck_at
        watch.look()
    assert watch.plate.status == "idle"


@given(needy, phases, ticks, st.integers(1, 60_000))
def test_one_write_beyond_the_threshold_is_enough(
    status: Status, phase: int, tick: int, delay: int
):
    stuck_at = 1_000_000
    written_at = stuck_at + STALENESS_THRESHOLD_SECS * 1000 + delay
    watch = Watch(status, stuck_at, stuck_at - phase, tick)
    while watch.now <= written_at + HEALTH_CHECK_INTERVAL_SECS * 1000:
        watch.written = written_at if watch.now >= written_at else stuck_at
        watch.look()
    assert watch.plate.status == "idle"


@given(statuses, phases, ticks, st.integers(-60_000, STALENESS_THRESHOLD_SECS * 1000))
def test_a_transcript_that_does_not_go_on_moves_nothing(
    status: Status, phase: int, tick: int, lag: int
):
    """No flapping: a transcript may be written a little after the hook that tells of it."""
    stuck_at = 1_000_000
    watch = Watch(status, stuck_at, stuck_at - phase, tick)
    before = watch.plate
    watch.written = stuck_at + lag
    while watch.now <= stuck_at + 60_000:
        watch.look()
    assert watch.plate == before


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=50))
def test_checks_are_never_closer_than_ten_seconds(gaps: list[int]):
    checks, now, made = Checks(), 0.0, list[float]()
    for gap in gaps:
        now += gap / 1000
        if checks.due(now):
            made.append(now)
    assert all(round(b - a, 3) >= HEALTH_CHECK_INTERVAL_SECS for a, b in pairwise(made))


# ---------------------------------------------------------------------- the fold around it


@given(found_plates, signals, moments)
def test_the_fold_is_total_and_keeps_a_plate_valid(plate: Plate, signal: Entry, moment: Moment):
    folded = apply(plate, signal, moment)
    assert folded.plate.status in STATUSES
    assert Plate.from_json(folded.plate.to_json()) == folded.plate
    assert apply(plate, signal, moment) == folded


@given(found_plates, signals, moments)
def test_a_question_is_open_or_waits_for_its_outcome_or_has_its_last_word(
    plate: Plate, signal: Entry, moment: Moment
):
    after = apply(plate, signal, moment, asked="i9")
    still = _ids(after.plate.pending) | _ids(after.plate.unsettled)
    said = {one.id for one in after.closed}
    before = _ids(plate.pending) | _ids(plate.unsettled)
    assert before - still <= (said if signal.payload.get("final") else set())
    assert said <= before | {"i9"}


@given(found_plates, signals, moments)
def test_a_dialog_that_the_board_cannot_answer_is_open_or_gone(
    plate: Plate, signal: Entry, moment: Moment
):
    after = apply(plate, signal, moment, asked="i9").plate
    assert len(after.pending) <= len(plate.pending) + 1
    assert len(after.unsettled) <= len(plate.unsettled) + len(plate.pending)


@given(found_plates, signals, moments)
def test_an_answer_that_is_handed_over_is_no_outcome(plate: Plate, signal: Entry, moment: Moment):
    handing = signal._replace(payload={"request": "i1", "handed": "allowed"})
    assume(moment.session_id == plate.session_id and signal.name != plates.PERMISSION_REQUEST)
    assume(plate.status != "closed" and signal.name != plates.TOOL_START)
    assert apply(plate, handing, moment).closed == ()


def _moving(plate: Plate) -> Plate:
    """A plate without the requests whose outcome may be learnt after their session."""
    return replace(plate, unsettled=())


def _ids(asked: tuple[Pending, ...] | tuple[Unsettled, ...]) -> set[str]:
    return {one.id for one in asked if one.id is not None}


@given(found_plates, signals, moments)
def test_what_is_closed_stays_closed_but_for_a_session_that_starts(
    plate: Plate, signal: Entry, moment: Moment
):
    assume(signal.name != plates.SESSION_START)
    closed = replace(plate, status="closed")
    assert _moving(apply(closed, signal, moment).plate) == _moving(closed)


@given(found_plates, signals, moments, st.sampled_from(["a1", "a9"]))
def test_a_subagent_never_moves_the_status(
    plate: Plate, signal: Entry, moment: Moment, subagent: str
):
    inside = signal._replace(payload={**signal.payload, "subagent": subagent})
    after = apply(plate, inside, moment).plate
    assert (after.status, after.status_at) == (plate.status, plate.status_at)
    assert (after.error, after.interrupted) == (plate.error, plate.interrupted)


@given(found_plates, signals, st.integers(1, 10**9))
def test_what_comes_late_never_moves_the_status(plate: Plate, signal: Entry, by: int):
    moment = Moment(plate.status_at - by, plate.session_id)
    after = apply(plate, signal, moment).plate
    assert (after.status, after.status_at) == (plate.status, plate.status_at)


EQUAL: dict[str, Any] = {"tool": "Bash", "call": "c1", "at": 0, "use": "t1"}
"""What is the same of calls that were made at once."""


@example(
    Plate(
        plate_id="p1",
        agent="claude",
        session_id="s1",
        created_at=0,
        updated_at=0,
        pending=(Pending(id="i1", asks="?", **EQUAL), Pending(id="i2", asks="?", **EQUAL)),
        unsettled=(Unsettled(id="i3", closed_at=0, **EQUAL),),
    ),
    Entry(plates.TOOL_CALL, {"toolName": "Bash", "request": "i1", "toolUseId": "t1"}),
    0,
)
@given(found_plates, signals, st.integers(0, 300_000))
def test_a_session_that_was_left_behind_changes_nothing(plate: Plate, signal: Entry, at_ms: int):
    assume(signal.name != plates.SESSION_START or "subagent" in signal.payload)
    moment = Moment(at_ms, "s0", fresh=False)
    assert _moving(apply(plate, signal, moment).plate) == _moving(plate)


@given(found_plates, signals, moments)
def test_without_dialogs_the_status_is_the_tables(plate: Plate, signal: Entry, moment: Moment):
    """The law: where nothing is late, left behind or closed, the table alone decides."""
    asks = signal.payload.get("toolName") in ("AskUserQuestion", "ExitPlanMode")
    plate = replace(plate, pending=(), session_id=moment.session_id, status_at=0)
    assume(plate.status != "closed" and not asks)
    told = plates.details(signal)
    event = Happening(
        signal.name, told.get("toolName"), bool(told.get("error")), "subagent" in told
    )
    assert apply(plate, signal, moment).plate.status == transition(plate.status, event)


@given(found_plates, st.lists(st.tuples(signals, moments), max_size=12))
def test_while_a_dialog_of_its_own_is_open_a_plate_does_not_say_that_it_runs(
    plate: Plate, events: list[tuple[Entry, Moment]]
):
    for signal, moment in events:
        before, plate = plate, apply(plate, signal, moment).plate
        own = any(one.subagent is None for one in plate.pending)
        moved = plate.status_at != before.status_at or plate.status != before.status
        assert not (moved and own and plate.status == "running")
