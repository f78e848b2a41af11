"""A person's version of what a tool runs with: which is valid, and what becomes of it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interactions import interaction

from callboard.errors import AnswerInvalid
from callboard.events import names
from callboard.interactions.answers import check
from callboard.interactions.evidenced import Outcome
from callboard.interactions.records import Interaction
from callboard.interactions.settlement import settle

ASKED = {"command": "touch made", "timeout": 5, "background": False, "env": {"A": "1"}, "on": [1]}
CONFIG = {"toolName": "Bash", "toolInput": ASKED, "editable": True}
EDITED = {**ASKED, "command": "touch edited"}
YES = {"approved": True}


def answered(given: Any, config: Any = CONFIG, **more: Any) -> Any:
    question = interaction(type="permission", config=config)
    value = {"approved": True, "updatedInput": given, **more}
    return check(question, value, None, config).value


def test_a_yes_can_have_an_edited_input():
    assert answered(EDITED) == {"approved": True, "updatedInput": EDITED}


def test_an_input_as_it_was_asked_is_a_plain_yes():
    assert answered(dict(ASKED)) == YES


def test_keys_can_be_left_out_and_added():
    edited = {"command": "ls", "description": "List"}
    assert answered(edited)["updatedInput"] == edited


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("command", 5, "text"),
        ("command", None, "text"),
        ("timeout", True, "a number"),
        ("background", 0, "true or false"),
        ("env", ["A"], "an object"),
        ("on", {}, "a list"),
    ],
)
def test_the_type_of_a_key_stays(key: str, value: Any, wanted: str):
    with pytest.raises(AnswerInvalid, match=f"{key} must be {wanted}") as refused:
        answered({**ASKED, key: value})
    assert refused.value.context["field"] == f"value.updatedInput.{key}"


@pytest.mark.parametrize(
    ("given", "config", "says"),
    [
        ("touch", CONFIG, "must be an object"),
        ([], CONFIG, "must be an object"),
        ({}, CONFIG, "must not be empty"),
        ({"command": "x" * 200_000}, CONFIG, "larger than 128 KB"),
        ({"command": "\ud800"}, CONFIG, "cannot be recorded"),
        (EDITED, {"toolInput": ASKED}, "can't run an edited call"),
        (EDITED, None, "can't run an edited call"),
    ],
)
def test_what_is_no_input_is_refused(given: Any, config: Any, says: str):
    with pytest.raises(Exception, match=says) as refused:
        answered(given, config)
    assert getattr(refused.value, "context", {})["field"] == "value.updatedInput"


def test_an_input_without_members_stays_as_it_is():
    assert answered({}, {**CONFIG, "toolInput": {}}) == YES


@pytest.mark.parametrize("more", [{"approved": False}, {"always": True}])
def test_it_goes_with_a_plain_yes_only(more: Any):
    with pytest.raises(AnswerInvalid, match="needs a yes without always"):
        answered(EDITED, **more)


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.text(), st.lists)))
def test_any_object_is_taken_or_refused_with_its_field(given: dict[str, Any]):
    refused: Mapping[str, object] = {"field": "value.updatedInput"}
    try:
        taken = answered(given)
    except AnswerInvalid as error:
        refused = error.context
    else:
        assert taken.get("updatedInput", ASKED) == given
    assert str(refused["field"]).startswith("value.updatedInput")


# ---------------------------------------------------------------------- what became of it


def accepted() -> Interaction:
    answer = {"approved": True, "updatedInput": EDITED}
    return interaction(
        type="permission", config=CONFIG, accepted=answer, receipt="pending", answered_by="ada"
    )


@pytest.mark.parametrize(
    ("outcome", "receipt"),
    [
        (Outcome("allowed", ran=EDITED), "delivered"),
        (Outcome("allowed", via="hook"), "delivered"),
        # The client may complete what it was given, such as a relative path.
        (Outcome("allowed", ran={**EDITED, "cwd": "/p"}), "delivered"),
        (Outcome("presumed"), "delivered"),
        (Outcome("allowed", ran=ASKED), "overruled"),
        (Outcome("allowed", ran={**ASKED, "cwd": "/p"}), "overruled"),
        (Outcome("allowed", ran={"command": "touch made"}), "overruled"),
        (Outcome("allowed", via="terminal"), "overruled"),
        (Outcome("denied", via="hook"), "overruled"),
        (Outcome("lost"), "lost"),
    ],
)
def test_the_receipt_says_whether_it_ran_as_edited(outcome: Outcome, receipt: str):
    told = settle("q1", "permission", accepted(), outcome)
    assert told is not None
    assert told.payload["receipt"] == receipt
    ran = {**YES, "updatedInput": EDITED} if receipt == "delivered" else YES
    assert told.name == names.INPUT_CANCELLED or told.payload["value"] in (ran, {"approved": False})
