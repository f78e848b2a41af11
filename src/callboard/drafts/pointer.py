"""JSON Pointer (RFC 6901): the paths in patches and messages."""

import re
from collections.abc import Iterable

from callboard.events.json_values import is_list, is_object

_ESCAPED = re.compile(r"~[01]")
_WRONG_ESCAPE = re.compile(r"~(?![01])")
_PLAIN = {"~0": "~", "~1": "/"}


def join(path: str, key: str | int) -> str:
    """Extend a pointer by one key or index."""
    if type(key) is str and ("~" in key or "/" in key):
        key = key.replace("~", "~0").replace("/", "~1")
    return f"{path}/{key}"


def split(pointer: object) -> list[str]:
    """Split a pointer; ValueError says what is wrong with it."""
    if not isinstance(pointer, str):
        raise ValueError("a path is a string")
    if not pointer:
        return []
    if pointer[0] != "/":
        raise ValueError("a path is empty or starts with /")
    keys = pointer[1:].split("/")
    return [_unescaped(key) for key in keys] if "~" in pointer else keys


def index(key: str, limit: int) -> int:
    """Parse a key as an index in a list, at most `limit`; ValueError says what is wrong with it."""
    if not (key.isdigit() and key.isascii()) or (key[0] == "0" and len(key) > 1):
        raise ValueError(f"{key!r} is not an index of a list")
    # Longer than any list can be; int() of a million hostile digits would take seconds.
    place = int(key) if len(key) < 20 else limit + 1
    if place > limit:
        raise ValueError(f"the list has no index {key[:20]}")
    return place


def member(holder: object, key: str) -> object:
    """What a list or an object has under a key; ValueError if there is nothing."""
    if is_object(holder):
        if key not in holder:
            raise ValueError(f"there is no {key!r}")
        return holder[key]
    if is_list(holder):
        return holder[index(key, len(holder) - 1)]
    raise ValueError(leads_nowhere(holder))


def find(document: object, keys: Iterable[str]) -> object:
    """What the keys lead to, one after another; ValueError if there is nothing."""
    for key in keys:
        document = member(document, key)
    return document


def leads_nowhere(value: object) -> str:
    """What is wrong with a path that continues into something that has no members."""
    return f"the path leads into a value of type {type(value).__name__}"


def _unescaped(key: str) -> str:
    if _WRONG_ESCAPE.search(key):
        raise ValueError("~ is written ~0 and / is written ~1")
    return _ESCAPED.sub(lambda match: _PLAIN[match[0]], key)
