"""What goes over the socket of an agent's terminal: frames of a kind, a length and content."""

import json
import struct
from collections.abc import Mapping
from typing import Final

from callboard.events.json_values import Object, as_object

INPUT: Final = b"i"
"""What a person typed."""
OUTPUT: Final = b"o"
"""What the agent printed."""
WORDS: Final = b"w"
"""A JSON object: a request, its reply, or the end."""
LARGEST: Final = 1_048_576
"""Bytes of a frame's content."""

_HEAD: Final = struct.Struct("!cI")

Frame = tuple[bytes, bytes]


def framed(kind: bytes, content: bytes) -> bytes:
    """A frame as it is sent."""
    return _HEAD.pack(kind, len(content)) + content


def worded(told: Mapping[str, object]) -> bytes:
    """A JSON object as it is sent."""
    return framed(WORDS, json.dumps(told).encode())


def told_in(content: bytes) -> Object:
    """The JSON object in a frame; empty if there is none."""
    try:
        return as_object(json.loads(content))
    except (ValueError, RecursionError):
        return {}


class FrameReader:
    """Takes frames out of the bytes that arrive."""

    def __init__(self) -> None:
        self._arrived = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now. ValueError if one is too long."""
        self._arrived += data
        found: list[Frame] = []
        while len(self._arrived) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._arrived)
            if length > LARGEST:
                raise ValueError(f"a frame of {length} bytes")
            end = _HEAD.size + length
            if len(self._arrived) < end:
                break
            found.append((kind, bytes(self._arrived[_HEAD.size : end])))
            del self._arrived[:end]
        return found
