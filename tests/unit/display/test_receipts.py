"""What became of an answer, in words and as an exit code."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from tests.unit.tui.scenes import choices, permission, plan
from tests.unit.tui.scripted import question

from callboard.cli.questions import exit_code, print_receipt
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.display.receipts import answerer, decided, ending, receipt, standing
from callboard.interactions.records import Interaction

YES = {"approved": True}
NO = {"approved": False}
WHY = {"approved": False, "message": "use make"}


def answered(asked: Interaction, **more: Any) -> Interaction:
    return replace(asked, **more)


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (
            answered(permission(), accepted=YES, receipt="pending"),
            3,
            "Pending: Claude Code has not confirmed it yet. Check with: callboard inbox q-shop",
        ),
        (
            answered(permission(), accepted=YES, receipt="delivered"),
            0,
            "Delivered: Claude Code is running it.",
        ),
        (
            answered(permission(), accepted=WHY, receipt="delivered"),
            0,
            "Delivered: Claude Code was denied and got your message.",
        ),
        (
            answered(plan(), accepted=YES, receipt="delivered"),
            0,
            "Delivered: the agent is following the plan.",
        ),
        (
            answered(choices(), accepted={"answers": {"a": "b"}}, receipt="delivered"),
            0,
            "Delivered: the agent has your answer.",
        ),
        (
            answered(permission(), accepted=YES, response=NO, receipt="overruled"),
            1,
            "Overruled: it was already decided in the terminal (denied).",
        ),
        (
            answered(permission(), accepted=NO, status="cancelled", receipt="overruled"),
            1,
            "Overruled: it was already decided in the terminal (dismissed).",
        ),
        (
            answered(permission(), accepted=YES, receipt="lost"),
            1,
            "Lost: Claude Code stopped before it got the answer.",
        ),
    ],
)
def test_receipts(asked: Interaction, code: int, said: str):
    assert receipt(asked, f"callboard inbox {asked.id}") == said
    assert exit_code(asked) == code
    printed = StringIO()
    print_receipt(Screen(printed), Database(), asked)
    assert said in printed.getvalue()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (permission(), "Not answered yet."),
        (
            answered(permission(), status="completed", response=NO, via="terminal"),
            "Decided in the terminal (denied).",
        ),
        (answered(permission(), status="cancelled"), "Closed without an answer (cancelled)."),
    ],
)
def test_without_an_answer(asked: Interaction, said: str):
    assert (receipt(asked, ""), standing(asked)) == (said, "")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({}, ""),
        ({"answered_by": "admin"}, "answered by admin"),
        (
            {"answered_by": "admin", "answered_as": 'da\u202ena"', "via": "cli"},
            'answered by admin (as "da\\u202ena"") via cli',
        ),
    ],
)
def test_the_name_that_was_checked_comes_first(names: dict[str, str], said: str):
    assert answerer(replace(permission(), **names)) == said


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (YES, "allowed"),
        ({**YES, "always": True}, "always allowed"),
        (WHY, "denied: use make"),
        ({"approved": False, "feedback": "less"}, "denied: less"),
        ({"answers": {"a": "b", "c": ["d", "e"]}}, "b; d, e"),
        (None, "dismissed"),
    ],
)
def test_decisions(response: Any, said: str):
    assert decided(response) == said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"response": {"value": "no", "approved": False, "message": "late"}}, "no: late"),
        ({"status": "cancelled", "error": "neither"}, "cancelled: neither"),
        ({"status": "timeout"}, "timeout"),
        ({"type": "interactive_session", "response": {"a": 1}}, '{"a":1}'),
        ({"type": "permission", "response": YES}, "allowed"),
    ],
)
def test_how_questions_end(more: dict[str, Any], said: str):
    assert ending(replace(question("q1", "approval", status="completed"), **more)) == said


def test_a_list_says_it_shortly():
    overruled = answered(permission(), accepted=YES, response=NO, receipt="overruled")
    assert standing(overruled) == "answer (allowed) overruled in the terminal (denied)"
    pending = answered(permission(), accepted=YES, receipt="pending")
    assert standing(pending) == "answered (allowed), not confirmed yet"
