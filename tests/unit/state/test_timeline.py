"""Intervals: each beginning paired with its end."""

from tests.unit.cli.scenes import BOOM, RUN, Story

from callboard.events import names
from callboard.state.timeline import Interval, Timeline


def intervals(story: Story) -> list[Interval]:
    timeline = Timeline()
    return [one for event in story.events for one in timeline.add(event).began]


def shown(story: Story) -> list[tuple[str, str | None, bool]]:
    found = intervals(story)
    return [(one.kind, one.ended.name if one.ended else None, one.cut_off) for one in found]


def test_each_beginning_meets_its_end():
    story = Story().enter().start().complete().ask().then(1, names.RECEIVED, id="q1")
    story.leave("plan", reason="terminal").then(0, names.COMPLETED)
    assert shown(story) == [
        ("session", names.COMPLETED, False),
        ("phase", names.PHASE_EXITED, False),
        ("attempt", names.AGENT_COMPLETED, False),
        ("wait", names.RECEIVED, False),
    ]


def test_what_is_open_when_its_phase_or_session_ends_is_cut_off():
    story = Story().enter().start().leave("plan", reason="next", next="book")
    story.enter("book").ask().then(1, names.CANCELLED)
    assert shown(story) == [
        ("session", names.CANCELLED, False),
        ("phase", names.PHASE_EXITED, False),
        ("attempt", names.PHASE_EXITED, True),
        ("phase", names.CANCELLED, True),
        ("wait", names.CANCELLED, True),
    ]


def test_every_attempt_of_a_run_is_an_interval_in_its_visit():
    story = Story().enter().start().then(2, names.PHASE_FAILED, **RUN, error=BOOM, retryInMs=1)
    story.then(3, names.AGENT_STARTED, **{**RUN, "attempt": 2}).complete(4)
    phase = intervals(story)[1]
    now = story.events[-1].at_ms
    assert [one.took(now) for one in phase.inner] == [2000, 4000]
    assert phase.took(now) == 9000
    assert phase.failure is not None
    assert phase.recovered


def test_a_fork_begins_the_open_phase_again_and_drops_what_ran_in_it():
    story = Story().enter().start().then(5, names.FORKED, parentSessionId="s0", workflow="trip")
    *_, session, phase = intervals(story)
    assert (session.kind, phase.kind) == ("session", "phase")
    assert phase.start_ms == story.events[-1].at_ms
    assert phase.began.payload["phase"] == "plan"
    assert phase.inner == []


def test_a_question_outside_of_phases_belongs_to_none():
    story = Story().ask().then(1, names.EXPIRED, id="q1")
    wait = intervals(story)[-1]
    assert wait.phase is None
    assert wait.ended is not None


def test_an_end_without_its_beginning_changes_nothing():
    timeline = Timeline()
    story = Story().complete().then(0, names.RECEIVED, id="q9").leave("plan", reason="next")
    assert [timeline.add(event).ended for event in story.events] == [[], [], [], []]
