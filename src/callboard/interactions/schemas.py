"""JSON Schemas that callers send: whether they are any, and what fits them.

`jsonschema` takes a tenth of a second to load, so that only those wait for it who have a schema.
Nothing is fetched: a schema that refers to something outside itself is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from callboard.errors import ValidationError
from callboard.interactions.bounded import STEPS, TooMuch, misfits
from callboard.interactions.patterns import matcher

_LONGEST = 300
_PATTERNS = 50
# Values, in which something that looks like a reference is none.
_VALUES = frozenset({"const", "default", "enum", "examples"})


def check_json_schema(schema: Any, field: str) -> None:
    """Raise ValidationError for what is no JSON Schema (2020-12) that stands alone."""
    from jsonschema import Draft202012Validator, FormatChecker, SchemaError
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

    try:
        # Patterns are for the engine that will match them.
        formats = set(Draft202012Validator.FORMAT_CHECKER.checkers) - {"regex"}
        Draft202012Validator.check_schema(schema, FormatChecker(formats))
        resolver = EMPTY_REGISTRY.resolver_with_root(DRAFT202012.create_resource(schema))
        for reference in _references(schema):
            resolver.lookup(reference)
        _check_patterns(schema)
    except SchemaError as error:
        raise _no_schema(field, error.message) from None
    except Unresolvable as error:
        raise _no_schema(field, f"{error.ref!r} is not in it; put it under $defs") from None
    except RecursionError:
        raise _no_schema(field, "it goes round in circles") from None
    except ValueError as error:
        raise _no_schema(field, str(error)) from None


def check_fits(schema: Any, value: Any, field: str) -> None:
    """Raise ValidationError, saying where, when the value does not fit the schema."""
    from jsonschema.exceptions import ValidationError as Misfit
    from jsonschema.exceptions import best_match  # pyright: ignore[reportUnknownVariableType]

    try:
        wrong = cast("Misfit | None", best_match(misfits(schema, value)))
    except TooMuch:
        raise ValidationError(
            f"{field} cannot be checked: its schema takes more than {STEPS} steps for it. "
            "Ask for less at once.",
            field=field,
        ) from None
    except (RecursionError, ValueError) as error:
        raise ValidationError(
            f"{field} cannot be checked: its schema does not work ({type(error).__name__}).",
            field=field,
        ) from None
    if wrong is not None:
        where = "".join(f"[{part!r}]" for part in wrong.absolute_path)
        raise ValidationError(
            f"{field}{where} does not fit the schema that was asked for: "
            f"{wrong.message[:_LONGEST]}.",
            field=field,
            pointer="".join(f"/{_step(part)}" for part in wrong.absolute_path),
            reason=wrong.message[:_LONGEST],
        )


def _step(part: str | int) -> str:
    """A step of a JSON Pointer (RFC 6901)."""
    return str(part).replace("~", "~0").replace("/", "~1")


def _references(schema: Any) -> Iterator[str]:
    for key, value in _keywords(schema):
        if key in ("$ref", "$dynamicRef") and isinstance(value, str):
            yield value


def _check_patterns(schema: Any) -> None:
    found: set[str] = set()
    for key, value in _keywords(schema):
        if key == "pattern" and isinstance(value, str):
            found.add(value)
        elif key == "patternProperties" and isinstance(value, Mapping):
            found.update(cast("Mapping[str, Any]", value))
    if len(found) > _PATTERNS:
        raise ValueError(f"it has {len(found)} patterns, and may have {_PATTERNS}")
    keywords = {key for key, _ in _keywords(schema)}
    if {"patternProperties", "unevaluatedProperties"} <= keywords:
        raise ValueError("it has unevaluatedProperties beside patternProperties; leave one out")
    for pattern in found:
        matcher(pattern)


def _keywords(schema: Any) -> Iterator[tuple[str, Any]]:
    """All keywords, with what they say; names of properties are among them."""
    if isinstance(schema, list):
        for one in cast("list[Any]", schema):
            yield from _keywords(one)
    if not isinstance(schema, Mapping):
        return
    for key, value in cast("Mapping[str, Any]", schema).items():
        yield key, value
        if key not in _VALUES:
            yield from _keywords(value)


def _no_schema(field: str, why: str) -> ValidationError:
    return ValidationError(
        f"{field} is no JSON Schema that can be used: {why[:_LONGEST]}.", field=field
    )
