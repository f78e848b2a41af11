"""JSON Schemas from callers: whether they are usable, and which values fit them.

Sizes are limited here. Time is limited in `checking`, which is what callers use. `jsonschema_rs` is
imported late, so that only callers with a schema wait for it.
"""

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final, cast

from callboard.drafts import pointer
from callboard.errors import ValidationError
from callboard.events.codec import dump_json
from callboard.events.json_values import is_mapping
from callboard.interactions.schema.references import outline

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator
    from jsonschema_rs import ValidationError as Misfit

LARGEST_SCHEMA: Final = 64 * 1024
"""Maximum bytes of an outcome schema as JSON."""
LARGEST_VALUE: Final = 1_048_576
"""Maximum bytes of a value to check against one."""

_LONGEST: Final = 300
_QUICK_SCHEMA: Final = 8 * 1024
_QUICK: Final = 2_000_000
"""Schema bytes times value bytes that can be checked in 50 ms, whatever they contain."""
# Keywords whose cost depends on more than sizes.
_SLOW: Final = frozenset({
    "multipleOf", "pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_BACKTRACKING: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """A check of a schema, or of a value against one.

    Args:
        schema: The JSON Schema (2020-12).
        field: The name of the value in errors; without a value, of the schema.
        value: The value in a tuple of one; empty to check only the schema.
    """

    schema: object
    field: str
    value: tuple[object, ...] = ()


def check(wanted: SchemaCheck) -> None:
    """Raise a ValidationError that says where and why, if it doesn't fit."""
    if wanted.value:
        _check_value(wanted.schema, wanted.value[0], wanted.field)
    else:
        _check_schema(wanted.schema, wanted.field)


def check_sizes(wanted: SchemaCheck) -> None:
    """Raise a ValidationError if it is too large to check."""
    size = len(dump_json(wanted.schema))
    if size > LARGEST_SCHEMA and not wanted.value:
        raise _unusable(
            wanted.field, f"it is {size} bytes; the limit is {LARGEST_SCHEMA}. Ask for less"
        )
    for value in wanted.value:
        size = len(dump_json(value))
        if size > LARGEST_VALUE:
            raise ValidationError(
                f"{wanted.field} is {size} bytes; the limit is {LARGEST_VALUE}. Put large data "
                "into a file and send its path.",
                field=wanted.field,
            )


def is_quick(wanted: SchemaCheck) -> bool:
    """Whether a check certainly takes less than 50 ms."""
    if len(dump_json(wanted.schema)) > _QUICK_SCHEMA:
        return False
    try:
        found = outline(wanted.schema)
    except (ValueError, RecursionError):
        return True  # It is refused for that, before anything is compiled.
    if found.recursive or found.keywords & _SLOW:
        return False
    size = sum(len(dump_json(value)) for value in wanted.value)
    return found.weight <= _QUICK_SCHEMA and found.weight * size <= _QUICK


def _check_schema(schema: object, field: str) -> None:
    try:
        _validator(schema)
    except (RecursionError, TypeError, ValueError) as error:
        raise _unusable(field, _reason(error)) from None


def _check_value(schema: object, value: object, field: str) -> None:
    from jsonschema_rs import ValidationError as Misfit

    try:
        validator = _validator(schema)
    except (RecursionError, TypeError, ValueError) as error:
        raise ValidationError(
            f"{field} cannot be checked: its schema does not work ({_reason(error)}).",
            field=field,
        ) from None
    try:
        # Only the first misfit: collecting all of them may take thousands of times as long.
        validator.validate(value)
    except Misfit as error:
        raise _misfit(_closest(error), field) from None
    except ValueError as error:
        raise ValidationError(f"{field} cannot be checked: {error}.", field=field) from None


def _validator(schema: object) -> "Draft202012Validator":
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions

    if not is_mapping(schema) and not isinstance(schema, bool):
        raise TypeError("a schema is an object, true or false")
    outline(schema)  # Raises a ValueError for a reference to something outside.
    return Draft202012Validator(
        cast("dict[str, object]", schema),
        offline=True,
        pattern_options=FancyRegexOptions(backtrack_limit=_BACKTRACKING),
    )


def _closest(error: "Misfit") -> "Misfit":
    """The most specific misfit: inside the alternative that fits best."""
    while error.kind.name in ("anyOf", "oneOf"):
        branches: list[list[Misfit]] = getattr(error.kind, "context", [])
        firsts = [errors[0] for errors in branches if errors]
        if not firsts:
            break
        error = max(firsts, key=lambda one: (len(one.instance_path), one.kind.name != "type"))
    return error


def _misfit(wrong: "Misfit", field: str) -> ValidationError:
    where = "".join(f"[{part!r}]" for part in wrong.instance_path)
    reason = _shortened(wrong.message)
    return ValidationError(
        f"{field}{where} does not fit the schema that was asked for: {reason}.",
        field=field,
        pointer=reduce(pointer.join, wrong.instance_path, ""),
        reason=reason,
    )


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    where = "".join(f"[{part!r}]" for part in getattr(error, "instance_path", ()))
    message: str = getattr(error, "message", None) or str(error)
    return f"{where}{': ' if where else ''}{message.splitlines()[0]}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _unusable(field: str, why: str) -> ValidationError:
    return ValidationError(f"{field} is not a usable JSON Schema: {_shortened(why)}.", field=field)
