"""Reads untrusted payloads: a field has the expected type, or it counts as missing."""

from collections.abc import Iterator
from typing import Final

from callboard.errors import StateNotSerializable
from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_object

LONGEST_WORD: Final = 512
LONGEST_PATH: Final = 4096
LONGEST_TEXT: Final = 4000
"""Maximum length of people's and agents' text. The raw payload has all of it."""
_LONGEST_UNREADABLE: Final = 2000


def text(value: Json, longest: int = LONGEST_TEXT) -> str | None:
    """Text, cut off if it is too long; None if it isn't text, or is blank."""
    if not isinstance(value, str) or not value.strip():
        return None
    cut = value if len(value) <= longest else value[: longest - 1] + "…"
    return encodable(cut)


def word(value: Json, longest: int = LONGEST_WORD) -> str | None:
    """A name or an id; None if it is too long, because half of one would be a different one."""
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        return None
    return encodable(value)


def whole(value: Json, most: int) -> int | None:
    """A positive whole number up to `most`; neither true nor 2.5 is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 < value <= most and value == int(value) else None


def json_value(value: Json) -> Json:
    """The value as it is, or the start of its description if JSON can't represent it.

    That is the case for numbers out of range, lone surrogates, and values nested too deep.
    """
    try:
        dump_json(value)
    except StateNotSerializable:
        return in_words(value, _LONGEST_UNREADABLE)
    return value


def in_words(value: Json, longest: int) -> str:
    """The start of a value's `ascii` form, however large it is."""
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
    """The parts of a value's description, so that the rest need not be built."""
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
    """Only the known values."""
    return {key: value for key, value in told.items() if value is not None}


def encodable(value: str) -> str:
    """The text without lone surrogates, which JSON can contain but no encoding can."""
    if value.isascii():
        return value
    return value.encode("utf-8", "replace").decode("utf-8")
