"""Event names that know their payload types, so that type checkers can infer one from the other."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar, cast

from callboard.events.envelope import Event, Json, make

P = TypeVar("P", bound=Mapping[str, object])
R = TypeVar("R")
Rest = ParamSpec("Rest")


class Entry(NamedTuple):
    """An event to be written: its name and payload."""

    name: str
    payload: Mapping[str, Json]


class EventName(str, Generic[P]):
    """The name of an event: an ordinary string that also knows the type of its payload.

    Call it to create an entry for the log: `names.HELD({"reason": "…"})`.
    """

    payload: type[P]
    _plain: str

    def __new__(cls, name: str, payload: type[P]) -> "EventName[P]":
        """Name an event and its payload type."""
        made = super().__new__(cls, name)
        made.payload = payload
        made._plain = str(name)
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Copies are plain strings: what is stored and sent has no types."""
        return str, (self._plain,)

    def __call__(self, payload: P) -> Entry:
        """An event to write, type-checked against its name."""
        return make(Entry, (self._plain, payload))

    def of(self, event: Event | Entry) -> P | None:
        """The payload if the event has this name; otherwise None."""
        # The only place where a stored payload gets its type; the log has only what passed the
        # check.
        return cast("P", event.payload) if event.name == self else None

    def read(self, event: Event | Entry) -> P:
        """The payload of an event that is known to have this name."""
        return cast("P", event.payload)

    def among(self, events: Iterable[Event]) -> Iterator[P]:
        """The payloads of all events with this name."""
        return (payload for event in events if (payload := self.of(event)) is not None)

    def to(
        self, handler: Callable[Concatenate[P, Rest], R]
    ) -> tuple[str, Callable[Concatenate[Any, Rest], R]]:
        """An entry for a table of handlers, type-checked to take this payload."""
        return str(self), handler


def payload_types(module: object) -> dict[str, type[Mapping[str, object]]]:
    """The event names that a module defines, in order, with the types of their payloads."""
    found = cast(
        "list[EventName[Mapping[str, object]]]",
        [n for n in vars(module).values() if type(n) is EventName],
    )
    return {str(name): name.payload for name in found}
