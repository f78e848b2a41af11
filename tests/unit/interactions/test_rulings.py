"""Yes and no to coding agents, and when a word can go with it."""

from typing import Any

import pytest

from callboard.errors import AnswerInvalid
from callboard.interactions.answers import check
from callboard.interactions.kinds import Remark
from callboard.interactions.rulings import answers, ruling
from callboard.state.session import Asked

REMARKS: list[Remark] = ["message", "feedback"]


@pytest.mark.parametrize("remark", REMARKS)
@pytest.mark.parametrize(
    ("value", "approved"),
    [({"approved": False, "": "less"}, None), ({"": "less"}, False), ("less", False)],
)
def test_a_word_goes_with_a_no(remark: Remark, value: Any, approved: bool | None):
    said = ruling(remark, named(remark, value), approved)
    assert said == {"approved": False, remark: "less"}


@pytest.mark.parametrize("remark", REMARKS)
@pytest.mark.parametrize(
    ("value", "approved"),
    [
        ({"approved": True, "": "go"}, None),
        ({"approved": True, "": "go", "always": True}, None),
        ({"": "go"}, True),
        ("go", True),
    ],
)
def test_with_a_yes_it_would_be_lost(remark: Remark, value: Any, approved: bool | None):
    with pytest.raises(AnswerInvalid, match=f"{remark} is only sent with a no") as refused:
        ruling(remark, named(remark, value), approved)
    assert refused.value.context["field"] == f"value.{remark}"


@pytest.mark.parametrize("value", ["yes", True, {"approved": True}, {"approved": True, "": None}])
def test_a_yes_is_a_yes(value: Any):
    assert ruling("message", named("message", value), None) == {"approved": True}


def named(remark: Remark, value: Any) -> Any:
    """The value with the word under its name."""
    if not isinstance(value, dict):
        return value
    return {key or remark: told for key, told in value.items()}


# ---------------------------------------------------------------------- declining


ASKED = {"questions": [{"question": "Which?"}, {"question": "approved", "multiSelect": True}]}


@pytest.mark.parametrize(
    ("value", "approved"),
    [
        ({"approved": False, "message": "neither"}, None),
        ({"message": "neither"}, False),
        ("neither", False),
    ],
)
def test_questions_are_declined_together(value: Any, approved: bool | None):
    assert answers(ASKED, value, approved) == {"approved": False, "message": "neither"}


def test_a_question_may_be_called_approved():
    told = {"Which?": "A", "approved": ["B"]}
    assert answers(ASKED, told) == {"answers": told}


@pytest.mark.parametrize(
    ("value", "approved"),
    [({"approved": False, "Which?": "A"}, None), ({"answers": {"Which?": "A"}}, False)],
)
def test_nobody_declines_and_answers(value: Any, approved: bool | None):
    with pytest.raises(AnswerInvalid):
        answers(ASKED, value, approved)


def test_a_workflow_is_refused_with_a_message():
    asked = Asked("q1", "approval", "Go?")
    said = check(asked, {"approved": False, "message": "Not today"})
    assert (said.value, said.approved, said.message) == ("no", False, "Not today")
    assert check(asked, {"approved": True}).value == "yes"


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({"approved": True, "message": "go"}, "message is only sent with a no"),
        ({"approved": True, "always": True}, "only for requests of coding agents"),
        ({"approved": False, "why": "x"}, "why is not known"),
        ({}, "needs an answer"),
    ],
)
def test_what_an_approval_does_not_take(value: Any, complaint: str):
    with pytest.raises(AnswerInvalid, match=complaint):
        check(Asked("q1", "approval", "Go?"), value)
