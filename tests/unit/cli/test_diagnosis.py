"""What `why` says, in each situation that a session can be in."""

from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest
from tests.interactions import interaction
from tests.unit.cli.scenes import BOOM, NOON, RUN, Story

from callboard.cli.answer_commands import ways_to_answer
from callboard.cli.diagnosis import Situation, reason
from callboard.cli.targets import Database
from callboard.engine.workers import (
    StrandedSession,
    WorkerInfo,
    WorkerOverview,
    WorkerSession,
    WorkflowVersion,
)
from callboard.events import names
from callboard.events.limits import AgentLimit, AgentSlot
from callboard.events.moments import to_ms

pytestmark = pytest.mark.usefixtures("utc")

OWNER = "4711-abcdefgh"


def said(now: Situation) -> tuple[str, str]:
    why = reason(now)
    lines = [why.text]
    for way in why.ways:
        lines += [f"  {way.purpose}", *(f"    {command}" for command in way.commands)]
    return why.kind, "\n".join(lines)


def golden(text: str) -> str:
    return dedent(text).strip("\n")


def test_waiting_for_a_person():
    choice: dict[str, Any] = {"type": "choice", "options": ["By train", "--fly", "a\nb"]}
    story = Story().enter().ask().ask("q2", prompt="How?", other=True, inline=False, **choice)
    assert said(story.situation()) == (
        "waiting",
        golden("""
            Waiting for a person: 2 questions to answer.
              Go?
                callboard answer q1 yes --db t.db
                callboard answer q1 no --db t.db
              How?
                callboard answer q2 'By train' --db t.db
                callboard answer q2 --db t.db -- --fly
                callboard answer q2 3 --db t.db
                callboard answer q2 'YOUR ANSWER' --db t.db
              Then resume (or answer right there, in a terminal)
                callboard resume s1 --db t.db
        """),
    )


def test_waiting_while_a_process_waits_too():
    kind, text = said(Story().enter().ask().situation(owner=OWNER, alive=True))
    assert kind == "waiting"
    assert "Process 4711 continues as soon as it is answered." in text
    assert "resume" not in text


@pytest.mark.parametrize(
    ("policy", "then"),
    [
        ({"action": "answer", "value": "no", "approved": False}, ", then no is taken"),
        ({"action": "fail"}, ", then the workflow fails"),
        ({"action": "escalate", "to": ["ann", "bob"]}, ", then ann, bob are asked as well"),
        ({"action": "wait"}, ""),
    ],
)
def test_a_deadline_is_told_with_what_comes_after_it(policy: dict[str, Any], then: str):
    deadline = to_ms(NOON) + 90_000
    story = Story().enter().ask(deadline=deadline, onTimeout=policy)
    assert f"  Go? (until 12:01:30{then})\n" in said(story.situation())[1]


def test_a_question_whose_time_ran_out_cannot_be_answered():
    rule = {"action": "answer", "value": "no", "approved": False}
    story = Story().enter().ask(deadline=to_ms(NOON) + 30_000, onTimeout=rule)
    assert said(story.situation()) == (
        "idle",
        "Timed out without an answer: Go? (until 12:00:30, then no is taken). "
        + golden("""
            No process is driving it.
              Resume it
                callboard resume s1 --db t.db
        """),
    )
    kind, text = said(story.ask("q2", prompt="Sure?").situation(owner=OWNER, alive=True))
    assert (kind, "answer q1" in text, "answer q2" in text) == ("waiting", False, True)


def test_of_many_questions_the_first_ones_are_shown():
    story = Story().enter()
    for number in range(12):
        story.ask(f"q{number}", prompt=f"Is {number} fine?")
    kind, text = said(story.situation(owner=OWNER, alive=True))
    assert (kind, "12 questions to answer" in text) == ("waiting", True)
    assert ("answer q9 yes" in text, "answer q10 yes" in text) == (True, False)
    assert "  See all 12 questions\n    callboard inbox --session s1 --db t.db" in text


def test_paused():
    story = Story().enter().ask().then(0, names.PAUSING)
    story.then(0, names.PAUSED, by="ann", reason="lunch")
    assert said(story.situation()) == (
        "paused",
        golden("""
            It is paused by ann, 1 min ago (12:00:00): lunch. 1 question can be answered now; answers take effect when it is resumed.
              Resume it
                callboard resume s1 --db t.db
              Go?
                callboard answer q1 yes --db t.db
                callboard answer q1 no --db t.db
        """),  # noqa: E501 - a paragraph is one line until a terminal breaks it
    )


def test_pausing():
    story = Story().enter().start().then(0, names.PAUSING)
    assert said(story.situation(owner=OWNER, alive=True)) == (
        "pausing",
        golden("""
            A pause was requested. It takes effect as soon as 'planner' has finished.
              Resume instead
                callboard resume s1 --db t.db
        """),
    )
    assert said(story.situation(owner=OWNER))[1].startswith(
        "A pause was requested, and no process is driving it.\n"
    )


def test_running_elsewhere():
    now = Story().enter().start().situation(owner=OWNER, alive=True)
    assert said(now) == (
        "driven",
        "It is running: Agent 'planner' works in phase 'plan'. Process 4711 is driving it.",
    )


def test_its_process_died():
    assert said(Story().enter().start().situation(owner=OWNER)) == (
        "orphaned",
        golden("""
            Process 4711 was driving it and has died. Agent 'planner' was at work in phase 'plan'.
              Resume it
                callboard resume s1 --db t.db
        """),
    )


def test_nobody_drives_it():
    assert said(Story().situation())[1] == golden("""
        Ready to continue, but no process is driving it. It has not started yet.
          Resume it
            callboard resume s1 --db t.db
    """)
    assert said(Story().enter().situation()) == (
        "idle",
        golden("""
            Ready to continue, but no process is driving it. It is in phase 'plan'.
              Resume it
                callboard resume s1 --db t.db
        """),
    )


def test_held():
    story = Story().enter().then(0, names.HELD, reason="Workflow 'trip' no longer has it.")
    assert said(story.situation()) == (
        "held",
        golden("""
            It is held: Workflow 'trip' no longer has it.
              Resume it
                callboard resume s1 --db t.db
              Or start a new session at another phase
                callboard fork s1 --phase NAME --db t.db
        """),
    )


def test_waiting_to_try_again():
    story = Story().enter().start()
    story.then(0, names.PHASE_FAILED, **RUN, error=BOOM, retryInMs=90_000)
    assert said(story.situation(owner=OWNER, alive=True)) == (
        "retrying",
        "Agent 'planner' in phase 'plan' failed 1 time: ValueError: boom. "
        "It is tried again at 12:01:30, in 30 s.",
    )
    assert said(story.situation())[1].endswith("\n    callboard resume s1 --db t.db")


def test_waiting_because_the_agent_cannot_work_yet():
    story = Story().enter().start()
    limit = {"code": "RETRY_AFTER", "message": "Too many requests.", "type": "RetryAfter"}
    said_so = {"reason": "postponed", "error": limit, "retryInMs": 90_000}
    story.then(0, names.AGENT_INTERRUPTED, **RUN, **said_so)
    assert said(story.situation(owner=OWNER, alive=True)) == (
        "retrying",
        "Agent 'planner' in phase 'plan' cannot work yet: Too many requests. "
        "It is tried again at 12:01:30, in 30 s.",
    )


def test_waiting_for_tasks():
    story = Story().enter("plan").leave("plan", reason="terminal")
    story.then(0, names.TASK_STARTED, taskId="t1", kind="x", title="Look at it")
    assert said(story.situation()) == (
        "tasks",
        "It completes when its open tasks are done: 'Look at it'.",
    )


def test_failed():
    story = Story().enter().start().then(0, names.FAILED, error={**BOOM, "phase": "plan"})
    assert said(story.situation()) == (
        "failed",
        golden("""
            It failed 1 min ago (12:00:00) in phase 'plan': ValueError: boom
              Try again
                callboard retry s1 --db t.db
        """),
    )


def test_cancelled():
    assert said(Story().enter().then(0, names.CANCELLED, by="ann", reason="no").situation()) == (
        "cancelled",
        golden("""
            It was cancelled 1 min ago (12:00:00) and cannot be resumed.
              Continue in a new session
                callboard fork s1 --phase plan --db t.db
        """),
    )


def test_completed():
    now = Story().enter().then(0, names.COMPLETED, exitPhase="plan").situation()
    assert said(now) == (
        "completed",
        "It completed 1 min ago (12:00:00). Nothing is pending.",
    )
    assert reason(now).to_wire("s1", "completed")["ways"] == []


def test_the_default_database_need_not_be_named():
    assert ways_to_answer(interaction(), Database().command) == [
        "callboard answer q1 yes",
        "callboard answer q1 no",
    ]


def test_an_interactive_session_is_attended_to():
    asked = replace(interaction(), type="interactive_session", options=None)
    declining = "callboard answer q1 no --message WHY"
    attending = "callboard attend --session s1"
    deciding = "callboard answer q1 --outcome completed --response DECISION"
    assert ways_to_answer(asked, Database().command) == [attending, deciding, declining]
    alone = replace(asked, session_id=None)
    assert ways_to_answer(alone, Database().command) == ["callboard attend", deciding, declining]


def test_several_questions_are_answered_by_an_object():
    questions = [{"question": "Which?"}, {"question": "With?", "multiSelect": True}]
    asked = replace(interaction(), type="question", options=None, config={"questions": questions})
    assert ways_to_answer(asked, Database().command) == [
        """callboard answer q1 '{"Which?":"A","With?":["A"]}'""",
        "callboard answer q1 no --message WHY",
    ]


def test_on_a_server_a_session_goes_on_by_itself():
    waiting = Story().enter().ask().situation(watched=True)
    kind, text = said(waiting)
    assert kind == "waiting"
    assert "The server continues as soon as it is answered." in text
    assert "resume" not in text

    running = Story().enter().start().situation(owner="server", alive=True, watched=True)
    assert said(running) == (
        "driven",
        "It is running: Agent 'planner' works in phase 'plan'. The server is driving it.",
    )
    assert said(Story().enter().situation(watched=True)) == (
        "idle",
        golden("""
            Ready to continue; the server has not picked it up yet. It is in phase 'plan'.
              Resume it and follow
                callboard resume s1 --db t.db
        """),
    )


def test_waiting_for_a_slot():
    slot = AgentSlot("s1", "plan#1", waiting=True, since=to_ms(NOON))
    full = [AgentLimit("openai", 8, 8, 3, [slot]), AgentLimit("other", 1, 0, 0, [])]
    now = replace(Story().enter().situation(owner=OWNER, alive=True), limits=full)
    assert said(now) == (
        "limited",
        golden("""
            Waiting for a slot of openai, 8 of 8 in use. First come, first served.
              See who has one
                callboard limit openai --db t.db
              Raise the limit
                callboard limit openai NUMBER --db t.db
        """),
    )


def test_a_session_waits_for_a_slot_while_no_process_drives_it():
    slot = AgentSlot("s1", "plan#1", waiting=True, since=to_ms(NOON))
    now = Story().enter().situation(watched=True)
    kind, text = said(replace(now, limits=[AgentLimit("openai", 0, 0, 1, [slot])]))
    assert kind == "limited"
    assert text.startswith("Waiting for a slot of openai, 0 of 0 in use.")
    slots = [replace(slot, waiting=False)]
    assert said(replace(now, limits=[AgentLimit("openai", 1, 1, 0, slots)]))[0] == "idle"


def test_some_agents_run_and_others_wait_for_a_slot():
    slot = AgentSlot("s1", "plan#1[1]", waiting=True, since=to_ms(NOON))
    now = Story().enter().start().situation(owner=OWNER, alive=True)
    kind, text = said(replace(now, limits=[AgentLimit("openai", 1, 1, 1, [slot])]))
    assert kind == "limited"
    assert "1 of 1 in use. First come, first served. Agent 'planner' works in phase" in text


def overview(
    *workers: WorkerInfo, stranded: str | None = None, running: int | None = None
) -> WorkerOverview:
    left = StrandedSession("s1", None, "trip", None, "plan", to_ms(NOON), stranded or "", "Do it.")
    return WorkerOverview(
        workers=list(workers),
        worker_count=len(workers) if running is None else running,
        driven_count=0,
        ready_count=0,
        stranded=[left] if stranded else [],
        stranded_count=int(stranded is not None),
        limited=False,
        start_command="callboard worker FILE",
    )


def worker(engine_worker: str | None = None, since: int | None = None) -> WorkerInfo:
    driven = WorkerSession("s1", None, "trip", "plan", since)
    has = [WorkflowVersion("trip", "1")]
    return WorkerInfo(OWNER, "build-1", 4711, None, True, engine_worker, has, [driven], 1)


def test_the_worker_that_drives_it_is_named():
    now = Story().enter().start().situation(owner=OWNER, alive=True, watched=True)
    elsewhere = replace(now, workers=overview(worker()), host="desk")
    assert said(elsewhere) == (
        "driven",
        "It is running: Agent 'planner' works in phase 'plan'. "
        "Process 4711 on build-1 is driving it.",
    )
    since = overview(worker(engine_worker="3", since=to_ms(NOON)))
    assert said(replace(now, workers=since, host="build-1"))[1].endswith(
        "Process 4711 on build-1 is driving it. The phase started 1 min ago (12:00:00)."
    )
    beside = replace(now, workers=overview(worker()), host="build-1")
    assert said(beside)[1].endswith("The server is driving it.")


def test_what_no_running_worker_can_drive():
    reason = "No running worker has the workflow 'trip'."
    now = Story().enter().situation()
    start = "callboard worker FILE --driver local --db t.db"
    stranded = replace(now, workers=overview(stranded=reason, running=2), start_worker=start)
    assert said(stranded) == (
        "stranded",
        golden("""
            Ready to continue. No running worker has the workflow 'trip'. It is in phase 'plan'.
              Start a worker that has it
                callboard worker FILE --driver local --db t.db
              Or drive it in this terminal
                callboard resume s1 --db t.db
        """),
    )
    # Without any worker, resuming it here is the usual way.
    alone = replace(now, workers=overview(stranded="No worker is running."))
    assert said(alone)[0] == "idle"
    # Unless a server leaves sessions to workers.
    assert said(replace(alone, watched=True))[0] == "stranded"


def test_what_a_worker_will_pick_up():
    now = replace(Story().enter().situation(watched=True), by_worker=True)
    assert "Ready to continue; no worker has picked it up yet." in said(now)[1]
    asking = replace(Story().enter().ask().situation(watched=True), by_worker=True)
    assert "A worker continues as soon as it is answered." in said(asking)[1]
