"""Read-only lists, dicts and objects, for live values that C code may pass on past a draft."""

import copy
from collections.abc import Iterable
from functools import cache
from typing import SupportsIndex

from callboard.drafts import storage
from callboard.drafts.instances import assemble, subclass, values_of
from callboard.drafts.kind import read_only


class FrozenList(list[object]):
    """A list that can't be changed."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, object]) -> list[object]:
        return copy.deepcopy(storage.whole(self), memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return list, (storage.whole(self),)


class FrozenDict(dict[str, object]):
    """A dict that can't be changed."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, object]) -> dict[str, object]:
        return copy.deepcopy(dict(self), memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return dict, (dict(self),)


class _FrozenObject:
    """An object of a user's class that can't be changed."""

    __slots__ = ()
    _callboard_class: type

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._callboard_class

    def __setattr__(self, name: str, value: object) -> None:
        raise read_only()

    def __delattr__(self, name: str) -> None:
        raise read_only()

    def __copy__(self) -> object:
        return assemble(self._callboard_class, values_of(self), like=self)

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> object:
        return copy.deepcopy(self.__copy__(), memo)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        return self.__copy__().__reduce_ex__(protocol)


_METHODS = (
    "__class__",
    "__setattr__",
    "__delattr__",
    "__copy__",
    "__deepcopy__",
    "__reduce_ex__",
)


def frozen_object(cls: type, value: object) -> object:
    """Make an object read-only in place; nothing else may use it."""
    object.__setattr__(value, "__class__", _frozen_class(cls))
    return value


def freeze_objects(cls: type, values: Iterable[object]) -> None:
    """Make many objects of one class read-only in place."""
    frozen, change = _frozen_class(cls), object.__setattr__
    for value in values:
        change(value, "__class__", frozen)


@cache
def _frozen_class(cls: type) -> object:
    # A second base class would change the layout, and no object could switch to the class.
    own = {name: part for name, part in vars(_FrozenObject).items() if name in _METHODS}
    return subclass(cls, (), {"__slots__": (), "_callboard_class": cls, **own})


def _refuse(*_arguments: object, **_options: object) -> object:
    raise read_only()


_CHANGES = "append extend insert remove pop clear sort reverse update setdefault popitem"
_OPERATORS = "__setitem__ __delitem__ __iadd__ __imul__ __ior__"

for _frozen in (FrozenList, FrozenDict):
    for _name in f"{_CHANGES} {_OPERATORS}".split():
        if hasattr(_frozen, _name):
            setattr(_frozen, _name, _refuse)
