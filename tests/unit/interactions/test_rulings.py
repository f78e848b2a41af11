"""Yes and no to coding agents, and when a word can go with it."""

from typing import Any

import pytest

from callboard.errors import AnswerInvalid
from callboard.interactions.rulings import ruling

REMARKS = ["message", "feedback"]


@pytest.mark.parametrize("remark", REMARKS)
@pytest.mark.parametrize(
    ("value", "approved"),
    [({"approved": False, "": "less"}, None), ({"": "less"}, False), ("less", False)],
)
def test_a_word_goes_with_a_no(remark: str, value: Any, approved: bool | None):
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
def test_with_a_yes_it_would_be_lost(remark: str, value: Any, approved: bool | None):
    with pytest.raises(AnswerInvalid, match=f"{remark} goes only with a no") as refused:
        ruling(remark, named(remark, value), approved)
    assert refused.value.context["field"] == f"value.{remark}"


@pytest.mark.parametrize("value", ["yes", True, {"approved": True}, {"approved": True, "": None}])
def test_a_yes_is_a_yes(value: Any):
    assert ruling("message", named("message", value), None) == {"approved": True}


def named(remark: str, value: Any) -> Any:
    """The value with the word under its name."""
    if not isinstance(value, dict):
        return value
    return {key or remark: told for key, told in value.items()}
