"""Values without an annotation: JSON, and nothing else."""

import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import uuid
from collections.abc import Callable
from typing import Any, Final, Never, TypeGuard

import orjson
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from callboard.drafts import pointer, storage
from callboard.errors import StateNotSerializable
from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_object

ATOMS: Final = frozenset({str, int, float, bool, type(None)})
"""Types whose values are JSON as they are and can't be changed in place."""

MAX_DEPTH: Final = 128
"""How deeply a state may be nested: well within the limits of JSON writers and Python's stack."""

# The deepest nesting that orjson writes, see `_fits`.
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


_METHODS: Final = frozenset(name for name in dir(dict) if not name.startswith("_"))


class Fields(dict[str, Any]):
    """A JSON object that can also be read by attribute: `output["label"]`, `output.label`.

    An undeclared output may have been a model, and reads like one.
    """

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return _MethodOrField(found, name) if name in _METHODS and name in self else found

    def __getattr__(self, name: str) -> Any:
        try:
            return with_fields(self[name])
        except KeyError:
            raise AttributeError(
                f"The output has no field {name!r}. To use the methods and properties of a model, "
                "declare the agent's return type."
            ) from None


class _MethodOrField:
    """`output.items`, if the output has a field `items`: a method of dict, or the field.

    Calling it means the method. Anything else means the field, and would silently go wrong.
    """

    __slots__ = ("_method", "_name")

    def __init__(self, method: Callable[..., Any], name: str) -> None:
        self._method = method
        self._name = name

    def __call__(self, *given: object, **more: object) -> Any:
        return self._method(*given, **more)

    def _refuse(self, *_: object) -> Never:
        raise TypeError(
            f"{self._name!r} is a field of this output and a method of dict. Write "
            f"output[{self._name!r}], or declare the agent's return type."
        )

    __bool__ = __iter__ = __len__ = __getitem__ = __contains__ = __str__ = __eq__ = _refuse
    __lt__ = __gt__ = __le__ = __ge__ = __add__ = __format__ = __getattr__ = _refuse


def with_fields(value: Json) -> Any:
    """JSON whose objects can be read like models; nested objects are wrapped when they are read."""
    if is_object(value):
        return Fields(value)
    return [with_fields(item) for item in value] if is_list(value) else value


def written(value: object, path: str, *, models: bool = False) -> bytes:
    """Write a value as JSON; StateNotSerializable says where and why that isn't possible.

    `models`: whether pydantic models and dataclasses become objects.
    """
    exact = _exactly(value, path)
    return orjson.dumps(_plain(value, path, (), models)) if exact is None else exact[0]


def rewritten(wire: Json, path: str) -> bytes:
    """Write a value that was read from JSON, without checking all of its parts again."""
    try:
        return orjson.dumps(wire)
    except TypeError:
        return written(wire, path)


def copied(value: object, path: str) -> Json:
    """The value as it is read back from JSON; raises StateNotSerializable like `written`."""
    if type(value) is str:
        return text(value, path)
    exact = _exactly(value, path)
    return orjson.loads(orjson.dumps(_plain(value, path, ()))) if exact is None else exact[1]


def _exactly(value: object, path: str) -> tuple[bytes, Json] | None:
    """A value written and read back; None if the result is different."""
    try:
        data = orjson.dumps(value, _members, _EXACTLY_JSON)
    except TypeError:
        return None
    # orjson writes NaN as null, and enums and UUIDs as text, which aren't equal when read back.
    read = orjson.loads(data)
    return (data, read) if read == value and _fits(value, data, path) else None


def _members(value: object) -> dict[str, Any]:
    if type(value) is Fields:
        return dict(value)
    raise TypeError


def _fits(value: object, data: bytes, path: str) -> bool:
    room = MAX_DEPTH - path.count("/")
    if data.count(b"[") + data.count(b"{") <= room:
        return True
    # Let the writer count: it refuses values that are too deep when wrapped this many times.
    for _ in range(_WRITER_DEPTH - room):
        value = [value]
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def _plain(value: object, path: str, above: tuple[int, ...], models: bool = False) -> Json:
    """Convert a value to JSON: tuples become lists, and subclasses their base types."""
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
    if models and (isinstance(value, BaseModel) or _is_dataclass(value)):
        value = _dumped(value, path)
    return _plain_container(value, path, (*above, id(value)), models)


def _dumped(value: object, path: str) -> object:
    try:
        return to_jsonable_python(value)
    except ValueError as error:
        raise _refusal(value, path, "is not JSON", f"return plain values ({error})") from error


def _is_dataclass(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _plain_container(value: object, path: str, above: tuple[int, ...], models: bool) -> Json:
    # Bypass the methods of a draft: reading it must not create more drafts.
    if is_list(value) or _is_tuple(value):
        items = storage.elements(value) if is_list(value) else value
        return [_plain(item, f"{path}/{i}", above, models) for i, item in enumerate(items)]
    if is_object(value):
        return {
            (name := text(key, path)): _plain(item, pointer.join(path, name), above, models)
            for key, item in storage.members(value)
        }
    raise _refusal(value, path, "is not JSON", _fix(value))


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def text(value: object, path: str) -> str:
    """Check that text, such as a key, can be written."""
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


def _fix(value: object) -> str:
    for types, fix in _FIXES:
        if isinstance(value, types):
            return fix
    if dataclasses.is_dataclass(value):
        return "store dataclasses.asdict(value), or declare the field with this type"
    return "store text, numbers, True, False, None, lists, and dicts with text as keys"


def _refusal(value: object, path: str, what: str, fix: str) -> StateNotSerializable:
    kind = type(value).__name__
    # For a draft, not the name of our subclass.
    kind = "list" if is_list(value) else "dict" if is_object(value) else kind
    return StateNotSerializable(
        f"{path or '/'}: a value of type {kind} {what}; {fix}.", path=path, type=kind
    )
