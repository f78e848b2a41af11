"""What somebody sends with a question or its end: text and JSON, or an error naming the field."""

from typing import Any

from callboard.errors import StateNotSerializable, ValidationError
from callboard.events.codec import load_json
from callboard.state.plain import written


def as_text(value: Any, field: str) -> str:
    """A text that is not empty and can be written down."""
    if not isinstance(value, str) or not value.strip():
        raise ValidationError(f"{field} must be a text that is not empty.", field=field)
    return as_json(value, field)


def as_json(value: Any, field: str) -> Any:
    """The value as JSON gives it back."""
    try:
        return load_json(written(value, ""))
    except StateNotSerializable as error:
        message = f"{field} cannot be recorded: {error.message}"
        raise ValidationError(message, field=field) from error


def as_texts(value: Any, field: str) -> list[str]:
    """A list of at least one text, all different."""
    if not isinstance(value, list | tuple) or not value:
        raise ValidationError(f"{field} must be a list of at least one text.", field=field)
    texts = [as_text(one, field) for one in value]  # pyright: ignore[reportUnknownVariableType]
    if len(set(texts)) < len(texts):
        raise ValidationError(f"{field} must differ: {', '.join(texts)}.", field=field)
    return texts
