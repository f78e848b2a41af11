"""Payloads ⇄ bytes: JSON, compressed when it is large and that helps.

The first byte tells which: `{` is plain JSON, 0x01 is zlib.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from callboard.errors import StateNotSerializable
from callboard.events.envelope import Json, NewEvent

MOST_VALUES = 100_000
"""Values that one JSON document of others may hold: to read more keeps everybody waiting."""

_STRETCH = 262_144
_COMPRESSED = b"\x01"
_WORTH_COMPRESSING = 1024


def dump_json(value: Json) -> bytes:
    """Write a JSON value; raise StateNotSerializable for what JSON cannot hold."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError) as error:
        raise StateNotSerializable(f"Cannot be written as JSON: {error}.") from error


def load_json(data: bytes | str) -> Json:
    """Read a JSON value."""
    return orjson.loads(data)


def has_many_values(data: bytes) -> bool:
    """Whether JSON that others sent has more than `MOST_VALUES` values."""
    return any(count > MOST_VALUES for count in values_so_far(data))


def values_so_far(data: bytes) -> Iterator[int]:
    """How many values JSON has, at least, after each stretch of it; a stretch takes no time.

    Strings may be as long as they like: only what stands outside of them counts.
    """
    start, count, is_text = 0, 0, False
    while start < len(data):
        end = start + _STRETCH
        while data[end - 1 : end] == b"\\":  # What is escaped stays with what escapes it.
            end += 1
        stretch = data[start:end].replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = stretch.split(b'"')
        count += sum(map(_marks, parts[is_text::2]))
        is_text ^= not len(parts) % 2
        start = end
        yield count


def _marks(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def pack(data: bytes) -> bytes:
    """Compress what is large, unless that gains less than a tenth."""
    if len(data) < _WORTH_COMPRESSING:
        return data
    squeezed = zlib.compress(data, 1)
    return _COMPRESSED + squeezed if len(squeezed) < len(data) * 0.9 else data


def unpack(data: bytes) -> bytes:
    """Undo `pack`."""
    return zlib.decompress(data[1:]) if data[:1] == _COMPRESSED else data


def encode(event: NewEvent) -> bytes:
    """Write an event's payload as it is stored."""
    return pack(plain(event))


def plain(event: NewEvent) -> bytes:
    """Write an event's payload, not yet compressed."""
    payload = event.payload
    if event.outputs:
        patches = _with_references(payload["patches"], event.outputs)
        payload = {**payload, "patches": patches, "referring": True}
    return dump_json(payload)


def decode(data: bytes, output_at: Callable[[int], Json]) -> dict[str, Any]:
    """Read a stored payload; `output_at` finds the output that a patch refers to."""
    payload: dict[str, Any] = orjson.loads(unpack(data))
    if payload.get("referring"):
        del payload["referring"]
        payload["patches"] = [_with_value(patch, output_at) for patch in payload["patches"]]
    return payload


def _with_references(patches: list[Mapping[str, Json]], outputs: Mapping[int, int]) -> Json:
    return [
        {"op": patch["op"], "path": patch["path"], "outputAt": outputs[index]}
        if index in outputs
        else patch
        for index, patch in enumerate(patches)
    ]


def _with_value(patch: dict[str, Json], output_at: Callable[[int], Json]) -> dict[str, Json]:
    if "outputAt" not in patch:
        return patch
    return {"op": patch["op"], "path": patch["path"], "value": output_at(patch["outputAt"])}
