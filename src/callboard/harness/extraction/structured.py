"""The last JSON in a conversation that matches what was asked for."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from callboard.errors import CallboardError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.harness.outcomes import decision_schema
from callboard.interactions.schema.checking import verify
from callboard.interactions.schema.schemas import SchemaCheck

_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*(\w*)[^\n]*$", re.MULTILINE)
_OPEN: Final = re.compile(r"^\s*[{\[]", re.MULTILINE)
_JSON: Final = ("", "json", "jsonc", "json5")


class _Unreadable(ValueError):
    """It starts as JSON, but isn't valid."""


def last_fitting(messages: Sequence[str], config: Object) -> Json:
    """The last block that fits; None if there is no such block, or if a later one was cut off."""
    schema = decision_schema(config)
    for message in reversed(messages):
        try:
            fitting = [
                found
                for value in list(_blocks(message))
                if (found := _fitted(schema, value)) is not None
            ]
        except _Unreadable:
            return None  # It may have been meant to replace those before it.
        if fitting:
            return fitting[-1]
    return None


def _blocks(message: str) -> Iterator[Json]:
    """The JSON values in code fences; without fences, those that start a line."""
    fences = list(_FENCE.finditer(message))
    if not fences:
        yield from _bare(message)
        return
    place = 0
    for fence in fences:
        if fence.start() < place:
            continue
        end = _end_of(message, fence, fences)
        inside = message[fence.end() : end].strip()
        if fence[2].casefold() in _JSON and inside[:1] in ("{", "["):
            if end == len(message) and not message.rstrip().endswith(fence[1]):
                raise _Unreadable
            yield _read(inside)
        place = end + 1


def _end_of(message: str, opening: re.Match[str], fences: Sequence[re.Match[str]]) -> int:
    for one in fences:
        closes = one[1].startswith(opening[1]) and not one[2]
        if one.start() > opening.start() and closes:
            return one.end() if one.end() == len(message) else one.start()
    return len(message)


def _bare(message: str) -> Iterator[Json]:
    decoder = json.JSONDecoder(object_pairs_hook=_once)
    place = 0
    while found := _OPEN.search(message, place):
        try:
            value, place = decoder.raw_decode(message, found.end() - 1)
        except (ValueError, RecursionError) as error:
            raise _Unreadable from error
        yield value


def _read(text: str) -> Json:
    text = re.sub(r"\n {0,3}[`~]{3,}\s*\Z", "", text)
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise _Unreadable from error


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Reject objects with duplicate keys, which are ambiguous."""
    told = dict(pairs)
    if len(told) < len(pairs):
        raise ValueError("duplicate key")
    return told


def _fitted(schema: Json, value: Json) -> Json:
    """The value that fits: what is under `decision`, otherwise the whole."""
    for one in (as_object(value).get("decision"), value):
        if one is not None and _fits(schema, one):
            return one
    return None


def _fits(schema: Json, value: Json) -> bool:
    try:
        verify(SchemaCheck(schema, "decision", (value,)))
    except CallboardError:
        return False
    return True
