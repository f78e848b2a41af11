"""Gemini CLI: what is its own."""

from typing import Any

import pytest
from tests.unit.board.boards import Board

from callboard.vendors.gemini.payloads import translate
from callboard.vendors.reports import Report


def hook(name: str, **fields: Any) -> dict[str, Any]:
    return {"session_id": "s1", "cwd": "/p", "hook_event_name": name, **fields}


def told(name: str, **fields: Any) -> Report:
    report = translate(hook(name, **fields))
    assert report is not None
    return report


PERMISSION = hook(
    "Notification",
    notification_type="ToolPermission",
    message="Tool Shell requires execution",
    details={"type": "exec", "title": "Shell", "command": "npm test", "rootCommand": "npm"},
)


async def test_a_permission_waits_until_the_tool_runs():
    board = Board()
    await board.payload("gemini", hook("BeforeAgent", prompt="go"))
    asked = await board.payload("gemini", PERMISSION)
    ran = await board.payload("gemini", hook("BeforeTool", tool_name="run_shell_command"))
    assert (asked.status, asked.waiting_for) == ("awaiting_approval", "Run: npm test")
    assert (ran.status, ran.pending) == ("running", ())


async def test_a_permission_that_was_refused_ends_with_the_turn():
    board = Board()
    await board.payload("gemini", PERMISSION)
    plate = await board.payload("gemini", hook("AfterAgent", prompt_response="ok"))
    assert (plate.status, plate.pending) == ("idle", ())


async def test_nobody_can_answer_it_elsewhere():
    report = translate(PERMISSION | {"callboard": {"hold": "h1"}})
    assert report is not None
    assert report.request is None


@pytest.mark.parametrize(
    ("kind", "status"),
    [("ask_user", "awaiting_input"), ("exit_plan_mode", "awaiting_approval")],
)
async def test_questions_and_plans_are_told_apart(kind: str, status: str):
    board = Board()
    payload = PERMISSION | {"details": {"type": kind, "title": "T"}}
    plate = await board.payload("gemini", payload)
    assert (plate.status, plate.waiting_for) == (status, "Tool Shell requires execution")


def test_other_notifications_are_heard():
    (signal,) = told("Notification", notification_type="Info", message="x").signals
    assert (signal.name, signal.payload["kind"]) == ("hook_heard", "Info")


@pytest.mark.parametrize(
    ("given", "at_ms"),
    [
        ("2026-11-15T18:35:15.854Z", 1_794_767_715_854),
        ("2026-11-15T18:35:15.854", 1_794_767_715_854),
        ("0001-01-01T00:00:00Z", None),
        ("yesterday", None),
        ("", None),
        (5, None),
        (None, None),
    ],
)
def test_it_says_itself_when_it_happened(given: Any, at_ms: int | None):
    assert told("AfterAgent", timestamp=given).at_ms == at_ms


def test_what_our_client_says_of_the_time_counts_more():
    report = told("AfterAgent", timestamp="2026-11-15T18:35:15.854Z", callboard={"sent_at": 5})
    assert report.at_ms == 5


def test_its_list_of_things_to_do():
    todos = {"todos": [{"description": "Write", "status": "completed"}, {"description": "Test"}]}
    (signal,) = told("AfterTool", tool_name="write_todos", tool_input=todos).signals
    assert signal.payload["todos"] == [
        {"id": "0", "text": "Write", "status": "completed"},
        {"id": "1", "text": "Test"},
    ]


@pytest.mark.parametrize("error", ["boom", {"message": "boom", "type": "x"}])
def test_a_tool_that_failed(error: Any):
    (signal,) = told("AfterTool", tool_name="x", tool_response={"error": error}).signals
    assert (signal.name, signal.payload["failure"]) == ("tool_call", "boom")


@pytest.mark.parametrize("payload", [None, [], "x", {}, {"session_id": 5}])
def test_what_belongs_to_no_session_is_nothing(payload: Any):
    assert translate(payload) is None
