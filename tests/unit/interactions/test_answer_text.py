"""Answers read as people write them."""

from typing import Any

import pytest

from callboard.interactions.answer_text import answer_text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("yes", "yes"),
        (True, "yes"),
        (False, "no"),
        ({"approved": True}, "yes"),
        ({"approved": True, "always": True}, "yes, always"),
        ({"approved": False}, "no"),
        ({"approved": False, "message": "use mkdir"}, "no: use mkdir"),
        ({"approved": False, "feedback": "smaller"}, "no: smaller"),
        ({"value": "no", "approved": False, "message": "too late"}, "no: too late"),
        ({"value": "By train"}, "By train"),
        ({"answers": {"Which?": "Redis", "What?": ["Carts", "Login"]}}, "Redis; Carts, Login"),
        (["a", "b"], "a, b"),
        (None, "null"),
        (1.5, "1.5"),
        ({"approved": True, "rating": 3}, '{"approved":true,"rating":3}'),
        ({}, "{}"),
    ],
)
def test_an_answer_in_words(answer: Any, words: str):
    assert answer_text(answer) == words
