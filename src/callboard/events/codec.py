"""Payloads ⇄ bytes: JSON, compressed if it is large and that helps.

The first byte says which: `{` is plain JSON, 0x01 is zlib.
"""

import gc
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from callboard.errors import StateNotSerializable
from callboard.events.envelope import Json, NewEvent
from callboard.events.json_values import as_list, is_mapping, is_object

try:
    import orjson
except ModuleNotFoundError:
    from callboard.events import standard_json as orjson

MOST_VALUES = 50_000
"""How many values a JSON document from outside may have: parsing more blocks everyone else."""

LARGE = 262_144
"""A document of this many bytes takes milliseconds to parse."""

_STRETCH = LARGE
_COMPRESSED = b"\x01"
_WORTH_COMPRESSING = 1024

# Compressing a megabyte takes up to 25 ms. Above this size, a sample shows whether it is worth it.
_WORTH_SAMPLING = 65_536
_SAMPLES = 4
_SAMPLE_SIZE = 4096


class Oversized(Exception):
    """A document is too large to be parsed where others wait for it."""


def dump_json(value: Json) -> bytes:
    """Write a JSON value; StateNotSerializable if JSON can't represent it."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError) as error:
        raise StateNotSerializable(f"Cannot be written as JSON: {error}.") from error


def load_json(data: bytes | str) -> Json:
    """Read a JSON value."""
    return orjson.loads(data)


@contextmanager
def uncollected() -> Generator[None]:
    """Suspend garbage collection while a large document is parsed.

    All the new objects are kept, so collection finds nothing, and takes half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def load_cell(text: str | bytes | None) -> Any:
    """Read the JSON in a table cell; None if the cell is empty."""
    return None if text is None else orjson.loads(text)


def values_so_far(data: bytes) -> Iterator[int]:
    """A lower bound on the number of values in JSON, updated piece by piece; each is fast.

    Strings may be of any length: only what is outside of them counts.
    """
    start, count, is_text = 0, 0, False
    while start < len(data):
        end = start + _STRETCH
        while data[end - 1 : end] == b"\\":  # Keep an escaped character with its backslash.
            end += 1
        stretch = data[start:end].replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = stretch.split(b'"')
        # Joined again: counting in each of a hundred thousand parts takes ten times as long.
        count += _marks(b"".join(parts[is_text::2]))
        is_text ^= not len(parts) % 2
        start = end
        yield count


def _marks(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def pack(data: bytes) -> bytes:
    """Compress large data, unless that saves too little."""
    if len(data) < _WORTH_COMPRESSING:
        return data
    if len(data) > _WORTH_SAMPLING:
        sample = _sample(data)
        if len(zlib.compress(sample, 1)) > len(sample) * 0.75:
            return data
    squeezed = zlib.compress(data, 1)
    return _COMPRESSED + squeezed if len(squeezed) < len(data) * 0.9 else data


def _sample(data: bytes) -> bytes:
    """Pieces from all parts of the data: its start may be unlike the rest."""
    step = len(data) // _SAMPLES
    return b"".join(data[at : at + _SAMPLE_SIZE] for at in range(step // 2, len(data), step))


def unpack(data: bytes, most: int | None = None) -> bytes:
    """Undo `pack`; with `most`, Oversized if there are more bytes than that."""
    if data[:1] != _COMPRESSED:
        plain = data
    elif most is None:
        return zlib.decompress(data[1:])
    else:
        reading = zlib.decompressobj()
        plain = reading.decompress(data[1:], most + 1)
        if len(plain) <= most and not reading.eof:
            return zlib.decompress(data[1:])  # Raises what is wrong with it.
    if most is not None and len(plain) > most:
        raise Oversized
    return plain


def encode(event: NewEvent) -> bytes:
    """Encode an event's payload for storage."""
    return pack(plain(event))


def plain(event: NewEvent) -> bytes:
    """Encode an event's payload without compression."""
    payload = event.payload
    if event.outputs:
        patches = _with_references(payload["patches"], event.outputs)
        payload = {**payload, "patches": patches, "referring": True}
    return dump_json(payload)


def decode(data: bytes, output_at: Callable[[int], Json]) -> dict[str, Json]:
    """Decode a stored payload; `output_at` finds the output that a patch refers to."""
    return resolve(parse(data), output_at)


def parse(data: bytes) -> dict[str, Json]:
    """Parse a stored payload. Its patches may still refer to outputs: `resolve` replaces those."""
    plain = unpack(data)
    if len(plain) < LARGE:
        return orjson.loads(plain)
    with uncollected():
        return orjson.loads(plain)


def references(payload: Mapping[str, Json]) -> set[int]:
    """The positions of the outputs that a parsed payload refers to.

    A log can find the outputs for many events with one query.
    """
    if not _is_referring(payload):
        return set()
    positions = (_reference(patch) for patch in as_list(payload["patches"]))
    return {position for position in positions if position is not None}


def resolve(payload: dict[str, Json], output_at: Callable[[int], Json]) -> dict[str, Json]:
    """Replace references in a parsed payload by the outputs."""
    if _is_referring(payload):
        del payload["referring"]
        patches = as_list(payload["patches"])
        payload["patches"] = [_with_value(patch, output_at) for patch in patches]
    return payload


def _is_referring(payload: Mapping[str, Json]) -> bool:
    return payload.get("referring") is True and "patches" in payload


def _reference(patch: Json) -> int | None:
    output = patch.get("outputAt") if is_object(patch) and "value" not in patch else None
    return output if isinstance(output, int) else None


def _with_references(patches: Json, outputs: Mapping[int, int]) -> list[Json]:
    if not isinstance(patches, list | tuple):
        raise StateNotSerializable("Cannot refer to an output: the patches are not a list.")
    referring: list[Json] = list(cast("Sequence[Json]", patches))
    for index, position in outputs.items():
        patch = referring[index]
        if not is_mapping(patch):
            raise StateNotSerializable(
                "Cannot refer to an output: one of the patches is not an object."
            )
        others = {key: part for key, part in patch.items() if key != "value"}
        referring[index] = {**others, "outputAt": position}
    return referring


def _with_value(patch: Json, output_at: Callable[[int], Json]) -> Json:
    position = _reference(patch)
    if position is None or not is_object(patch):
        return patch
    del patch["outputAt"]
    return {**patch, "value": output_at(position)}
