"""The kinds of values that annotations declare: plain JSON, leaves, lists and dicts."""

import datetime
import decimal
import enum
import pathlib
import uuid
from collections.abc import Iterable
from typing import Any, Final

import orjson

from callboard.errors import StateNotSerializable
from callboard.events.envelope import Json
from callboard.state import pointer
from callboard.state.coding import Codec
from callboard.state.dicts import Keyed, dict_draft
from callboard.state.frozen import FrozenDict, FrozenList
from callboard.state.kind import Home, Kind
from callboard.state.lists import list_draft
from callboard.state.patch import is_list, is_object
from callboard.state.plain import ATOMS, written

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
"""Classes whose values cannot be changed in place."""


class Untyped(Keyed):
    """Anything that JSON can hold."""

    untyped = True

    def at(self, key: str, path: str) -> Kind:
        """The values of an untyped dict are untyped."""
        del key, path
        return self

    def draft(self, value: Any, home: Home) -> Any:
        """Lists and dicts have drafts; nothing else can be changed."""
        if is_object(value):
            return dict_draft(value, self, home)
        return list_draft(value, self, home) if is_list(value) else value

    def renew(self, value: Any, path: str, inside: bool) -> tuple[Any, Json]:
        """Read it twice: the live value and the patch must not share."""
        data = written(value, path)
        return self.freeze(orjson.loads(data), inside), orjson.loads(data)

    def vet(self, value: Any, path: str) -> None:
        """It must be JSON."""
        written(value, path)

    def wire(self, value: Any) -> Json:
        """It is JSON."""
        return value

    def load(self, wire: Json, path: str) -> Any:
        """It is JSON."""
        return orjson.loads(written(wire, path))

    def freeze(self, value: Any, inside: bool) -> Any:
        """Make read-only what is inside a list."""
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

    def accept(self, value: Any, path: str) -> Any:
        """Check it, and convert it where that makes another value of it.

        What needs no conversion stays the user's own object, which they may go on to change.
        """
        checked = self.codec.check(value, path)
        if checked is value or type(value) in ATOMS:
            return checked
        return value if checked == value else checked

    def renew(self, value: Any, path: str, inside: bool) -> tuple[Any, Json]:
        """Check, write and read it."""
        checked = self.codec.check(value, path)
        if self.has_untyped:
            self._vet_all(checked, path)
        live, wire = self.codec.renew(checked, path)
        return self.freeze(live, inside), wire

    def _vet_all(self, checked: Any, path: str) -> None:
        try:
            self.vet(checked, path)
        except RecursionError:
            what = "the value contains itself; store a copy"
            raise StateNotSerializable(f"{path or '/'}: {what}.", path=path) from None

    def wire(self, value: Any) -> Json:
        """Write it."""
        return self.codec.dump(value)

    def load(self, wire: Json, path: str) -> Any:
        """Read it."""
        return self.codec.load(written(wire, path), path)


class Leaf(Typed):
    """What has no drafts: it cannot be changed, or is copied for that."""

    def __init__(self, codec: Codec, *, inert: bool = False) -> None:
        super().__init__(codec)
        self.inert = inert

    def draft(self, value: Any, home: Home) -> Any:
        """Copy it, unless it cannot be changed."""
        return value if isinstance(value, IMMUTABLE) else home.scope.copied(value)


class Unchecked(Leaf):
    """A field that cannot be checked without the others; its object is reloaded as one."""

    def accept(self, value: Any, path: str) -> Any:
        """Leave it to the reload."""
        del path
        return value


class ListOf(Typed):
    """A list of one kind of value."""

    def __init__(self, codec: Codec, item: Kind) -> None:
        super().__init__(codec)
        self.item = item

    def parts(self) -> Iterable[Kind]:
        """Its elements."""
        return (self.item,)

    def vet(self, value: Any, path: str) -> None:
        """Vet its elements."""
        if is_list(value):
            for index, part in enumerate(value):
                self.item.vet(part, f"{path}/{index}")

    def draft(self, value: Any, home: Home) -> Any:
        """Make a draft of the list."""
        return list_draft(value, self.item, home)

    def renew(self, value: Any, path: str, inside: bool) -> tuple[Any, Json]:
        """Check, write and read it; what is untyped, more strictly than pydantic would."""
        if is_untyped(self):
            return UNTYPED.renew(self.codec.check(value, path), path, inside)
        return super().renew(value, path, inside)

    def freeze(self, value: Any, inside: bool) -> Any:
        """Make its elements read-only."""
        if not self.item.inert:
            value[:] = [self.item.freeze(part, inside=True) for part in value]
        return FrozenList(value) if inside else value


class DictOf(Typed, Keyed):
    """A dict with text as keys and one kind of value."""

    def __init__(self, codec: Codec, value: Kind) -> None:
        super().__init__(codec)
        self.value = value

    def parts(self) -> Iterable[Kind]:
        """Its values."""
        return (self.value,)

    def vet(self, value: Any, path: str) -> None:
        """Vet its values."""
        if is_object(value):
            for key, part in value.items():
                self.value.vet(part, pointer.join(path, key))

    def at(self, key: str, path: str) -> Kind:
        """All values are of one kind."""
        del key, path
        return self.value

    def draft(self, value: Any, home: Home) -> Any:
        """Make a draft of the dict."""
        return dict_draft(value, self, home)

    def renew(self, value: Any, path: str, inside: bool) -> tuple[Any, Json]:
        """Check, write and read it; what is untyped, more strictly than pydantic would."""
        if is_untyped(self):
            return UNTYPED.renew(self.codec.check(value, path), path, inside)
        return super().renew(value, path, inside)

    def freeze(self, value: Any, inside: bool) -> Any:
        """Make read-only what is inside a list."""
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
        """See to the kind."""
        self.kind.prepare()

    def vet(self, value: Any, path: str) -> None:
        """None is JSON."""
        if value is not None:
            self.kind.vet(value, path)

    def draft(self, value: Any, home: Home) -> Any:
        """None cannot be changed."""
        return None if value is None else self.kind.draft(value, home)

    def accept(self, value: Any, path: str) -> Any:
        """None fits."""
        return None if value is None else self.kind.accept(value, path)

    def renew(self, value: Any, path: str, inside: bool) -> tuple[Any, Json]:
        """None is null."""
        return (None, None) if value is None else self.kind.renew(value, path, inside)

    def wire(self, value: Any) -> Json:
        """None is null."""
        return None if value is None else self.kind.wire(value)

    def load(self, wire: Json, path: str) -> Any:
        """Null is None."""
        return None if wire is None else self.kind.load(wire, path)

    def freeze(self, value: Any, inside: bool) -> Any:
        """None cannot be changed."""
        return None if value is None else self.kind.freeze(value, inside)


def is_untyped(kind: Kind) -> bool:
    """Whether pydantic knows no more of a value than whether it is a list or a dict."""
    if isinstance(kind, ListOf):
        return is_untyped(kind.item)
    return is_untyped(kind.value) if isinstance(kind, DictOf) else kind is UNTYPED
