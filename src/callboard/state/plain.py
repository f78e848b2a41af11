"""Values that no annotation describes: JSON, and nothing else."""

import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import uuid
from typing import Any, Final, TypeGuard

import orjson
from pydantic import BaseModel

from callboard.errors import StateNotSerializable
from callboard.events.envelope import Json
from callboard.state import pointer, storage
from callboard.state.patch import is_list, is_object

ATOMS: Final = frozenset({str, int, float, bool, type(None)})
"""Types whose values are JSON as they are, and cannot be changed in place."""

MAX_DEPTH: Final = 128
"""How deep a state may be nested: well within what JSON writers and Python's stack allow."""

# What orjson writes at most, see `_fits`.
_WRITER_DEPTH: Final = 254
_LEAST: Final = -(2**63)
_GREATEST: Final = 2**64 - 1
_EXACTLY_JSON: Final = (
    orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)
_FIXES: Final[tuple[tuple[tuple[type, ...], str], ...]] = (
    ((set, frozenset), "store a sorted list, or declare the field as a set in a typed state"),
    ((bytes, bytearray, memoryview), "store text, for instance base64"),
    (
        (datetime.date, datetime.time, datetime.timedelta),
        "store text, or declare the field with this type in a typed state",
    ),
    (
        (decimal.Decimal, uuid.UUID, pathlib.PurePath),
        "store str(value), or declare the field with this type in a typed state",
    ),
    ((enum.Enum,), "store value.value, or declare the field with this type in a typed state"),
    ((BaseModel,), "store value.model_dump(mode='json'), or declare the field with this type"),
)


def written(value: Any, path: str) -> bytes:
    """Write a value as JSON; StateNotSerializable says where and why that cannot be done."""
    try:
        data = orjson.dumps(value, option=_EXACTLY_JSON)
    except TypeError:
        pass
    else:
        # It writes NaN as null, and enums and UUIDs as text, which do not read back as equal.
        if orjson.loads(data) == value and _fits(value, data, path):
            return data
    return orjson.dumps(_plain(value, path, ()))


def _fits(value: Any, data: bytes, path: str) -> bool:
    room = MAX_DEPTH - path.count("/")
    if data.count(b"[") + data.count(b"{") <= room:
        return True
    # Let the writer count: it refuses what, wrapped so often, is deeper than it can go.
    for _ in range(_WRITER_DEPTH - room):
        value = [value]
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def _plain(value: Any, path: str, above: tuple[int, ...]) -> Json:
    """Make JSON of a value: tuples become lists, and subclasses what they derive from."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, path)
    if isinstance(value, int | float):
        return _number(value, path)
    if id(value) in above:
        raise _refusal(value, path, "contains itself", "store a copy")
    if path.count("/") >= MAX_DEPTH:
        raise _refusal(value, path, f"is nested deeper than {MAX_DEPTH} levels", "flatten it")
    return _plain_container(value, path, (*above, id(value)))


def _plain_container(value: Any, path: str, above: tuple[int, ...]) -> Json:
    # Past the methods of a draft: to read it must not make further drafts.
    if is_list(value) or _is_tuple(value):
        items = storage.elements(value) if is_list(value) else value
        return [_plain(item, f"{path}/{i}", above) for i, item in enumerate(items)]
    if is_object(value):
        return {
            (name := text(key, path)): _plain(item, pointer.join(path, name), above)
            for key, item in storage.members(value)
        }
    raise _refusal(value, path, "is not JSON", _fix(value))


def _is_tuple(value: Any) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def text(value: Any, path: str) -> str:
    """Make sure of a text that can be written, such as a key."""
    if not isinstance(value, str):
        raise _refusal(value, path, "is a key", "use text as keys")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _refusal(value, path, "has a lone surrogate", "replace it") from error
    return str.__str__(value)


def _number(value: float, path: str) -> int | float:
    if isinstance(value, int):
        if not _LEAST <= value <= _GREATEST:
            raise _refusal(value, path, "does not fit 64 bits", "store str(value)")
        return int(value)
    if not math.isfinite(value):
        raise _refusal(value, path, f"is {value}", "store None or text instead")
    return float(value)


def _fix(value: Any) -> str:
    for types, fix in _FIXES:
        if isinstance(value, types):
            return fix
    if dataclasses.is_dataclass(value):
        return "store dataclasses.asdict(value), or declare the field with this type"
    return "store text, numbers, True, False, None, lists, and dicts with text as keys"


def _refusal(value: Any, path: str, what: str, fix: str) -> StateNotSerializable:
    kind = type(value).__name__
    # Not the name of our subclass, when it is a draft.
    kind = "list" if is_list(value) else "dict" if is_object(value) else kind
    return StateNotSerializable(
        f"{path or '/'}: a value of type {kind} {what}; {fix}.", path=path, type=kind
    )
