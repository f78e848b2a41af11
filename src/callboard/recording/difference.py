"""The recording that is nearest to a call, and where they differ, message by message."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Final

from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.json_values import as_list, as_object, is_list, is_mapping
from callboard.recording.request import CONVERSATIONS

MOST_SHOWN: Final = 12
_LONGEST: Final = 160
_NOTHING: Final = object()


def nearest(
    request: Mapping[str, Json], others: Iterable[Mapping[str, Json]]
) -> Mapping[str, Json] | None:
    """The request that differs least; None if there is none."""
    parts = _parts(request)
    best, most = None, -1.0
    for other in others:
        others_parts = _parts(other)
        together = len(parts | others_parts)
        alike = len(parts & others_parts) / together if together else 1.0
        if alike > most:
            best, most = other, alike
    return best


def differences(was: Mapping[str, Json], asked: Mapping[str, Json]) -> list[str]:
    """Where two requests differ, as lines: what was recorded, and what was asked now."""
    found = [line for place, a, b in _pairs("", was, asked) for line in _lines(place, a, b)]
    left = len(found) - MOST_SHOWN
    return [*found[:MOST_SHOWN], *([f"and {left} more"] if left > 0 else [])]


def _parts(request: Mapping[str, Json]) -> set[bytes]:
    """Members of the body, and each message for itself."""
    body = as_object(request.get("body"))
    found = {dump_json([request.get("provider"), request.get("path")])}
    for name, value in body.items():
        each = as_list(value) if name in CONVERSATIONS and is_list(value) else [value]
        found |= {dump_json([name, one]) for one in each}
    return found


def _pairs(place: str, was: object, asked: object) -> Iterator[tuple[str, object, object]]:
    """The smallest values that differ, with their places."""
    if is_mapping(was) and is_mapping(asked):
        for key in sorted({*was, *asked}):
            inside = f"{place}.{key}" if place else key
            yield from _pairs(inside, was.get(key, _NOTHING), asked.get(key, _NOTHING))
    elif is_list(was) and is_list(asked):
        for index, (one, other) in enumerate(zip_longest(was, asked, fillvalue=_NOTHING)):
            yield from _pairs(f"{place}[{index}]", one, other)
    elif was is _NOTHING or asked is _NOTHING or was != asked:
        yield place, was, asked


def _lines(place: str, was: object, asked: object) -> list[str]:
    told = [("-", was), ("+", asked)]
    return [f"{sign} {place}: {_short(one)}" for sign, one in told if one is not _NOTHING]


def _short(value: object) -> str:
    text = dump_json(value).decode()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
