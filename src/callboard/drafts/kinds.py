"""The kinds of values that annotations declare: plain JSON, leaves, lists and dicts."""

import datetime
import decimal
import enum
import pathlib
import uuid
from collections.abc import Iterable
from typing import Final

import orjson

from callboard.drafts import pointer
from callboard.drafts.coding import Codec
from callboard.drafts.dicts import Keyed
from callboard.drafts.frozen import FrozenDict, FrozenList
from callboard.drafts.kind import Home, Kind
from callboard.drafts.lists import list_draft
from callboard.drafts.plain import ATOMS, rewritten, written
from callboard.errors import StateNotSerializable
from callboard.events.envelope import Json
from callboard.events.json_values import is_list, is_object

IMMUTABLE: Final = (
    str,
    int,
    float,
    bytes,
    datetime.date,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    enum.Enum,
    pathlib.PurePath,
    uuid.UUID,
    type(None),
)
"""Classes whose values can't be changed in place."""


class Untyped(Keyed):
    """Any JSON value."""

    untyped = True

    def at(self, key: str, path: str) -> Kind:
        """The values of an untyped dict are untyped."""
        return self

    def draft(self, value: object, home: Home) -> object:
        """Lists and dicts have drafts; nothing else can be changed."""
        return list_draft(value, self, home) if is_list(value) else super().draft(value, home)

    def renew(self, value: object, path: str, inside: bool) -> tuple[object, Json]:
        """Read it twice: the live value and the patch must not share anything."""
        data = written(value, path)
        return self.freeze(orjson.loads(data), inside), orjson.loads(data)

    def vet(self, value: object, path: str) -> None:
        """It must be JSON."""
        written(value, path)

    def wire(self, value: object) -> Json:
        """It is JSON."""
        return value

    def load(self, wire: Json, path: str) -> object:
        """Copy it."""
        return orjson.loads(rewritten(wire, path))

    def freeze(self, value: object, inside: bool) -> object:
        """Make what is inside a list read-only."""
        if is_object(value):
            for key, part in value.items():
                if type(part) not in ATOMS:
                    value[key] = self.freeze(part, inside)
            return FrozenDict(value) if inside else value
        if is_list(value):
            for index, part in enumerate(value):
                if type(part) not in ATOMS:
                    value[index] = self.freeze(part, inside=True)
            return FrozenList(value) if inside else value
        return value


UNTYPED: Final = Untyped()


class Typed(Kind):
    """What pydantic checks, writes and reads."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def prepare(self) -> None:
        """Let pydantic find out."""
        self.codec.prepare()

    def accept(self, value: object, path: str) -> object:
        """Check it, and convert it if the result is a different value.

        What needs no conversion stays the user's own object, which they may keep changing.
        """
        checked = self.codec.check(value, path)
        if checked is value or type(value) in ATOMS:
            return checked
        return value if checked == value else checked

    def renew(self, value: object, path: str, inside: bool) -> tuple[object, Json]:
        """Check, write and read it; untyped parts more strictly than pydantic would."""
        checked = self.codec.check(value, path)
        if self.untyped:
            return UNTYPED.renew(checked, path, inside)
        if self.has_untyped:
            self._vet_all(checked, path)
        live, wire = self.codec.renew(checked, path)
        return self.freeze(live, inside), wire

    def _vet_all(self, checked: object, path: str) -> None:
        try:
            self.vet(checked, path)
        except RecursionError:
            what = "the value contains itself; store a copy"
            raise StateNotSerializable(f"{path or '/'}: {what}.", path=path) from None

    def wire(self, value: object) -> Json:
        """Write it."""
        return self.codec.dump(value)

    def load(self, wire: Json, path: str) -> object:
        """Read it."""
        return self.codec.read(wire, path)


class Leaf(Typed):
    """What has no drafts: it is immutable, or is copied."""

    def __init__(self, codec: Codec, *, inert: bool = False) -> None:
        super().__init__(codec)
        self.inert = inert

    def draft(self, value: object, home: Home) -> object:
        """Copy it, unless it is immutable."""
        return value if isinstance(value, IMMUTABLE) else home.scope.copied(value)


class Unchecked(Leaf):
    """A field that can't be checked without the others; its object is reloaded as a whole."""

    def accept(self, value: object, path: str) -> object:
        """Leave it to the reload."""
        return value


class ListOf(Typed):
    """A list of one kind of value."""

    def __init__(self, codec: Codec, item: Kind) -> None:
        super().__init__(codec)
        self.item = item
        self.untyped = item.untyped

    def parts(self) -> Iterable[Kind]:
        """Its elements."""
        return (self.item,)

    def vet(self, value: object, path: str) -> None:
        """Vet its elements."""
        if is_list(value):
            for index, part in enumerate(value):
                self.item.vet(part, f"{path}/{index}")

    def draft(self, value: object, home: Home) -> object:
        """Make a draft of the list."""
        return list_draft(value, self.item, home) if is_list(value) else value

    def freeze(self, value: object, inside: bool) -> object:
        """Make its elements read-only."""
        if not is_list(value):
            return value
        if not self.item.inert:
            self.item.freeze_elements(value)
        return FrozenList(value) if inside else value


class DictOf(Typed, Keyed):
    """A dict with text as keys and one kind of value."""

    def __init__(self, codec: Codec, value: Kind) -> None:
        super().__init__(codec)
        self.value = value
        self.untyped = value.untyped

    def parts(self) -> Iterable[Kind]:
        """Its values."""
        return (self.value,)

    def vet(self, value: object, path: str) -> None:
        """Vet its values."""
        if is_object(value):
            for key, part in value.items():
                self.value.vet(part, pointer.join(path, key))

    def at(self, key: str, path: str) -> Kind:
        """All values are of one kind."""
        return self.value

    def freeze(self, value: object, inside: bool) -> object:
        """Make what is inside a list read-only."""
        if not is_object(value):
            return value
        if not self.value.inert:
            for key, part in value.items():
                value[key] = self.value.freeze(part, inside)
        return FrozenDict(value) if inside else value


class Maybe(Kind):
    """A kind of value, or None."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.inert = kind.inert

    def parts(self) -> Iterable[Kind]:
        """The kind."""
        return (self.kind,)

    def prepare(self) -> None:
        """Prepare the kind."""
        self.kind.prepare()

    def vet(self, value: object, path: str) -> None:
        """None is JSON."""
        if value is not None:
            self.kind.vet(value, path)

    def draft(self, value: object, home: Home) -> object:
        """None cannot be changed."""
        return None if value is None else self.kind.draft(value, home)

    def accept(self, value: object, path: str) -> object:
        """None is valid."""
        return None if value is None else self.kind.accept(value, path)

    def renew(self, value: object, path: str, inside: bool) -> tuple[object, Json]:
        """None is null."""
        return (None, None) if value is None else self.kind.renew(value, path, inside)

    def wire(self, value: object) -> Json:
        """None is null."""
        return None if value is None else self.kind.wire(value)

    def load(self, wire: Json, path: str) -> object:
        """Null is None."""
        return None if wire is None else self.kind.load(wire, path)

    def freeze(self, value: object, inside: bool) -> object:
        """None cannot be changed."""
        return None if value is None else self.kind.freeze(value, inside)
