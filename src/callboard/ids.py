"""Ids: the only module that uses randomness to make them."""

import hashlib
import os
import random
import secrets
import time
from functools import lru_cache

# Crockford's alphabet: no i, l, o, u, so an id can be read aloud and typed.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

# Event ids must be unique but are not secret, so a fast generator is enough, with its own seed in
# each process, even after a fork.
_chance = random.Random(os.urandom(32))
_pool: list[str] = []
_POOLED = 256


def _start_over() -> None:
    _chance.seed(os.urandom(32))
    _pool.clear()


if hasattr(os, "register_at_fork"):  # Windows has no forks.
    os.register_at_fork(after_in_child=_start_over)


def short_id(length: int = 12) -> str:
    """Make an id for a session or a question, short enough to type: 60 random bits."""
    bits = secrets.randbits(5 * length)
    return "".join(_ALPHABET[(bits >> (5 * i)) & 31] for i in range(length))


def keyed_id(*parts: str) -> str:
    """The id for a key that a caller chose: always the same for the same key."""
    named = "\0".join(parts).encode(errors="surrogatepass")
    bits = int.from_bytes(hashlib.sha256(named).digest()[:8])
    return "".join(_ALPHABET[(bits >> (5 * i)) & 31] for i in range(12))


def event_id() -> str:
    """Make a version 7 UUID: ids from different milliseconds sort in the order of their events."""
    moment = _moment(time.time_ns() // 1_000_000)
    try:
        return moment + _pool.pop()
    except IndexError:  # Not checked beforehand: another thread may take the last one.
        *rest, last = _random_parts()
        _pool.extend(rest)
        return moment + last


def _random_parts() -> list[str]:
    """The random parts of many ids at once, which takes a third of the time per id."""
    # 72 random bits each, as hex digits directly: formatting numbers takes nearly twice as long.
    digits = _chance.randbytes(9 * _POOLED).hex()
    starts = range(0, len(digits), 18)
    return [
        f"{digits[i : i + 3]}-8{digits[i + 3 : i + 6]}-{digits[i + 6 : i + 18]}" for i in starts
    ]


@lru_cache(maxsize=8)  # The events of one commit share a millisecond.
def _moment(millis: int) -> str:
    return f"{millis >> 16:08x}-{millis & 0xFFFF:04x}-7"
