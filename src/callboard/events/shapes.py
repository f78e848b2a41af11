"""Shapes: classes whose JSON form on the wire follows from their fields.

A shape is a frozen dataclass or a named tuple. On the wire, it has its fields, and the properties
marked as `sent`, with camelCase names. The server's OpenAPI document and the TypeScript types are
generated from the same classes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import (
    Annotated,
    ClassVar,
    Final,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from callboard.events.moments import from_iso, from_ms, iso, to_ms

S = TypeVar("S", bound="Shape")
T = TypeVar("T")
_Convert = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Key:
    """Marks a field that has another name on the wire."""

    name: str


@dataclass(frozen=True, slots=True)
class Narrowed:
    """Marks a field whose type depends on another: which one, and the type for each value of it."""

    by: str
    types: Mapping[str, object]


_UNSENT: Final = object()
_OMITTED: Final = object()
_MOMENT: Final = object()

Unsent = Annotated[T, _UNSENT]
"""A field that is not on the wire. When read, it gets its default."""
Omitted = Annotated[T | None, _OMITTED]
"""A field that is left out when it is None."""
Millis = Annotated[int, _MOMENT]
"""A time: milliseconds since 1970 here, ISO 8601 on the wire."""


class sent(property):  # noqa: N801 - used as a decorator, like `property`
    """A property that is also on the wire."""


class Shape:
    """A class that can be sent over the wire."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def to_wire(self) -> dict[str, object]:
        """The JSON object for the wire."""
        return _writer(type(self))(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, object]) -> Self:
        """Read what `to_wire` wrote; fields that aren't sent get their defaults."""
        return read(cls, wire)


def read(shape: type[S], wire: Mapping[str, object], **more: object) -> S:
    """Read a shape from the wire; `more`: fields that aren't on the wire."""
    return shape(**_reader(shape)(wire), **more)


@dataclass(frozen=True, slots=True)
class ShapeMember:
    """One member of a shape on the wire: its attribute, its key, and the type of its value.

    is_field: whether it is a field rather than a property.
    can_miss: whether it is left out if it is None.
    """

    name: str
    key: str
    type: object
    is_field: bool
    about: str | None = None
    can_miss: bool = False
    narrowed: Narrowed | None = None


@cache
def members(shape: type[Shape]) -> tuple[ShapeMember, ...]:
    """What a shape has on the wire: its fields, then its properties."""
    hints: Mapping[str, object] = get_type_hints(shape, include_extras=True)
    told = [_member(name, hints[name]) for name in signature(shape).parameters]
    for name, value in vars(shape).items():
        if isinstance(value, sent) and value.fget is not None:
            hint = get_type_hints(value.fget, include_extras=True)["return"]
            told.append(_member(name, hint, is_field=False))
    return tuple(one for one in told if one is not None)


def unmarked(hint: object) -> tuple[object, tuple[object, ...]]:
    """A type without its `Annotated` metadata, and that metadata."""
    if get_origin(hint) is not Annotated:
        return hint, ()
    kind, *marks = get_args(hint)
    return kind, tuple(marks)


def is_moment(hint: object) -> bool:
    """Whether values of this type are times, which are ISO 8601 on the wire."""
    kind, marks = unmarked(hint)
    return kind is datetime or _MOMENT in marks


def _member(name: str, hint: object, *, is_field: bool = True) -> ShapeMember | None:
    _, marks = unmarked(hint)
    if _UNSENT in marks:
        return None
    return ShapeMember(
        name,
        next((mark.name for mark in marks if isinstance(mark, Key)), camel(name)),
        hint,
        is_field,
        next((mark for mark in marks if isinstance(mark, str)), None),
        _OMITTED in marks,
        next((mark for mark in marks if isinstance(mark, Narrowed)), None),
    )


def camel(name: str) -> str:
    """A name as it is on the wire."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# Both are compiled for each class, as dataclasses do: they write every response of the server.
@cache
def _writer(shape: type[Shape]) -> Callable[[Shape], dict[str, object]]:
    scope: dict[str, object] = {}
    always, sometimes = "", ""
    for one in members(shape):
        value = f"{one.key!r}: {_converted(f'one.{one.name}', one, _codec(one.type)[0], scope)}"
        if one.can_miss:
            sometimes += f" | ({{}} if one.{one.name} is None else {{{value}}})"
        else:
            always += f"{value}, "
    return eval(f"lambda one: {{{always}}}{sometimes}", scope)


@cache
def _reader(shape: type[Shape]) -> Callable[[Mapping[str, object]], dict[str, object]]:
    scope: dict[str, object] = {}
    source = ""
    parameters = signature(shape).parameters
    for one in (one for one in members(shape) if one.is_field):
        default = parameters[one.name].default
        scope[f"default_{one.name}"] = default
        found = f"wire[{one.key!r}]"
        if default is not Parameter.empty:
            found = f"wire.get({one.key!r}, default_{one.name})"
        source += f"{one.name!r}: {_converted(found, one, _codec(one.type)[1], scope)}, "
    return eval(f"lambda wire: {{{source}}}", scope)


def _converted(
    value: str, member: ShapeMember, convert: _Convert | None, scope: dict[str, object]
) -> str:
    """The code that converts a value unless it is None."""
    if convert is None:
        return value
    scope[f"convert_{member.name}"] = convert
    return f"None if (value := {value}) is None else convert_{member.name}(value)"


def _codec(hint: object) -> tuple[_Convert | None, _Convert | None]:
    """How to write and read a value of this type; None where it stays the same."""
    kind, _ = unmarked(hint)
    if is_moment(hint):
        return (iso, from_iso) if kind is datetime else (_iso_of_ms, _ms_of_iso)
    if isinstance(kind, type) and issubclass(kind, Shape):
        return kind.to_wire, kind.from_wire
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType) and len(inner) == 2 and NoneType in inner:
        return _codec(next(one for one in inner if one is not NoneType))
    if origin in (list, tuple, Sequence):
        write, reader = _codec(inner[0])
        whole = list if origin is list else tuple
        return _each(write, list), _each(reader, whole)
    return (dict, None) if origin is Mapping else (None, None)


def _each(convert: _Convert | None, whole: Callable[..., object]) -> _Convert:
    def each(values: Iterable[object]) -> object:
        return whole(values if convert is None else map(convert, values))

    return each


def _iso_of_ms(millis: int) -> str:
    return iso(from_ms(millis))


def _ms_of_iso(text: str) -> int:
    return to_ms(from_iso(text))
