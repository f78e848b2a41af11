"""Checks events against the types of their payloads: every key known, every value of its type."""

from collections.abc import Iterable
from types import UnionType
from typing import Any, NotRequired, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from callboard.events import names, plates
from callboard.events.envelope import Event
from callboard.events.event_name import payload_types
from callboard.events.failures import ErrorDescription

TYPES = payload_types(names) | payload_types(plates)


def check_payloads(events: Iterable[Event]) -> set[str]:
    """Raise for a payload that does not conform; the names that were checked."""
    checked: set[str] = set()
    for event in events:
        TypeAdapter(_closed(TYPES[event.name])).validate_python(dict(event.payload), strict=True)
        checked.add(event.name)
    return checked


def _closed(type: Any, above: tuple[Any, ...] = ()) -> Any:
    """The same type as pydantic reads it on Python 3.11, without room for other keys."""
    hints = get_type_hints(type, include_extras=True)
    fields = {key: _inner(hint, (*above, type)) for key, hint in hints.items()}
    made: Any = cast("Any", TypedDict)(type.__name__, fields)
    extra = "allow" if type is ErrorDescription else "forbid"
    made.__pydantic_config__ = ConfigDict(extra=extra)
    return made


def _inner(hint: Any, above: tuple[Any, ...]) -> Any:
    if is_typeddict(hint):
        return dict if hint in above else _closed(hint, above)
    if get_origin(hint) is NotRequired:
        return NotRequired[_inner(get_args(hint)[0], above)]
    if get_origin(hint) is list:
        return list[_inner(get_args(hint)[0], above)]
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_inner(one, above) for one in get_args(hint))]  # noqa: UP007
    return hint
