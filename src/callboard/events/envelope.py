"""The envelope of every event.

Named tuples, because two of them are created for every event, and frozen dataclasses take three
times as long to create.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NamedTuple, Protocol, TypeVar, cast

from callboard.events.moments import from_ms
from callboard.events.shapes import Key, Millis, Shape, sent

Json = object
"""Any JSON value; `events.json_values` narrows it."""


T = TypeVar("T")


class _Make(Protocol):
    def __call__(self, cls: type[T], values: tuple[object, ...], /) -> T: ...


make = cast("_Make", tuple.__new__)  # pyright: ignore[reportUnknownMemberType] - any values
"""Makes a named tuple from all of its values, in half the time that its constructor takes.

For those that are made for every event; the values are not checked, not even their number.
"""


class NewEvent(NamedTuple):
    """Something that happened, before the log has assigned it a position."""

    id: str
    name: str
    payload: Mapping[str, Json]
    at_ms: int
    version: int = 1
    caused_by: str | None = None
    outputs: Mapping[int, int] | None = None
    """For `state:intent`: index of a patch → position of the `agent:completed` with its value.

    The value is the output of that event, so that it is stored only once.
    """


class _Placed(NamedTuple):
    id: str
    session_id: str
    position: int
    name: str
    version: int
    payload: Mapping[str, Json]
    at_ms: Annotated[Millis, Key("timestamp")]
    caused_by: str | None = None


class Event(_Placed, Shape):
    """Something that happened, at its position in a session's stream."""

    __slots__ = ()

    @property
    def timestamp(self) -> datetime:
        """When it happened."""
        return from_ms(self.at_ms)

    @sent
    def tag(self) -> Annotated[str, Key("_tag")]:
        """The event's name again, as `_tag`, which some clients expect."""
        return self.name


def place(new: NewEvent, session_id: str, position: int) -> Event:
    """Give a new event its position."""
    id, name, payload, at_ms, version, caused_by, _ = new
    values = (id, session_id, position, name, version, payload, at_ms, caused_by)
    return make(Event, values)
