"""Drafts of pydantic models and dataclasses: objects of a subclass of the user's class.

The fields are descriptors on that subclass, so that reading one makes its draft and assigning one
checks it. Methods, properties and everything else are the user's own.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from typing import Any, SupportsIndex

from pydantic import BaseModel

from callboard.drafts import pointer
from callboard.drafts.classes import frozen_fields, is_open, sees_all_fields
from callboard.drafts.coding import Codec
from callboard.drafts.frozen import freeze_objects, frozen_object
from callboard.drafts.instances import (
    adopt,
    assemble,
    field_names,
    is_model,
    subclass,
    values_of,
)
from callboard.drafts.kind import Core, Draft, Home, Kind, settle
from callboard.drafts.kinds import Typed
from callboard.drafts.patch import Patch, compare, lighten, worth_lightening
from callboard.drafts.plain import ATOMS
from callboard.errors import StateInvalid

FindFields = Callable[[], Mapping[str, Kind]]


class ObjectOf(Typed):
    """What the state declares for an object of one class.

    whole: whether validators or the like see all fields at once, so that it is reloaded as a whole.
    find_fields: called when the fields are first needed, because classes may refer to themselves.
    """

    def __init__(
        self, cls: type[object], codec: Codec, find_fields: FindFields, *, whole: bool = False
    ) -> None:
        super().__init__(codec)
        self.cls = cls
        self.whole = whole or sees_all_fields(cls)
        self.frozen = frozen_fields(cls)
        self.open = is_open(cls)
        self._find_fields = find_fields

    @cached_property
    def fields(self) -> Mapping[str, Kind]:
        """The kind of each field."""
        return self._find_fields()

    def wire_key(self, name: str) -> str:
        """The name of a field in JSON."""
        return name

    def parts(self) -> Iterable[Kind]:
        """Its fields."""
        return self.fields.values()

    @cached_property
    def _untyped(self) -> list[tuple[str, Kind]]:
        return [(name, kind) for name, kind in self.fields.items() if kind.has_untyped]

    def vet(self, value: object, path: str) -> None:
        """Vet its fields."""
        if isinstance(value, self.cls):
            for name, kind in self._untyped:
                kind.vet(getattr(value, name), pointer.join(path, name))

    @cached_property
    def _changeable(self) -> list[tuple[str, Kind]]:
        return [(name, kind) for name, kind in self.fields.items() if not kind.inert]

    def draft(self, value: object, home: Home) -> object:
        """Make a draft of the object."""
        cls = _draft_class(self.cls)
        draft = object.__new__(cls)
        object.__setattr__(draft, "__callboard__", ObjectCore(value, self, home))
        if is_model(cls):
            adopt(draft, value)
        return draft

    def freeze(self, value: object, inside: bool) -> object:
        """Make what is inside a list read-only."""
        for name, kind in self._changeable:
            object.__setattr__(value, name, kind.freeze(getattr(value, name), inside))
        return frozen_object(self.cls, value) if inside else value

    def freeze_elements(self, values: list[object]) -> None:
        """Make the elements of a list read-only, all of them together."""
        for name, kind in self._changeable:
            for value in values:
                object.__setattr__(value, name, kind.freeze(getattr(value, name), inside=True))
        freeze_objects(self.cls, values)


class ObjectCore(Core[object, str]):
    """What an object's draft keeps track of, and the values of its fields."""

    __slots__ = ("kind", "values")

    def __init__(self, origin: object, kind: ObjectOf, home: Home) -> None:
        super().__init__(origin, home)
        self.kind = kind
        self.values = values_of(origin)

    def hand_out(self, name: str) -> object:
        """Return a field, as a draft of its own if it is live."""
        value = self.values[name]
        if type(value) in ATOMS or self.scope.owns(value):
            return value
        home = Home(self.scope, self, self.kind.wire_key(name), self.home.inside)
        child = self.kind.fields[name].draft(value, home)
        if child is not value:
            self.values[name] = child
            self.touched[name] = None
        return child

    def assign(self, name: str, value: object) -> None:
        """Check a value and assign it to the field."""
        self.scope.writing()
        place = pointer.join(self.path(), self.kind.wire_key(name))
        if name in self.kind.frozen:
            raise StateInvalid(f"{place}: the field is frozen.", path=place)
        if value is self.values.get(name):
            return
        self.values[name] = self.scope.own(self.kind.fields[name].accept(value, place))
        self.touched[name] = None

    def expose(self) -> dict[str, object]:
        """Make drafts of all fields, and return the values themselves, to be changed freely."""
        for name in self.kind.fields:
            if name in self.values:
                self.hand_out(name)
            self.touched[name] = None
        return self.values

    def unknown(self, name: str) -> StateInvalid:
        """The error for a field that the class doesn't have."""
        known = ", ".join(self.kind.fields)
        path = pointer.join(self.path(), name)
        title = self.kind.cls.__name__
        return StateInvalid(f"{path}: {title} has no field {name!r}, only {known}.", path=path)

    def settle(self, draft: object, path: str, patches: list[Patch]) -> object:
        """Compare the fields that were touched."""
        if not self.touched and not self.kind.open:
            return self.origin
        if self.kind.whole:
            return self._settle_whole(draft, path, patches)
        mark, changed = len(patches), dict[str, object]()
        before = values_of(self.origin)
        for name in self.touched:
            place = pointer.join(path, self.kind.wire_key(name))
            kind, now = self.kind.fields[name], self._value(name, place)
            changed[name] = settle(kind, before[name], now, place, self.home.inside, patches)
        if len(patches) == mark:
            return self.origin
        live = assemble(self.kind.cls, {**before, **changed}, like=self.origin)
        if worth_lightening(len(patches) - mark, len(before)):
            lighten(patches, mark, path, self.kind.wire(live))
        return frozen_object(self.kind.cls, live) if self.home.inside else live

    def _settle_whole(self, draft: object, path: str, patches: list[Patch]) -> object:
        values = {name: self._value(name, path) for name in self.values}
        for name in self.touched:
            values[name] = self.kind.fields[name].accept(values[name], pointer.join(path, name))
        now = assemble(self.kind.cls, values, like=draft)
        live, wire = self.kind.renew(now, path, self.home.inside)
        mark = len(patches)
        compare(self.kind.wire(self.origin), wire, path, patches)
        return live if len(patches) > mark else self.origin

    def _value(self, name: str, path: str) -> object:
        if name not in self.values:
            raise StateInvalid(f"{path}: a field cannot be deleted.", path=path)
        return self.values[name]


class _Field:
    """A field of a draft."""

    def __init__(self, cls: type[object], name: str) -> None:
        self._cls = cls
        self._name = name

    def __get__(self, draft: "ObjectDraft | None", _: object = None) -> object:
        if draft is None:
            return getattr(self._cls, self._name)
        try:
            return draft.__callboard__.hand_out(self._name)
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, draft: "ObjectDraft", value: object) -> None:
        draft.__callboard__.assign(self._name, value)

    def __delete__(self, draft: "ObjectDraft") -> None:
        path = pointer.join(draft.__callboard__.path(), self._name)
        raise StateInvalid(f"{path}: a field cannot be deleted.", path=path)


class ObjectDraft(Draft):
    """What every draft of an object adds to the user's class."""

    __slots__ = ()
    __callboard__: ObjectCore
    __callboard_class__: type[Any]

    def __new__(cls, *values: object, **more: object) -> object:
        """Return an object of the user's class, which is what `type(self)(…)` means there."""
        return cls.__callboard_class__(*values, **more)

    @property
    def __class__(self) -> type[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.__callboard_class__

    @property
    def __dict__(self) -> dict[str, object]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.__callboard__.expose()

    def __setattr__(self, name: str, value: object) -> None:
        core = self.__callboard__
        if name in core.kind.fields:
            core.assign(name, value)
        elif name.startswith("_") or core.kind.open or _settable(type(self), name):
            super().__setattr__(name, value)
        else:
            core.scope.writing()
            raise core.unknown(name)

    def __copy__(self) -> object:
        return assemble(self.__callboard_class__, dict(self.__dict__), like=self)

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> object:
        shallow = assemble(self.__callboard_class__, self.__callboard__.values, like=self)
        return copy.deepcopy(shallow, memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return copy.deepcopy(self).__reduce_ex__(protocol)


class _ModelDraft(ObjectDraft):
    """What a draft of a pydantic model adds in addition."""

    __slots__ = ()

    @classmethod
    def model_construct(cls, *values: object, **more: object) -> object:
        """Make an object of the user's class."""
        return cls.__callboard_class__.model_construct(*values, **more)


@cache
def _draft_class(cls: type[object]) -> type[object]:
    is_model = issubclass(cls, BaseModel)
    namespace: dict[str, object] = {
        "__slots__": ("__callboard__",),
        "__callboard_class__": cls,
        "__dict__": vars(ObjectDraft)["__dict__"],
        # pydantic remembers for each class how attributes are set.
        **({"__pydantic_setattr_handlers__": {}} if is_model else {}),
        **{name: _Field(cls, name) for name in field_names(cls)},
    }
    return subclass(cls, (_ModelDraft if is_model else ObjectDraft,), namespace)


def _settable(cls: type[object], name: str) -> bool:
    attribute: object = getattr(cls, name, None)
    return isinstance(attribute, property | cached_property)
