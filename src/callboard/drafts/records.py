"""The other kinds with named fields: unions of classes, and TypedDicts."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from callboard.drafts import pointer
from callboard.drafts.coding import Codec
from callboard.drafts.dicts import Keyed
from callboard.drafts.frozen import FrozenDict
from callboard.drafts.kind import Home, Kind
from callboard.drafts.kinds import Typed
from callboard.drafts.objects import FindFields, ObjectOf
from callboard.errors import StateInvalid
from callboard.events.json_values import as_object, is_object


class OneOf(Typed):
    """An object of one of several classes, none of which is a subclass of another."""

    def __init__(self, codec: Codec, members: Mapping[type[object], FindFields]) -> None:
        super().__init__(codec)
        # Which class a reload chooses may depend on any field, so reload the object as a whole.
        self._kinds = {
            cls: ObjectOf(cls, codec, fields, whole=True) for cls, fields in members.items()
        }

    def parts(self) -> Iterable[Kind]:
        """The classes."""
        return self._kinds.values()

    def vet(self, value: object, path: str) -> None:
        """Vet the object by its class."""
        if value.__class__ in self._kinds:
            self._kinds[value.__class__].vet(value, path)

    def draft(self, value: object, home: Home) -> object:
        """Make a draft of the object."""
        return self._kinds[value.__class__].draft(value, home)

    def freeze(self, value: object, inside: bool) -> object:
        """Make what is inside a list read-only."""
        return self._kinds[value.__class__].freeze(value, inside)


class RecordKind(Typed, Keyed):
    """A TypedDict."""

    def __init__(self, cls: type[object], codec: Codec, find_fields: FindFields) -> None:
        super().__init__(codec)
        self._title = cls.__name__
        self._required: frozenset[str] = getattr(cls, "__required_keys__", frozenset())
        self._find_fields = find_fields

    @cached_property
    def fields(self) -> Mapping[str, Kind]:
        """The kind of each key."""
        return self._find_fields()

    def at(self, key: str, path: str) -> Kind:
        """Each key has its own kind."""
        kind = self.fields.get(key)
        if kind is None:
            place, known = pointer.join(path, key), ", ".join(self.fields)
            what = f"{self._title} has no key {key!r}, only {known}"
            raise StateInvalid(f"{place}: {what}.", path=place)
        return kind

    def parts(self) -> Iterable[Kind]:
        """Its values."""
        return self.fields.values()

    @cached_property
    def _untyped(self) -> dict[str, Kind]:
        return {key: kind for key, kind in self.fields.items() if kind.has_untyped}

    def vet(self, value: object, path: str) -> None:
        """Vet its values."""
        record = as_object(value)
        for key, kind in self._untyped.items():
            if key in record:
                kind.vet(record[key], pointer.join(path, key))

    def check_gone(self, keys: list[str], path: str) -> None:
        """Raise if a required key was removed."""
        for key in keys:
            if key in self._required:
                place = pointer.join(path, key)
                what = f"{self._title} requires the key {key!r}"
                raise StateInvalid(f"{place}: {what}.", path=place)

    def freeze(self, value: object, inside: bool) -> object:
        """Make what is inside a list read-only."""
        if not is_object(value):
            return value
        for key, part in value.items():
            value[key] = self.fields[key].freeze(part, inside)
        return FrozenDict(value) if inside else value
