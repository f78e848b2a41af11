"""Reads payloads of which nothing is certain: a field is what it should be, or it is not there."""

from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.errors import StateNotSerializable
from callboard.events.codec import dump_json

LONGEST_WORD: Final = 512
LONGEST_PATH: Final = 4096
LONGEST_TEXT: Final = 4000
"""Of what people and agents write. The whole of it is in the raw payload."""
_LONGEST_UNREADABLE: Final = 2000

Object = Mapping[str, Any]


def as_object(value: Any) -> Object:
    """The value if it is an object, else an empty one."""
    return cast("Object", value) if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objects(value: Any) -> list[Object]:
    """The objects in a list, whatever else stands there."""
    return [cast("Object", one) for one in as_list(value) if isinstance(one, Mapping)]


def text(value: Any, longest: int = LONGEST_TEXT) -> str | None:
    """What somebody wrote, cut where it gets too long; None when it is no text, or blank."""
    if not isinstance(value, str) or not value.strip():
        return None
    cut = value if len(value) <= longest else value[: longest - 1] + "…"
    return _encodable(cut)


def word(value: Any, longest: int = LONGEST_WORD) -> str | None:
    """A name or an id: half of one would be another one, so it is whole or not there."""
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        return None
    return _encodable(value)


def whole(value: Any, most: int) -> int | None:
    """A positive whole number up to `most`; true is no number, and 2.5 is none either."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= most and value == int(value) else None


def json_value(value: Any) -> Any:
    """The value as it is, or its beginning in words when JSON cannot hold it.

    Such are numbers beyond all bounds, halves of characters, and what is nested too deep.
    """
    try:
        dump_json(value)
    except StateNotSerializable:
        return _in_words(value)
    return value


def present(**told: Any) -> dict[str, Any]:
    """Only what is known."""
    return {key: value for key, value in told.items() if value is not None}


def _in_words(value: Any) -> str:
    try:
        return ascii(value)[:_LONGEST_UNREADABLE]
    except RecursionError:
        return "nested too deep"


def _encodable(value: str) -> str:
    """JSON can name halves of characters that no encoding has."""
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode("utf-8")
