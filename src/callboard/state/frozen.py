"""Read-only lists, dicts and objects, for live values that C code may hand out past a draft."""

import copy
from functools import cache
from typing import Any

from callboard.state import storage
from callboard.state.instances import assemble, subclass, values_of
from callboard.state.kind import read_only


class FrozenList(list[Any]):
    """A list that refuses to be changed."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return copy.deepcopy(storage.whole(self), memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return list, (storage.whole(self),)


class FrozenDict(dict[str, Any]):
    """A dict that refuses to be changed."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return copy.deepcopy(dict(self), memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return dict, (dict(self),)


class _FrozenObject:
    """An object of a user's class that refuses to be changed."""

    __slots__ = ()
    _callboard_class: type

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._callboard_class

    def __setattr__(self, name: str, value: Any) -> None:
        raise read_only()

    def __delattr__(self, name: str) -> None:
        raise read_only()

    def __copy__(self) -> Any:
        return assemble(self._callboard_class, values_of(self), like=self)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        return copy.deepcopy(self.__copy__(), memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__copy__().__reduce_ex__(protocol)


_METHODS = (
    "__class__",
    "__setattr__",
    "__delattr__",
    "__copy__",
    "__deepcopy__",
    "__reduce_ex__",
)


def frozen_object(cls: type, value: Any) -> Any:
    """Make an object read-only in place; it must be nobody else's."""
    object.__setattr__(value, "__class__", _frozen_class(cls))
    return value


@cache
def _frozen_class(cls: type) -> Any:
    # A second class to derive from would change the layout, and no object could change over.
    own = {name: part for name, part in vars(_FrozenObject).items() if name in _METHODS}
    return subclass(cls, (), {"__slots__": (), "_callboard_class": cls, **own})


def _refuse(*_arguments: Any, **_options: Any) -> Any:
    raise read_only()


_CHANGES = "append extend insert remove pop clear sort reverse update setdefault popitem"
_OPERATORS = "__setitem__ __delitem__ __iadd__ __imul__ __ior__"

for _frozen in (FrozenList, FrozenDict):
    for _name in f"{_CHANGES} {_OPERATORS}".split():
        if hasattr(_frozen, _name):
            setattr(_frozen, _name, _refuse)
