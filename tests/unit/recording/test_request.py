"""Which requests are the same: what a model is given decides, and nothing else."""

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from callboard.recording.request import ModelRequest, body_from, key_of

TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
MESSAGE = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": JSON})
BODY = st.fixed_dictionaries(
    {"model": TEXT, "messages": st.lists(MESSAGE, max_size=4)},
    optional={"temperature": st.floats(0, 2), "tools": st.lists(JSON, max_size=3)},
)


def request(body: Any, **more: Any) -> ModelRequest:
    told: Any = {"provider": "api.example.com", "path": "POST /v1/chat", "more": {}, **more}
    return ModelRequest(body=body, **told)


def key(body: Any, **more: Any) -> str:
    return key_of(request(body, **more).canonical)


def shuffled(value: Any, draw: Any) -> Any:
    if isinstance(value, dict):
        keys = draw(st.permutations([*value]))
        return {key: shuffled(value[key], draw) for key in keys}
    return [shuffled(one, draw) for one in value] if isinstance(value, list) else value


@given(BODY, st.data())
def test_neither_the_order_of_keys_nor_whitespace_matters(body: Any, data: st.DataObject):
    other = json.dumps(shuffled(body, data.draw), indent=data.draw(st.sampled_from([None, 1, 4])))
    assert request(body).canonical == request(body_from(other.encode())).canonical
    assert key(body) == key(body_from(other.encode()))


def numbers_alike(value: Any) -> str:
    """The same text for the same value, with whole numbers written one way."""
    whole = json.loads(json.dumps(value), parse_float=lambda one: float(one))
    return json.dumps(whole, sort_keys=True).replace(".0", "")


@given(BODY, BODY)
def test_different_requests_have_different_keys(one: Any, other: Any):
    assume(numbers_alike(one) != numbers_alike(other))
    first, second = request(one), request(other)
    is_about_ids = '"id"' in json.dumps([one, other])
    assert is_about_ids or first.canonical != second.canonical
    assert is_about_ids or key_of(first.canonical) != key_of(second.canonical)


@given(BODY)
def test_the_provider_the_path_and_its_version_matter(body: Any):
    keys = {
        key(body),
        key(body, provider="other.example.com"),
        key(body, path="POST /v2/chat"),
        key(body, more={"anthropic-version": "2023-06-01"}),
    }
    assert len(keys) == len(("plain", "provider", "path", "version"))


def conversation(call: str, answers: str, arguments: str) -> Any:
    called = {"id": call, "function": {"name": "weather", "arguments": arguments}}
    return {
        "model": "m",
        "messages": [
            {"role": "assistant", "tool_calls": [called, {**called, "id": "other"}]},
            {"role": "tool", "tool_call_id": answers, "content": "rain"},
        ],
    }


def test_ids_that_a_library_makes_up_do_not_matter():
    written = '{"city": "Rome", "days": 2}'
    assert key(conversation("a1", "a1", written)) == key(conversation("b7", "b7", written))


def test_which_call_a_result_belongs_to_matters():
    assert key(conversation("a", "a", "{}")) != key(conversation("a", "other", "{}"))


def test_whitespace_in_arguments_that_a_model_wrote_does_not_matter():
    one, other = '{"city": "Rome", "days": 2}', '{"days":2,"city":"Rome"}'
    assert key(conversation("a", "a", one)) == key(conversation("a", "a", other))
    assert key(conversation("a", "a", one)) != key(conversation("a", "a", '{"days":3}'))
    assert key(conversation("a", "a", "{")) != key(conversation("a", "a", "{ "))


def test_whitespace_in_a_prompt_matters():
    said = [{"messages": [{"role": "user", "content": text}]} for text in ("a b", "a  b")]
    assert key(said[0]) != key(said[1])


def test_what_only_describes_the_caller_does_not_matter():
    assert key({"model": "m"}) == key({"model": "m", "prompt_cache_key": "x"})


def test_a_number_is_the_same_however_it_is_written():
    assert key({"temperature": 1}) == key({"temperature": 1.0})
    assert key({"temperature": 1}) != key({"temperature": True})


def test_bodies_that_are_no_json_are_compared_as_they_are():
    assert key(body_from(b"plain")) != key(body_from(b"plain "))
    assert key(body_from(b"\xff")) != key(body_from(b"\xfe"))
    assert body_from(b"") is None
