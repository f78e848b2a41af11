"""Check what is sent with a question or its end: text and JSON, or an error naming the field."""

from collections.abc import Sequence
from typing import TypeGuard

from callboard.drafts.plain import copied
from callboard.errors import StateNotSerializable, ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import as_list
from callboard.interactions.excerpts import excerpt

_LONGEST = 1000
"""Characters of the input to repeat in an error."""


def checked_text(value: object, field: str) -> str:
    """A text that isn't empty and can be encoded."""
    if not isinstance(value, str) or not value.strip():
        raise _no_text(field)
    return str(as_json(value, field))


def as_json(value: object, field: str) -> Json:
    """The value after a round trip through JSON."""
    try:
        return copied(value, "")
    except StateNotSerializable as error:
        message = f"{field} cannot be recorded: {error.message}"
        raise ValidationError(message, field=field) from error


def checked_texts(value: object, field: str) -> list[str]:
    """A list of at least one text, without duplicates."""
    if not is_sequence(value) or not value:
        raise ValidationError(f"{field} must be a list with at least one text.", field=field)
    if any(not isinstance(one, str) or not one.strip() for one in value):
        raise _no_text(field)
    # All at once: one by one takes ten times as long, and there may be thousands.
    texts = [str(one) for one in as_list(as_json(list(value), field))]
    if len(set(texts)) < len(texts):
        told = excerpt(", ".join(texts), _LONGEST)
        raise ValidationError(f"{field} must not contain duplicates: {told}.", field=field)
    return texts


def is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    """Whether it is a list or tuple, but not text."""
    return isinstance(value, list | tuple)


def _no_text(field: str) -> ValidationError:
    return ValidationError(f"{field} must be non-empty text.", field=field)
