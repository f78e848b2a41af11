"""A session's history, told from its events."""

from datetime import timedelta

from tests.unit.cli.scenes import BOOM, NOON, RUN, Story

from callboard import Approval, Phase, Workflow
from callboard.cli.history import history, phases_seen
from callboard.engine.offers import PhaseInfo, WorkflowInfo
from callboard.events import names
from callboard.events.moments import to_ms

LATER = NOON + timedelta(seconds=100)


def test_a_stay_has_its_agents_its_waiting_and_its_time():
    story = Story().enter().start()
    story.then(2, names.PHASE_FAILED, **RUN, error=BOOM, retryInMs=1000)
    story.then(1, names.AGENT_STARTED, **{**RUN, "attempt": 2})
    story.complete(3).ask().then(4, names.RECEIVED, id="q1", value="yes", approved=True)
    story.leave("plan", reason="next", next="book").enter("book")
    told = history(story.events)
    assert [stay.to_wire(LATER) for stay in told.stays] == [
        {
            "phase": "plan",
            "visit": 1,
            "enteredAt": "2026-01-31T12:00:00.000Z",
            "exitedAt": "2026-01-31T12:00:11.000Z",
            "durationMs": 11_000,
            "outcome": "next",
            "next": "book",
            "waitedMs": 4000,
            "questions": 1,
            "agents": [
                {"agent": "planner", "attempts": 2, "status": "completed", "workedMs": 5000}
            ],
            "error": None,
        },
        {
            "phase": "book",
            "visit": 1,
            "enteredAt": "2026-01-31T12:00:11.000Z",
            "exitedAt": None,
            "durationMs": 89_000,
            "outcome": "open",
            "next": None,
            "waitedMs": 0,
            "questions": 0,
            "agents": [],
            "error": None,
        },
    ]
    assert told.edges == {("plan", "book"): 1}
    assert told.visits == {"plan": 1, "book": 1}


def test_what_is_open_is_counted_until_now():
    told = history(Story().enter().start().ask().events)
    (stay,) = told.stays
    assert stay.waited_ms(to_ms(LATER)) == 100_000
    assert stay.works[0].to_wire(LATER)["workedMs"] == 100_000


def test_a_fork_begins_what_was_open_anew():
    story = Story().enter().start().then(50, names.FORKED, parentSessionId="s0", forkPosition=3)
    (stay,) = history(story.start().complete(2).events).stays
    assert stay.entered == NOON + timedelta(seconds=50)
    assert stay.works[0].to_wire(LATER)["workedMs"] == 2000


def test_entering_the_failed_phase_again_is_no_edge():
    story = Story().enter().start().leave("plan", reason="error")
    story.then(0, names.FAILED, error=BOOM)
    story.then(9, names.FORKED, parentSessionId="s0", forkPosition=5).enter("plan", 2)
    told = history(story.events)
    assert not told.edges
    assert told.ended is None


def test_a_cancelled_session_leaves_no_stay_open():
    told = history(Story().enter().start().then(5, names.CANCELLED).events)
    assert told.ended == NOON + timedelta(seconds=5)
    assert told.stays[0].outcome == "cancelled"


def test_phases_are_known_from_the_workflow_or_from_what_was_seen():
    async def planner(state: object) -> None: ...

    workflow = Workflow(
        "trip",
        state=dict,
        phases=[
            Phase("plan", agent=planner, human=Approval("Go?"), next="end"),
            Phase("end", terminal=True),
        ],
    )
    assert list(WorkflowInfo.of(workflow).phases) == [
        PhaseInfo("plan", "planner", human=True, leads_to=("end",)),
        PhaseInfo("end", terminal=True, leads_to=()),
    ]
    story = Story().enter().start().complete().ask().leave("plan", reason="next", next="end")
    story.enter("end").leave("end", reason="terminal")
    assert phases_seen(history(story.events)) == [
        PhaseInfo("plan", "planner", human=True),
        PhaseInfo("end", terminal=True),
    ]
