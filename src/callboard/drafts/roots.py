"""The state as a whole: the one value with a field whose JSON name differs from Python's.

`human_response` is the engine's field. On the wire, it is `humanResponse`, with camelCase names
inside; all other names are the user's and stay the same.
"""

from collections.abc import Iterable
from typing import Final

import orjson

from callboard.drafts import pointer
from callboard.drafts.coding import Codec
from callboard.drafts.dicts import Keyed
from callboard.drafts.kind import Home, Kind
from callboard.drafts.kinds import UNTYPED
from callboard.drafts.objects import ObjectOf
from callboard.drafts.plain import rewritten, text
from callboard.drafts.records import RecordKind
from callboard.drafts.response import HumanResponse
from callboard.errors import StateInvalid
from callboard.events.envelope import Json
from callboard.events.json_values import Object, is_mapping, is_object

FIELD: Final = "human_response"
WIRE_KEY: Final = "humanResponse"
ENGINE_FIELDS: Final = (FIELD, "approved")


def outward(answer: Json) -> Json:
    """Write an answer with its wire names, without empty values."""
    if not is_object(answer):
        return answer
    renamed = {"timedOut" if key == "timed_out" else key: part for key, part in answer.items()}
    empty = {"timedOut": False, "outcome": None, "message": None}
    return {key: part for key, part in renamed.items() if part is not empty.get(key, ...)}


def inward(answer: Json) -> Json:
    """Undo `outward`."""
    if not is_object(answer):
        return answer
    return {"timed_out" if key == "timedOut" else key: part for key, part in answer.items()}


class AnswerField(Kind):
    """The engine's field, `human_response`."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def parts(self) -> Iterable[Kind]:
        """The kind that the state declares for it."""
        return (self._kind,)

    def draft(self, value: object, home: Home) -> object:
        """Copy it: it is small."""
        return home.scope.copied(value)

    def accept(self, value: object, path: str) -> object:
        """Check it, and convert a HumanResponse to what the state declares."""
        return self._kind.accept(_members(value), path)

    def renew(self, value: object, path: str, inside: bool) -> tuple[object, Json]:
        """Write it with its wire names."""
        wire = outward(self._kind.renew(_members(value), path, inside=False)[1])
        return self.load(wire, path), wire

    def wire(self, value: object) -> Json:
        """Write it with its wire names."""
        return outward(self._kind.wire(value))

    def load(self, wire: Json, path: str) -> object:
        """Read it with its wire names."""
        return self._kind.load(inward(wire), path)


_UNTYPED_ANSWER: Final = AnswerField(UNTYPED)


def _members(value: object) -> object:
    return value.model_dump() if isinstance(value, HumanResponse) else value


class RootCodec(Codec):
    """Writes and reads a typed state."""

    def dump(self, value: object, path: str = "") -> Json:
        """Write it with its wire names."""
        return {
            _wire_key(name): outward(part) if name == FIELD else part
            for name, part in _members_of(super().dump(value, path), path).items()
        }

    def read(self, wire: Json, path: str = "") -> object:
        """Read it with the names of the wire."""
        if is_object(wire) and WIRE_KEY in wire:
            named = {key: part for key, part in wire.items() if key != WIRE_KEY}
            wire = {**named, FIELD: inward(wire[WIRE_KEY])}
        return super().load(rewritten(wire, path), path)

    def load(self, data: bytes, path: str = "") -> object:
        """Read it with the names of the wire."""
        return self.read(orjson.loads(data), path)


class RootObject(ObjectOf):
    """A state that is an object."""

    def wire_key(self, name: str) -> str:
        """One field has a different name on the wire."""
        return _wire_key(name)


class RootDict(Keyed):
    """A state that is a dict; it starts empty, so no key is required."""

    def __init__(self, kind: Keyed) -> None:
        self._kind = kind

    def parts(self) -> Iterable[Kind]:
        """What the annotation declares; pydantic can't read a TypedDict as a whole here."""
        return self._kind.parts()

    def at(self, key: str, path: str) -> Kind:
        """The engine's fields, then what the annotation declares."""
        if key == WIRE_KEY:
            place = pointer.join(path, key)
            raise StateInvalid(f"{place}: write the key {FIELD!r} instead.", path=place)
        kind = self._kind
        if key in ENGINE_FIELDS and not isinstance(kind, RecordKind):
            return _UNTYPED_ANSWER if key == FIELD else UNTYPED
        return AnswerField(kind.at(key, path)) if key == FIELD else kind.at(key, path)

    def wire_key(self, key: str) -> str:
        """One key has a different name on the wire."""
        return _wire_key(key)

    def renew(self, value: object, path: str, inside: bool) -> tuple[object, Json]:
        """Convert each value."""
        live: dict[str, object] = {}
        wire: dict[str, Json] = {}
        for key, part in _members_of(value, path).items():
            name, place = text(key, path), pointer.join(path, _wire_key(key))
            live[name], wire[_wire_key(name)] = self.at(name, path).renew(part, place, inside)
        return live, wire

    def wire(self, value: object) -> Json:
        """Write each value."""
        members = _members_of(value, "").items()
        return {_wire_key(key): self.at(key, "").wire(part) for key, part in members}

    def load(self, wire: Json, path: str) -> object:
        """Read each value; keys that a TypedDict no longer has are left out."""
        known = self._kind.fields if isinstance(self._kind, RecordKind) else None
        members = _members_of(wire, path).items()
        named = {FIELD if key == WIRE_KEY else key: part for key, part in members}
        return {
            key: self.at(key, path).load(part, pointer.join(path, _wire_key(key)))
            for key, part in named.items()
            if known is None or key in known
        }

    def freeze(self, value: object, inside: bool) -> object:
        """Make what is inside a list read-only."""
        members = _members_of(value, "").items()
        return {key: self.at(key, "").freeze(part, inside) for key, part in members}


def _wire_key(name: str) -> str:
    return WIRE_KEY if name == FIELD else name


def _members_of(state: object, path: str) -> Object:
    """The members of a state by name; StateInvalid if it isn't an object."""
    if not is_mapping(state):
        what = f"the state is an object, not {state!r:.60}"
        raise StateInvalid(f"{path or '/'}: {what}.", path=path)
    return state
