"""Schemas and values of others: what is checked, and that no check takes for ever."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callboard.errors import ValidationError
from callboard.interactions.bounded import STEPS
from callboard.interactions.schemas import check_fits, check_json_schema

NESTED = "^(a+)+$"
EMAIL = r"^(?!\.)(?!.*\.\.)([\w'+\-.]*)[\w+-]@([A-Za-z0-9-]+\.)+[A-Za-z]{2,}$"
LONG = "a" * 10_000 + "!"


def fits(schema: Any, value: Any) -> bool:
    try:
        check_fits(schema, value, "response")
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": NESTED}, LONG),
        ({"patternProperties": {NESTED: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"propertyNames": {"pattern": NESTED}}, {LONG: 1}),
        ({"pattern": r"^(?=.*\d)(a|a)*$"}, LONG),
    ],
)
def test_a_pattern_takes_no_longer_than_its_text(schema: Any, value: Any):
    check_json_schema(schema, "schema")
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
    ],
)
def test_a_pattern_means_what_it_says(pattern: str, text: str, fit: bool):
    check_json_schema({"pattern": pattern}, "schema")
    assert fits({"pattern": pattern}, text) is fit
    assert fits({"pattern": pattern}, 5), "only a text can fail to match"


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"pattern": "("}, "unclosed group"),
        ({"pattern": r"(a)\1"}, "backreferences are not supported"),
        ({"pattern": "a(?=b)"}, "look-around"),
        ({"pattern": "^(?=a)b|c"}, "look-around"),
        ({"pattern": "(a{1000}){1000}"}, "size limit"),
        ({"pattern": "a" * 2000}, "may have 1000 characters"),
        ({"patternProperties": {"(": True}}, "unclosed group"),
        ({"anyOf": [{"pattern": f"a{n}"} for n in range(51)]}, "51 patterns"),
        ({"patternProperties": {"a": True}, "unevaluatedProperties": False}, "leave one out"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_where_it_is_given(schema: Any, why: str):
    with pytest.raises(ValidationError, match=why) as caught:
        check_json_schema(schema, "config.outcomeSchema")
    assert caught.value.field == "config.outcomeSchema"


def test_references_that_double_with_each_step_end():
    defs: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(100)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": {**defs, "d100": {"type": "string"}}}
    check_json_schema(schema, "schema")
    with pytest.raises(ValidationError, match=f"response cannot be checked.* {STEPS} steps"):
        check_fits(schema, "x", "response")


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
def test_the_same_fits_as_without_bounds(schema: Any, value: Any):
    assert fits(schema, value) == Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType]
