"""The kinds of values that have named fields: models, dataclasses and TypedDicts."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from callboard.errors import StateInvalid
from callboard.state import pointer
from callboard.state.classes import frozen_fields, is_open, sees_all_fields
from callboard.state.coding import Codec
from callboard.state.dicts import Keyed, dict_draft
from callboard.state.frozen import FrozenDict, frozen_object
from callboard.state.kind import Home, Kind
from callboard.state.kinds import Typed
from callboard.state.objects import Fielded, object_draft

Fields = Callable[[], Mapping[str, Kind]]


class ObjectOf(Typed, Fielded):
    """An object of one class."""

    def __init__(
        self, cls: type[Any], codec: Codec, fields: Fields, *, whole: bool = False
    ) -> None:
        super().__init__(codec)
        self.cls = cls
        self.whole = whole or sees_all_fields(cls)
        self.frozen = frozen_fields(cls)
        self.open = is_open(cls)
        self.find_fields = fields

    def parts(self) -> Iterable[Kind]:
        """Its fields."""
        return self.fields.values()

    @cached_property
    def _untyped(self) -> list[tuple[str, Kind]]:
        return [(name, kind) for name, kind in self.fields.items() if kind.has_untyped]

    def vet(self, value: Any, path: str) -> None:
        """Vet its fields."""
        if isinstance(value, self.cls):
            for name, kind in self._untyped:
                kind.vet(getattr(value, name), pointer.join(path, name))

    @cached_property
    def _changeable(self) -> list[tuple[str, Kind]]:
        return [(name, kind) for name, kind in self.fields.items() if not kind.inert]

    def draft(self, value: Any, home: Home) -> Any:
        """Make a draft of the object."""
        return object_draft(value, self, home)

    def freeze(self, value: Any, inside: bool) -> Any:
        """Make read-only what is inside a list."""
        for name, kind in self._changeable:
            object.__setattr__(value, name, kind.freeze(getattr(value, name), inside))
        return frozen_object(self.cls, value) if inside else value


class OneOf(Typed):
    """An object of one of several classes, none of them derived from another."""

    def __init__(self, codec: Codec, members: Mapping[type[Any], Fields]) -> None:
        super().__init__(codec)
        # Which class a reload chooses may depend on any field, so that it is reloaded as one.
        self._kinds = {
            cls: ObjectOf(cls, codec, fields, whole=True) for cls, fields in members.items()
        }

    def parts(self) -> Iterable[Kind]:
        """The classes."""
        return self._kinds.values()

    def vet(self, value: Any, path: str) -> None:
        """Vet the object as what it is."""
        if value.__class__ in self._kinds:
            self._kinds[value.__class__].vet(value, path)

    def draft(self, value: Any, home: Home) -> Any:
        """Make a draft of the object."""
        return self._kinds[value.__class__].draft(value, home)

    def freeze(self, value: Any, inside: bool) -> Any:
        """Make read-only what is inside a list."""
        return self._kinds[value.__class__].freeze(value, inside)


class Record(Typed, Keyed):
    """A TypedDict."""

    def __init__(self, cls: Any, codec: Codec, fields: Fields) -> None:
        super().__init__(codec)
        self._title: str = cls.__name__
        self._required: frozenset[str] = cls.__required_keys__
        self._find_fields = fields

    @cached_property
    def fields(self) -> Mapping[str, Kind]:
        """What it declares for each key."""
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

    def vet(self, value: Any, path: str) -> None:
        """Vet its values."""
        for key, kind in self._untyped.items():
            if key in value:
                kind.vet(value[key], pointer.join(path, key))

    def check_gone(self, keys: list[str], path: str) -> None:
        """Refuse that a required key is gone."""
        for key in keys:
            if key in self._required:
                place = pointer.join(path, key)
                what = f"{self._title} requires the key {key!r}"
                raise StateInvalid(f"{place}: {what}.", path=place)

    def draft(self, value: Any, home: Home) -> Any:
        """Make a draft of the dict."""
        return dict_draft(value, self, home)

    def freeze(self, value: Any, inside: bool) -> Any:
        """Make read-only what is inside a list."""
        for key, part in value.items():
            value[key] = self.fields[key].freeze(part, inside)
        return FrozenDict(value) if inside else value
