"""Reads payloads of which nothing is certain: a field is what it should be, or it is not there."""

from collections.abc import Iterator
from typing import Final

from callboard.errors import StateNotSerializable
from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_object

LONGEST_WORD: Final = 512
LONGEST_PATH: Final = 4096
LONGEST_TEXT: Final = 4000
"""Of what people and agents write. The whole of it is in the raw payload."""
_LONGEST_UNREADABLE: Final = 2000


def text(value: Json, longest: int = LONGEST_TEXT) -> str | None:
    """What someone wrote, cut where it gets too long; None when it is not text, or blank."""
    if not isinstance(value, str) or not value.strip():
        return None
    cut = value if len(value) <= longest else value[: longest - 1] + "…"
    return _encodable(cut)


def word(value: Json, longest: int = LONGEST_WORD) -> str | None:
    """A name or an id: half of one would be another one, so it is whole or not there."""
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        return None
    return _encodable(value)


def whole(value: Json, most: int) -> int | None:
    """A positive whole number up to `most`; true is not a number, and 2.5 is not either."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= most and value == int(value) else None


def json_value(value: Json) -> Json:
    """The value as it is, or its start in words when JSON cannot hold it.

    Such are numbers beyond all bounds, halves of characters, and what is nested too deep.
    """
    try:
        dump_json(value)
    except StateNotSerializable:
        return in_words(value, _LONGEST_UNREADABLE)
    return value


def in_words(value: Json, longest: int) -> str:
    """The start of what `ascii` says of a value, however large all of it is."""
    found = ""
    try:
        for piece in _pieces(value, longest):
            found += piece
            if len(found) >= longest:
                break
    except RecursionError:
        return "nested too deep"
    return found[:longest]


def _pieces(value: Json, longest: int) -> Iterator[str]:
    """What is said of a value, piece by piece, so that the rest need not be said."""
    if is_object(value):
        for number, (key, item) in enumerate(value.items()):
            yield ", " if number else "{"
            yield from _pieces(key, longest)
            yield ": "
            yield from _pieces(item, longest)
        yield "}" if value else "{}"
    elif is_list(value):
        for number, item in enumerate(value):
            yield ", " if number else "["
            yield from _pieces(item, longest)
        yield "]" if value else "[]"
    else:
        yield ascii(value[:longest] if isinstance(value, str) else value)


def present(**told: Json) -> dict[str, Json]:
    """Only what is known."""
    return {key: value for key, value in told.items() if value is not None}


def _encodable(value: str) -> str:
    """JSON can name halves of characters that no encoding has."""
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode("utf-8")
