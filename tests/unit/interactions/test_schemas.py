"""Schemas and values of others: what is checked, and that no check takes for ever."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callboard.errors import Overloaded, ValidationError
from callboard.interactions.schema.checking import verified, verify
from callboard.interactions.schema.references import outline
from callboard.interactions.schema.schemas import (
    LARGEST_SCHEMA,
    LARGEST_VALUE,
    SchemaCheck,
    check,
    is_quick,
)

NESTED = "^(a+)+$"
EMAIL = r"^(?!\.)(?!.*\.\.)([\w'+\-.]*)[\w+-]@([A-Za-z0-9-]+\.)+[A-Za-z]{2,}$"
LONG = "a" * 10_000 + "!"


def fits(schema: Any, value: Any) -> bool:
    try:
        check(SchemaCheck(schema, "response", (value,)))
    except ValidationError:
        return False
    return True


def chain(length: int, times: int = 1) -> dict[str, Any]:
    """Definitions of which each refers to the next, so many times."""
    defs: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * times} for n in range(length)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{length}": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": NESTED}, LONG),
        ({"patternProperties": {NESTED: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"propertyNames": {"pattern": NESTED}}, {LONG: 1}),
        ({"pattern": r"^(?=.*\d)(a|a)*$"}, LONG),
        ({"pattern": r"^(a+)+\1$"}, LONG),
    ],
)
def test_a_pattern_takes_no_longer_than_its_text(schema: Any, value: Any):
    check(SchemaCheck(schema, "schema"))
    assert not fits(schema, value)


@pytest.mark.parametrize(
    ("pattern", "text", "fit"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        (r"^\p{Lu}", "Ärger", True),
        (EMAIL, "ada.l@example.org", True),
        (EMAIL, "ada..l@example.org", False),
        (EMAIL, ".ada@example.org", False),
        (r"^(?=.*\d)(?=.*[)A-Z]).{4,}$", "ab1Cd", True),
        (r"^(?=.*\d)(?=.*[)A-Z]).{4,}$", "ab1cd", False),
        (r"^(?=\(a|b\))(?:\(a|x)", "(a", True),
        (r"^(?=\(a|b\))(?:\(a|x)", "x", False),
        ("a(?=b)", "ab", True),
        (r"(a)\1", "a", False),
    ],
)
def test_a_pattern_means_what_it_says(pattern: str, text: str, fit: bool):
    check(SchemaCheck({"pattern": pattern}, "schema"))
    assert fits({"pattern": pattern}, text) is fit
    assert fits({"pattern": pattern}, 5), "only a text can fail to match"


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"pattern": "("}, r"\['pattern'\].*regex"),
        ({"patternProperties": {"(": True}}, "regex"),
        ({"properties": {"a": {"type": "thing"}}}, r"\['properties'\]\['a'\]\['type'\]"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "put it under"),
        ({"$ref": "http://127.0.0.1:9/x"}, "put it under"),
        ({"$ref": "file:///etc/passwd"}, "put it under"),
        ({"$ref": "#"}, "circle"),
        ({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}, "circle"),
        (chain(32), "33 deep; 32 is the limit"),
        ({"enum": ["x" * LARGEST_SCHEMA]}, f"the limit is {LARGEST_SCHEMA}"),
        ([], "an object, true or false"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_where_it_is_given(schema: Any, why: str):
    with pytest.raises(ValidationError, match=why) as caught:
        verify(SchemaCheck(schema, "config.outcomeSchema"))
    assert caught.value.field == "config.outcomeSchema"


@pytest.mark.parametrize(
    ("schema", "value", "fit"),
    [
        (chain(31), "x", True),
        (
            {"$id": "https://a.b/c", "$ref": "c#/$defs/n", "$defs": {"n": {"type": "null"}}},
            1,
            False,
        ),
        ({"$ref": "#n", "$defs": {"a": {"$anchor": "n", "type": "null"}}}, 1, False),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}}, 1, False),
        ({"$ref": "in", "$defs": {"a": {"$id": "in", "type": "null"}}}, 1, False),
        ({"items": {"$ref": "#"}, "type": "array"}, [[[]]], True),
        ({"items": {"$ref": "#"}, "type": "array"}, [[[1]]], False),
        ({"patternProperties": {"a": True}, "unevaluatedProperties": False}, {"b": 1}, False),
    ],
)
def test_references_within_a_schema_are_followed(schema: Any, value: Any, fit: bool):
    check(SchemaCheck(schema, "schema"))
    assert fits(schema, value) is fit


def test_a_misfit_is_told_from_where_it_is():
    option = {
        "properties": {"n": {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]}}
    }
    with pytest.raises(ValidationError, match="longer than 2") as caught:
        verify(SchemaCheck({"items": option}, "response", ([{"n": "long"}],)))
    assert (caught.value.field, caught.value.pointer) == ("response", "/0/n")


def test_a_value_may_have_a_megabyte():
    with pytest.raises(ValidationError, match=f"the limit is {LARGEST_VALUE}") as caught:
        verify(SchemaCheck(True, "response", ("x" * LARGEST_VALUE,)))
    assert caught.value.field == "response"


MANY = [{"n": n} for n in range(20_000)]
SLOW = [
    (chain(30, times=2), "x"),
    ({"items": {"multipleOf": 1e-300}}, [1e300] * 140_000),
    ({"items": {"enum": [{"n": n} for n in range(5000)]}}, [{"n": 4999}] * 80_000),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"items": {"$ref": "#/$defs/a"}}] * 3}}},
        [[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]],
    ),
]


RARER = [pytest.param(n, marks=pytest.mark.long) for n in range(1, len(SLOW))]


@pytest.mark.parametrize("slow", [0, *RARER])
def test_what_takes_too_long_is_ended_and_says_so(slow: int):
    schema, value = SLOW[slow]
    check(SchemaCheck(schema, "config.outcomeSchema"))
    with pytest.raises(ValidationError, match="response: checking this value took longer"):
        verify(SchemaCheck(schema, "response", (value,)))
    verify(SchemaCheck({"pattern": "a"}, "response", ("a",)))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"uniqueItems": True}, MANY),
        ({"oneOf": [{"minimum": n} for n in range(3000)]}, 0),
        ({"anyOf": [{"required": [f"p{n}"]} for n in range(2500)]}, {"p2499": 1}),
        ({"properties": {f"p{n}": {"type": "string"} for n in range(1500)}}, {}),
        (chain(9, times=2), "x"),
    ],
)
def test_what_is_large_but_simple_is_checked(schema: Any, value: Any):
    verify(SchemaCheck(schema, "response", (value,)))


async def test_the_loop_goes_on_meanwhile_and_few_wait():
    schema, value = SLOW[0]
    slow = SchemaCheck(schema, "response", (value,))
    checks = [asyncio.create_task(verified(slow)) for _ in range(10)]
    done, _ = await asyncio.wait(checks, return_when=asyncio.FIRST_COMPLETED)
    assert [type(one.exception()) for one in done] == [Overloaded] * 2
    for one in checks:
        one.cancel()
    await asyncio.gather(*checks, return_exceptions=True)


@pytest.mark.parametrize(
    ("schema", "value", "quick"),
    [
        ({"type": "string"}, "x", True),
        (
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {}}},
            {},
            True,
        ),
        (chain(30, times=2), "x", False),
        ({"items": {"$ref": "#"}}, [], False),
        ({"pattern": "a"}, "a", False),
        ({"uniqueItems": True}, MANY, False),
    ],
)
def test_only_what_is_surely_quick_is_checked_in_this_process(schema: Any, value: Any, quick: bool):
    assert is_quick(SchemaCheck(schema, "response", (value,))) is quick


def test_what_fans_out_is_weighed_with_its_references_followed():
    assert outline(chain(30, times=2)).weight > 2**30
    assert not outline(chain(30, times=2)).recursive


NAMES = st.sampled_from(["a", "ab", "b", "cab", ""])
RULES = st.sampled_from([True, False, {"type": "string"}, {"type": "integer"}])


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(NAMES, RULES),
            "patternProperties": st.dictionaries(
                st.sampled_from(["a", "^a", "b$", "^(a|c)"]), RULES
            ),
            "additionalProperties": RULES,
            "pattern": st.sampled_from(["a", "^a$", "b+"]),
        },
    ),
    st.dictionaries(NAMES, st.sampled_from([1, "x"])) | NAMES,
)
def test_the_same_fits_as_by_another_implementation(schema: Any, value: Any):
    assert fits(schema, value) == Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType]
