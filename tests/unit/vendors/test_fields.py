from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.vendors.fields import in_words, json_value

ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(ODD, st.integers(1, 40))
def test_words_are_the_beginning_of_what_python_says(value: Any, longest: int):
    # A text that is cut may be quoted otherwise: it is told without its end.
    assert in_words(value, 10_000) == ascii(value)
    assert len(in_words(value, longest)) <= longest


def test_what_json_cannot_hold_is_told_in_words_without_reading_all_of_it():
    class Counted(str):
        __slots__ = ()
        read: list[int] = []

        def __getitem__(self, part: Any) -> str:
            self.read.append(part.stop)
            return super().__getitem__(part)

    told: Any = json_value({"text": "\ud800", "more": [Counted("x" * 100_000)] * 1000})
    assert told.startswith("{'text': '\\ud800', 'more': ['xxx")
    assert len(told) == 2000
    assert Counted.read == [2000]


def test_what_is_nested_too_deep_is_not_told():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert in_words(deep, 10**6) == "nested too deep"


@pytest.mark.parametrize("value", [{}, [], "", None, 0, {"a": [1, "é"]}])
def test_what_json_can_hold_stays_as_it_is(value: Any):
    assert json_value(value) is value
