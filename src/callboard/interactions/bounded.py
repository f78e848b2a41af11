"""A validator of JSON Schemas whose work is bounded, whoever wrote schema and value.

Patterns take no longer than their text is long. What doubles with each step, such as references
that lead to two references each, ends after a number of steps.
"""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, Final, cast

from callboard.interactions.patterns import matcher

STEPS: Final = 100_000
"""Keywords that are looked at for one value: a second or so."""

_left: Final = ContextVar[list[int]]("steps left")

Check = Callable[[Any, Any, Any, Mapping[str, Any]], Any]


class TooMuch(Exception):
    """It takes more steps than one value may."""


def misfits(schema: Any, value: Any) -> Iterator[Any]:
    """What does not fit, as `jsonschema` tells it; TooMuch, or ValueError for a pattern."""
    from referencing.jsonschema import EMPTY_REGISTRY

    _left.set([STEPS])
    yield from _validator()(schema, registry=EMPTY_REGISTRY).iter_errors(value)


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator, validators

    known: dict[str, Check] = dict(Draft202012Validator.VALIDATORS)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    known["pattern"] = _pattern
    known["patternProperties"] = _pattern_properties
    known["additionalProperties"] = partial(_additional, known["additionalProperties"])
    counted = {name: partial(_counted, check) for name, check in known.items()}
    return cast("Any", validators.extend(Draft202012Validator, counted))  # pyright: ignore[reportUnknownMemberType]


def _counted(check: Check, validator: Any, rule: Any, value: Any, schema: Any) -> Any:
    left = _left.get()
    left[0] -= 1
    if left[0] < 0:
        raise TooMuch
    return check(validator, rule, value, schema)


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not matcher(pattern)(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], value: Any, schema: Any
) -> Iterator[Any]:
    for pattern, rule in patterns.items():
        for name in _named(value, pattern):
            yield from validator.descend(value[name], rule, path=name, schema_path=pattern)


def _additional(check: Check, validator: Any, rule: Any, value: Any, schema: Any) -> Iterator[Any]:
    """The original, shown neither what a pattern names nor the patterns."""
    patterns: Mapping[str, Any] = schema.get("patternProperties", {})
    named = {name for pattern in patterns for name in _named(value, pattern)}
    if named:
        value = {name: value[name] for name in value if name not in named}
    without = {key: schema[key] for key in schema if key != "patternProperties"}
    yield from check(validator, rule, value, without) or ()


def _named(value: Any, pattern: str) -> list[str]:
    names = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return [name for name in names if matcher(pattern)(name)]
