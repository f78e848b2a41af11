"""What an event makes of a plate: the rules that stand around the table."""

from dataclasses import replace
from typing import Any

import pytest

from callboard.board.calls import fingerprint
from callboard.board.dialogs import Folded, Moment
from callboard.board.fold import apply
from callboard.board.plate import LONGEST_TEXT, Plate
from callboard.events.event_name import Entry

NEW = Plate("p1", "claude", "s1", created_at=0, updated_at=0)
IDLE = replace(NEW, status="idle", status_at=1000)
RUNNING = replace(NEW, status="running", status_at=1000)
LS = {"command": "ls"}
QUESTIONS = {"questions": [{"question": "Which?"}]}


def happen(
    plate: Plate,
    name: str,
    at_ms: int = 2000,
    *,
    session: str = "s1",
    fresh: bool = False,
    asked: str | None = None,
    **details: Any,
) -> Folded:
    return apply(plate, Entry(name, details), Moment(at_ms, session, fresh), asked)


def after(plate: Plate, name: str, at_ms: int = 2000, **told: Any) -> Plate:
    return happen(plate, name, at_ms, **told).plate


def asking(tool: str = "Bash", given: Any = LS, asked: str | None = None, **more: Any) -> Plate:
    details = {"toolName": tool, "toolInput": given, "asks": "May I?", **more}
    return after(RUNNING, "permission_request", 1500, asked=asked, **details)


# ---------------------------------------------------------------------- closed, late, left behind


@pytest.mark.parametrize("name", ["prompt_submit", "tool_call", "permission_request", "stop"])
def test_what_is_closed_stays_closed(name: str):
    closed = after(RUNNING, "session_end", reason="other")
    assert after(closed, name, 3000, toolName="Bash", error="x") == closed


def test_a_session_that_starts_opens_it_again():
    closed = after(replace(RUNNING, dismissed=True), "session_end", reason="other")
    again = after(closed, "session_start", 3000)
    assert (again.status, again.dismissed, again.ended) == ("running", False, None)


def test_how_it_ended_is_remembered():
    assert after(RUNNING, "session_end", reason="clear").ended == "clear"
    assert after(RUNNING, "process_exit").ended == "process_exit"


def test_what_comes_late_tells_something_and_moves_nothing():
    stopped = after(RUNNING, "stop", 5000)
    late = after(stopped, "tool_call", 4000, toolName="Bash")
    assert (late.status, late.status_at, late.last_tool) == ("idle", 5000, "Bash")


def test_an_event_is_late_however_late_unless_the_clock_was_set_back():
    stopped = after(RUNNING, "stop", 100_000)
    submit = Entry("prompt_submit", {})
    late = Moment(10, "s1", now_ms=100_001)
    assert apply(stopped, submit, late).plate.status == "idle"
    before_everything = Moment(10, "s1", now_ms=11)
    assert apply(stopped, submit, before_everything).plate.status == "running"


def test_a_hook_that_says_nothing_makes_nothing_late():
    heard = after(IDLE, "hook_heard", 5000, hook="MessageDisplay")
    assert (heard.status_at, heard.updated_at) == (1000, 5000)
    assert after(heard, "tool_start", 4999, toolName="Bash").status == "running"


def test_a_subagent_makes_nothing_of_the_session_late():
    heard = after(IDLE, "tool_call", 5000, toolName="Bash", subagent="a1")
    assert after(heard, "prompt_submit", 4999).status == "running"


@pytest.mark.parametrize("name", ["stop", "session_end", "tool_start", "permission_request"])
def test_a_session_that_was_left_behind_tells_nothing(name: str):
    cleared = after(RUNNING, "session_start", session="s2")
    assert after(cleared, name, 3000, toolName="Bash", reason="clear") == cleared


def test_the_next_session_begins_without_what_the_one_before_had():
    before = replace(
        asking(asked="i1"), prompt="old", last_message="old", last_tool="Bash", name="mine"
    )
    before = after(before, "hook_heard", 1600, todo={"id": "1", "text": "a"})
    folded = happen(before, "session_start", session="s2")
    plate = folded.plate
    assert (plate.session_id, plate.pending, plate.todos) == ("s2", (), ())
    assert (plate.prompt, plate.last_message, plate.last_tool) == (None, None, None)
    assert plate.name == "mine"
    assert [(one.id, one.outcome.kind) for one in folded.closed] == [("i1", "unknown")]


def test_a_session_whose_start_was_missed_takes_the_plate_over():
    folded = happen(asking(asked="i1"), "prompt_submit", session="s2", fresh=True)
    assert (folded.plate.session_id, folded.plate.status) == ("s2", "running")
    assert [one.id for one in folded.closed] == ["i1"]


def test_the_start_after_clear_counts_though_the_end_before_it_is_told_as_later():
    ended = after(RUNNING, "session_end", 5000, reason="clear")
    started = after(ended, "session_start", 4990, session="s2", fresh=True)
    assert (started.status, started.session_id) == ("running", "s2")


def test_a_late_start_of_a_session_that_is_over_opens_nothing():
    ended = after(RUNNING, "session_end", 5000)
    assert after(ended, "session_start", 4990) == ended


def test_a_late_start_of_a_session_before_does_not_bring_it_back():
    cleared = after(RUNNING, "session_start", 5000, session="s2")
    assert after(cleared, "session_start", 4000, session="s1") == cleared


def test_a_start_that_is_told_after_the_first_prompt_moves_nothing():
    prompted = after(NEW, "prompt_submit", 5000)
    assert after(prompted, "session_start", 4990).status == "running"
    assert after(after(prompted, "session_start", 4990), "turn_idle", 4990).status == "running"


# ---------------------------------------------------------------------- dialogs


def test_a_request_waits_and_says_for_what():
    plate = asking()
    assert (plate.status, plate.waiting_for, plate.unseen) == ("awaiting_approval", "May I?", True)


@pytest.mark.parametrize(
    ("tool", "status"),
    [("AskUserQuestion", "awaiting_input"), ("ExitPlanMode", "awaiting_approval")],
)
def test_a_tool_that_is_a_dialog_opens_one_and_its_request_is_the_same(tool: str, status: str):
    started = after(RUNNING, "tool_start", 1400, toolName=tool, toolInput=QUESTIONS, asks="Which?")
    asked = after(
        started, "permission_request", 1500, asked="i1", toolName=tool, toolInput=QUESTIONS
    )
    assert (started.status, started.pending[0].id) == (status, None)
    assert [one.id for one in asked.pending] == ["i1"]


def test_a_tool_start_that_comes_after_its_request_changes_nothing():
    asked = asking("AskUserQuestion", QUESTIONS, asked="i1")
    told = after(asked, "tool_start", 1499, toolName="AskUserQuestion", toolInput=QUESTIONS)
    assert told.pending == asked.pending


def test_the_call_ends_its_dialog_and_was_allowed():
    folded = happen(asking(asked="i1"), "tool_call", toolName="Bash", toolInput=LS)
    assert (folded.plate.status, folded.plate.pending) == ("running", ())
    assert [one.outcome.kind for one in folded.closed] == ["allowed"]


def test_another_call_leaves_the_dialog_open_and_the_plate_waiting():
    plate = after(asking(), "tool_call", toolName="Bash", toolInput={"command": "pwd"})
    assert (plate.status, len(plate.pending)) == ("awaiting_approval", 1)


def test_of_two_dialogs_for_the_same_call_one_call_ends_one():
    first = asking(asked="i1")
    both = after(
        first, "permission_request", 1600, asked="i2", toolName="Bash", toolInput=LS, asks="Again?"
    )
    folded = happen(both, "tool_call", toolName="Bash", toolInput=LS)
    assert [one.id for one in folded.closed] == ["i1"]
    assert folded.plate.status == "awaiting_approval"


def test_of_two_questions_the_one_that_was_answered_ends():
    other = {"questions": [{"question": "When?"}]}
    first = asking("AskUserQuestion", QUESTIONS, asked="i1")
    both = after(
        first, "permission_request", 1600, asked="i2", toolName="AskUserQuestion", toolInput=other
    )
    answered = {**other, "answers": {"When?": "now"}}
    folded = happen(both, "tool_call", toolName="AskUserQuestion", toolInput=answered)
    assert [one.id for one in folded.closed] == ["i2"]


def test_a_plan_is_known_again_though_its_input_is_gone():
    plan = asking("ExitPlanMode", {"plan": "# Do it"})
    assert after(plan, "tool_call", toolName="ExitPlanMode", toolInput={}).pending == ()


def test_the_end_of_a_step_ends_what_was_asked_in_it_and_does_not_say_how():
    folded = happen(asking(asked="i1"), "tool_call", hook="PostToolBatch")
    assert folded.plate.status == "running"
    assert [one.outcome.kind for one in folded.closed] == ["unknown"]


def test_a_dialog_that_names_no_call_ends_with_whichever_goes_on():
    waiting = after(RUNNING, "permission_request", 1500, toolName="Shell", asks="May I?")
    started = after(waiting, "tool_start", toolName="run_shell_command", toolInput=LS)
    called = after(waiting, "tool_call", toolName="run_shell_command", toolInput=LS)
    assert [waiting.status, started.status, called.status] == [
        "awaiting_approval",
        "running",
        "running",
    ]


def test_a_dialog_that_names_its_call_does_not_end_when_another_tool_starts():
    plate = after(asking(), "tool_start", toolName="Read", toolInput={})
    assert plate.status == "awaiting_approval"


def test_a_reply_names_the_request_that_it_answers():
    asked = {"toolName": "bash", "call": "per_1", "asks": "Run?"}
    waiting = after(RUNNING, "permission_request", 1500, asked="i1", **asked)
    other = happen(waiting, "permission_resolved", call="per_2", approved=False)
    own = happen(waiting, "permission_resolved", call="per_1", approved=False)
    assert (other.plate.status, other.closed) == ("awaiting_approval", ())
    assert (own.plate.status, [one.outcome.kind for one in own.closed]) == ("running", ["denied"])


def test_an_answer_at_the_board_ends_the_dialog_by_its_id():
    both = after(asking(asked="i1"), "permission_request", asked="i2", toolName="X", toolInput=1)
    assert [one.id for one in after(both, "permission_resolved", request="i1").pending] == ["i2"]


@pytest.mark.parametrize("name", ["stop", "stop_failure", "turn_idle", "prompt_submit"])
def test_a_turn_that_is_over_has_no_dialogs(name: str):
    folded = happen(asking(asked="i1"), name)
    assert folded.plate.pending == ()
    assert [one.outcome.kind for one in folded.closed] == ["unknown"]


def test_a_client_that_wakes_itself_ends_no_dialog():
    plate = after(asking(), "prompt_submit", origin="self")
    assert (plate.status, len(plate.pending)) == ("awaiting_approval", 1)


def test_what_happened_before_a_dialog_opened_does_not_end_it():
    assert len(after(asking(), "tool_call", 1499, hook="PostToolBatch").pending) == 1
    assert len(after(asking(), "stop", 1499).pending) == 1


@pytest.mark.parametrize("name", ["session_start", "session_end"])
def test_a_dialog_overtakes_the_start_of_its_session(name: str):
    """The hook that asks is heard at once, while those before it still lie in the spool."""
    plate = after(asking(asked="q1"), name, 1499)
    assert (plate.status, [one.id for one in plate.pending]) == ("awaiting_approval", ["q1"])


def test_a_request_that_is_told_of_when_its_turn_is_over_opens_nothing():
    stopped = after(RUNNING, "stop", 5000)
    late = after(stopped, "permission_request", 4000, toolName="Bash", toolInput=LS)
    assert (late.pending, late.status) == ((), "idle")


def test_a_health_check_frees_what_is_stuck():
    folded = happen(asking(asked="i1"), "health_check_recovery")
    assert (folded.plate.status, folded.plate.pending) == ("idle", ())


def test_a_health_check_of_a_plate_that_works_is_nothing():
    assert after(RUNNING, "health_check_recovery") == RUNNING


# ---------------------------------------------------------------------- subagents


def test_a_subagent_that_asks_leaves_the_status_and_calls_a_person():
    plate = asking(subagent="a1")
    assert (plate.status, plate.attention, plate.unseen) == ("running", True, True)


def test_a_subagents_dialog_ends_with_its_call_not_with_the_sessions():
    plate = asking(subagent="a1")
    assert len(after(plate, "tool_call", toolName="Bash", toolInput=LS).pending) == 1
    assert after(plate, "tool_call", toolName="Bash", toolInput=LS, subagent="a1").pending == ()


def test_a_subagents_dialog_ends_with_the_subagent():
    assert after(asking(subagent="a1"), "subagent_stop", subagent="a2").attention
    assert not after(asking(subagent="a1"), "subagent_stop", subagent="a1").attention


def test_a_subagents_dialog_outlives_the_turn_while_it_works_in_the_background():
    works = [{"id": "a1", "kind": "subagent", "description": ""}]
    assert after(asking(subagent="a1"), "stop", background=works).attention
    assert after(asking(subagent="a1"), "stop", background=[]).pending == ()
    assert after(asking(subagent="a1"), "stop").pending != (), "who says nothing of it ends nothing"


def test_subagents_come_and_go():
    begun = after(after(RUNNING, "subagent_start", subagent="a1"), "subagent_start", subagent="a1")
    assert begun.subagents == ("a1",)
    assert after(begun, "subagent_stop", subagent="a1").subagents == ()
    assert after(begun, "stop", background=[]).subagents == ()
    assert after(RUNNING, "subagent_start") == replace(
        RUNNING, last_event="subagent_start", updated_at=2000
    )


def test_a_background_agent_that_ends_is_no_longer_in_the_background():
    works = [{"id": "a1", "kind": "subagent", "description": "x"}, {"id": "b", "kind": "shell"}]
    stopped = after(RUNNING, "stop", background=works)
    ended = after(stopped, "subagent_stop", 3000, subagent="a1")
    assert [one.get("id") for one in ended.background] == ["b"]


# ---------------------------------------------------------------------- what stands beside


def test_an_error_stays_until_something_happens():
    failed = after(RUNNING, "stop_failure", error="rate_limit")
    heard = after(failed, "hook_heard", 3000, hook="Notification")
    assert (failed.error, heard.error, heard.status) == ("rate_limit", "rate_limit", "error")
    assert after(heard, "prompt_submit", 4000).error is None


def test_an_interruption_stays_until_something_happens():
    left = after(RUNNING, "turn_idle", interrupted=True)
    assert after(left, "hook_heard", 3000, hook="Notification").interrupted
    assert not after(left, "prompt_submit", 3000).interrupted


@pytest.mark.parametrize(
    ("name", "details", "unseen"),
    [
        ("stop", {}, True),
        ("stop_failure", {"error": "x"}, True),
        ("prompt_submit", {}, False),
        ("turn_idle", {}, False),
        ("session_start", {}, False),
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_what_a_person_did_in_the_terminal_that_one_has_seen(
    name: str, details: dict[str, Any], unseen: bool, before: bool
):
    assert after(replace(RUNNING, unseen=before), name, **details).unseen is unseen


def test_whoever_answers_a_dialog_has_seen_it_but_not_the_next():
    first = after(RUNNING, "permission_request", asked="q1", toolName="Bash", callId="c1")
    both = after(first, "permission_request", 3000, asked="q2", toolName="Edit", callId="c2")
    one = after(both, "permission_resolved", 4000, request="q1")
    assert (first.unseen, one.unseen) == (True, True)
    assert not after(one, "permission_resolved", 5000, request="q2").unseen


@pytest.mark.parametrize("before", [True, False])
def test_what_nobody_typed_was_not_seen(before: bool):
    plate = replace(IDLE, unseen=before)
    assert after(plate, "prompt_submit", origin="self").unseen is before
    assert after(plate, "hook_heard", hook="X").unseen is before


def test_a_plan_or_question_that_only_its_tool_told_of_waits_to_be_seen():
    assert after(RUNNING, "tool_start", toolName="AskUserQuestion", toolInput=QUESTIONS).unseen


def test_long_words_are_cut():
    plate = after(RUNNING, "stop", message="x" * 10_000)
    assert plate.last_message is not None
    assert len(plate.last_message) == LONGEST_TEXT


def test_todos_are_listed_changed_and_deleted():
    listed = after(
        RUNNING, "tool_call", todos=[{"id": "1", "text": "a", "status": "pending"}, {"id": "2"}]
    )
    begun = after(listed, "tool_call", 3000, todo={"id": "1", "status": "completed"})
    gone = after(begun, "tool_call", 4000, todo={"id": "2", "status": "deleted"})
    assert [todo.status for todo in listed.todos] == ["pending", "pending"]
    assert [(todo.text, todo.status) for todo in gone.todos] == [("a", "completed")]


def test_a_todo_that_is_told_of_late_keeps_its_status():
    done = after(RUNNING, "hook_heard", todo={"id": "1", "text": "a", "status": "completed"})
    assert after(done, "tool_call", 1000, todo={"id": "1", "text": "a"}).todos == done.todos


def test_a_fingerprint_takes_whatever_comes():
    odd = ["\ud800", 10**400, {"a": [float("inf")]}, None]
    assert len({fingerprint(one) for one in odd}) == len(odd)


def test_of_two_equal_calls_an_outcome_ends_the_dialog_of_its_own():
    first = asking(asked="i1", toolUseId="t1")
    both = after(
        first, "permission_request", 1600, asked="i2", toolName="Bash", toolInput=LS, toolUseId="t2"
    )
    call: dict[str, Any] = {"call": fingerprint(LS), "toolUseId": "t1", "outcome": "denied"}
    folded = happen(both, "permission_resolved", toolName="Bash", **call)
    assert [one.id for one in folded.closed] == ["i1"]
    assert [one.id for one in folded.plate.pending] == ["i2"]
