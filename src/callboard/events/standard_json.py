"""JSON with the standard library, for a relay: it runs without installed packages."""

import json
from typing import Any


def loads(data: bytes | str) -> Any:
    """Read a JSON value; ValueError if it isn't one."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def dumps(value: object) -> bytes:
    """Write a JSON value."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
