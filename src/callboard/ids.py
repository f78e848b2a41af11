"""Identity: the only place that rolls dice."""

import os
import secrets
import time

# Crockford's alphabet: no i, l, o, u, so an id can be read aloud and typed.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def short_id(length: int = 12) -> str:
    """Make an id for a session or a question, short enough to type: 60 random bits."""
    bits = secrets.randbits(5 * length)
    return "".join(_ALPHABET[(bits >> (5 * i)) & 31] for i in range(length))


def event_id() -> str:
    """Make a version 7 UUID: ids of different milliseconds sort as the events happened."""
    millis = time.time_ns() // 1_000_000
    raw = bytearray(millis.to_bytes(6, "big") + os.urandom(10))
    raw[6] = 0x70 | (raw[6] & 0x0F)
    raw[8] = 0x80 | (raw[8] & 0x3F)
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
