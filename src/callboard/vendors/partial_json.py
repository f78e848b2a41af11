"""JSON as clients write it: with lone surrogates, or only the start of a document."""

import json
from collections.abc import Iterator
from typing import Final

from callboard.events.codec import load_json
from callboard.events.json_values import Object, as_object

HEAD: Final = 128 * 1024
"""How much of a long document is read: more than a page shows of it."""
_DEEPEST: Final = 100
_VALUE: Final = 20
_MOST_VALUES: Final = 100_000
"""Values in a document that is parsed as a whole. More take more memory than a server can spare."""


def load_record(line: bytes) -> Object:
    """The object in a line; empty if there is none."""
    try:
        return as_object(load_json(line))
    except (ValueError, RecursionError):
        pass
    if b"\\ud" not in line and b"\\uD" not in line:
        return {}
    try:  # Half of a pair of surrogates, as JavaScript writes it. Only this parser reads it.
        return as_object(json.loads(line))
    except (ValueError, RecursionError):
        return {}


def load_some(document: bytes) -> tuple[Object, bool]:
    """The object in a document, and whether that is all: of one with many values, its start."""
    if has_many_values(document):
        return load_start(document[:HEAD]), False
    return load_record(document), True


def has_many_values(document: bytes) -> bool:
    """Whether there may be too many to parse all of them. Texts with such characters count, too."""
    return len(document) > _MOST_VALUES and _values_in(document) > _MOST_VALUES


def parsing_cost(document: bytes) -> int:
    """Roughly the bytes that `load_some` takes: small values take more than they are long."""
    parsed = document[:HEAD] if has_many_values(document) else document
    return len(parsed) + _VALUE * _values_in(parsed)


def _values_in(document: bytes) -> int:
    return sum(map(document.count, (b",", b"[", b"{")))


def load_start(head: bytes) -> Object:
    """The object that a document starts with, as far as it goes; empty if there is none."""
    for document in _completed(head.decode("utf-8", "ignore")):
        if found := load_record(document.encode()):
            return found
    return {}


def _completed(text: str) -> Iterator[str]:
    """Documents that start like this one: with the string that is cut, or without the last part."""
    ends, comma, at = "", (0, ""), 0
    while at < len(text) and len(ends) <= _DEEPEST:
        sign = text[at]
        at += 1
        if sign == '"':
            at, is_over = _end_of_string(text, at)
            if not is_over:
                yield _without_half_escape(text) + '"' + ends
        elif sign in "{[":
            ends = ("}" if sign == "{" else "]") + ends
        elif sign in "}]":
            ends = ends[1:]
        elif sign == ",":
            comma = (at - 1, ends)
    yield text[: comma[0]] + comma[1]


def _end_of_string(text: str, start: int) -> tuple[int, bool]:
    """Where a string ends, and whether that is in the text."""
    end = start
    while (end := text.find('"', end)) >= 0:
        slashes = end
        while slashes > start and text[slashes - 1] == "\\":
            slashes -= 1
        end += 1
        if (end - 1 - slashes) % 2 == 0:
            return end, True
    return len(text), False


def _without_half_escape(text: str) -> str:
    """The text without an escape sequence that may be cut off at its end."""
    start = text.rfind("\\", max(0, len(text) - 6))
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return text if start < 0 else text[:start]
