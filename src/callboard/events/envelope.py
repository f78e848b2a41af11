"""The envelope that every event travels in.

Named tuples, because every event makes two of them, and frozen dataclasses take three times as
long to make.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, Self

from callboard.events.moments import from_iso, from_ms, iso, to_ms

Json = Any
"""A value that JSON can hold. Any, because Python cannot say it recursively and cheaply."""


class NewEvent(NamedTuple):
    """Something that happened, before the log has given it a position."""

    id: str
    name: str
    payload: Mapping[str, Json]
    at_ms: int
    version: int = 1
    caused_by: str | None = None
    outputs: Mapping[int, int] | None = None
    """For `state:intent`: index of a patch → position of the `agent:completed` whose output
    is its value, so that the value is stored once."""


class Event(NamedTuple):
    """Something that happened, at its place in a session's stream."""

    id: str
    session_id: str
    position: int
    name: str
    version: int
    payload: Mapping[str, Json]
    at_ms: int
    caused_by: str | None = None

    @property
    def timestamp(self) -> datetime:
        """When it happened."""
        return from_ms(self.at_ms)

    def to_wire(self) -> dict[str, Json]:
        """The event as JSON readers see it; `_tag` repeats the name for the seed's clients."""
        return {
            "id": self.id,
            "sessionId": self.session_id,
            "position": self.position,
            "name": self.name,
            "_tag": self.name,
            "version": self.version,
            "payload": dict(self.payload),
            "timestamp": iso(self.timestamp),
            "causedBy": self.caused_by,
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Json]) -> Self:
        """The event that `to_wire` wrote."""
        return cls(
            id=wire["id"],
            session_id=wire["sessionId"],
            position=wire["position"],
            name=wire["name"],
            version=wire["version"],
            payload=wire["payload"],
            at_ms=to_ms(from_iso(wire["timestamp"])),
            caused_by=wire.get("causedBy"),
        )


def place(new: NewEvent, session_id: str, position: int) -> Event:
    """Give a new event its place."""
    id, name, payload, at_ms, version, caused_by, _ = new
    return Event(id, session_id, position, name, version, payload, at_ms, caused_by)
