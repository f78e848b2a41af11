"""What a person's answer looks like in a state."""

import pytest
from pydantic import ValidationError

from callboard.drafts.model import State
from callboard.drafts.response import HumanResponse


def test_a_state_begins_without_an_answer():
    assert State().human_response is None
    assert State().approved is None


def test_an_answer_is_read_by_attribute_and_by_key():
    answer = HumanResponse(value="ship it", approved=True)
    assert answer.value == answer["value"] == answer.get("value") == "ship it"
    assert answer["approved"] is True
    assert answer["timed_out"] is False
    assert answer.get("outcome") is None


def test_an_answer_has_only_its_fields():
    answer = HumanResponse(value=1)
    assert answer.get("colour", "blue") == "blue"
    with pytest.raises(KeyError):
        answer["colour"]
    with pytest.raises(KeyError):
        answer["model_fields"]


def test_an_answer_cannot_be_changed():
    with pytest.raises(ValidationError):
        HumanResponse(value=1).value = 2  # pyright: ignore[reportAttributeAccessIssue]
