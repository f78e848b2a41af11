"""Codex: what is its own."""

from typing import Any

import pytest

from callboard.vendors.codex.payloads import translate


def test_a_permission_that_is_asked_can_be_answered():
    report = translate(
        {
            "session_id": "s1",
            "turn_id": "t1",
            "cwd": "/p",
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": {"command": "git push", "description": "network-access example.test"},
            "permission_suggestions": [{"type": "addRules"}],
        }
    )
    assert report is not None
    assert report.request is not None
    assert (report.request.type, report.request.prompt) == ("permission", "Run: git push")
    assert "suggestions" not in report.request.config, "it cannot be told to remember"


def test_a_hook_of_a_subagent_is_not_held():
    report = translate(
        {
            "session_id": "s1",
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
            "agent_id": "a1",
            "callboard": {"hold": "h1"},
        }
    )
    assert report is not None
    assert report.request is None
    assert report.signals[0].payload["asks"] == "Run: ls"


def test_a_message_to_notify_ends_the_turn():
    report = translate(
        {
            "type": "agent-turn-complete",
            "thread-id": "s1",
            "cwd": "/p",
            "last-assistant-message": "Done",
            "callboard": {"pid": 5},
        }
    )
    assert report is not None
    assert (report.session_id, report.project_path, report.pid) == ("s1", "/p", 5)
    (signal,) = report.signals
    assert (signal.name, signal.payload) == ("stop", {"message": "Done"})


def test_a_message_to_notify_of_another_kind_is_heard():
    report = translate({"type": "approval-requested", "thread-id": "s1"})
    assert report is not None
    assert report.signals[0].payload == {"hook": "approval-requested"}


@pytest.mark.parametrize("payload", [None, [], {"thread-id": 5}, {"type": "agent-turn-complete"}])
def test_what_belongs_to_no_session_is_nothing(payload: Any):
    assert translate(payload) is None


def test_after_clear_the_plate_goes_on():
    report = translate({"session_id": "s2", "hook_event_name": "SessionStart", "source": "clear"})
    assert report is not None
    assert report.continues
