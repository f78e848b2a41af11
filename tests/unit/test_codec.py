"""How many values JSON has, found without reading it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.events import codec
from callboard.events.codec import values_so_far

JSON = st.recursive(
    st.none() | st.integers() | st.text(st.sampled_from('a\\",[{é')),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.sampled_from('a\\",[{')), inner),
)


def marks(value: object) -> int:
    """The commas and opening brackets that a value needs."""
    if isinstance(value, dict):
        return max(1, len(value)) + sum(marks(one) for one in value.values())
    if isinstance(value, list):
        return max(1, len(value)) + sum(marks(one) for one in value)
    return 0


@given(JSON, st.integers(1, 9), st.booleans())
def test_values_are_counted_wherever_the_stretches_end(value: object, stretch: int, plain: bool):
    data = json.dumps(value, ensure_ascii=plain).encode()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(codec, "_STRETCH", stretch)
        assert list(values_so_far(data))[-1] == marks(value)


def test_text_may_be_long_and_lists_may_not():
    assert not codec.has_many_values(json.dumps(",[{" * codec.MOST_VALUES).encode())
    assert codec.has_many_values(b"[" + b"1," * codec.MOST_VALUES + b"1]")
