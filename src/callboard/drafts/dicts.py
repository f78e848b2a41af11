"""Drafts of dicts: which keys were touched, and whether any of them moved to the end."""

# ruff: noqa: D102 (the methods of a draft are those of dict)

import copy
from abc import abstractmethod
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Final, SupportsIndex, TypeVar

from callboard.drafts import pointer, storage
from callboard.drafts.frozen import FrozenDict
from callboard.drafts.kind import Core, Draft, Home, Kind, settle
from callboard.drafts.patch import Patch, lighten, staying, worth_lightening
from callboard.drafts.plain import ATOMS, text
from callboard.events.json_values import is_object

K = TypeVar("K")
V = TypeVar("V")

_NOTHING: Final = object()


class Keyed(Kind):
    """What the state declares for a dict."""

    @abstractmethod
    def at(self, key: str, path: str) -> Kind:
        """The kind of a key; StateInvalid if there is no such key."""

    def wire_key(self, key: str) -> str:
        """The name of a key in JSON."""
        return key

    def check_gone(self, keys: list[str], path: str) -> None:
        """Raise if any of these removed keys is required."""

    def draft(self, value: object, home: Home) -> object:
        """Make a draft of the dict."""
        return dict_draft(value, self, home) if is_object(value) else value


class DictCore(Core[dict[str, object], str]):
    """What a dict draft keeps track of."""

    __slots__ = ("kind", "moved")

    def __init__(self, origin: dict[str, object], kind: Keyed, home: Home) -> None:
        super().__init__(origin, home)
        self.kind = kind
        self.moved = False

    def hand_out(self, draft: "DictDraft", key: str, value: object) -> object:
        """Return a value, as a draft of its own if it is live."""
        if self.scope.owns(value):
            return value
        home = Home(self.scope, self, self.kind.wire_key(key), self.home.inside)
        child = self.kind.at(key, self.path()).draft(value, home)
        if child is not value:
            storage.put_member(draft, key, child)
            self.touched[key] = None
        return child

    def settle(self, draft: dict[str, object], path: str, patches: list[Patch]) -> object:
        """Compare the keys that were touched."""
        if not self.touched:
            return self.origin
        mark = len(patches)
        live = dict(self.origin)
        self._remove(draft, live, path, patches)
        for key in draft if self.moved else self.touched:
            if key in draft:
                self._settle_key(key, storage.member(draft, key), live, path, patches)
        if len(patches) == mark:
            return self.origin
        if worth_lightening(len(patches) - mark, len(live)):
            lighten(patches, mark, path, self.kind.wire(live))
        return FrozenDict(live) if self.home.inside else live

    def _remove(
        self, draft: dict[str, object], live: dict[str, object], path: str, patches: list[Patch]
    ) -> None:
        kept = staying(self.origin, storage.names(draft)) if self.moved else draft
        gone = [key for key in (live if self.moved else self.touched) if key not in kept]
        gone = [key for key in gone if key in live]
        self.kind.check_gone([key for key in gone if key not in draft], path)
        for key in gone:
            del live[key]
            place = pointer.join(path, self.kind.wire_key(key))
            patches.append({"op": "remove", "path": place})

    def _settle_key(
        self, key: str, now: object, live: dict[str, object], path: str, patches: list[Patch]
    ) -> None:
        before = live.get(key, _NOTHING)
        if now is before:
            return
        name = text(key, path)
        kind, place = self.kind.at(name, path), pointer.join(path, self.kind.wire_key(name))
        if before is _NOTHING:
            live[name], wire = kind.renew(now, place, self.home.inside)
            patches.append({"op": "add", "path": place, "value": wire})
        else:
            live[name] = settle(kind, before, now, place, self.home.inside, patches)


class DictDraft(dict[str, object], Draft):
    """A dict that can be changed without changing the live one."""

    __slots__ = ("__callboard__",)
    __callboard__: DictCore

    def __new__(cls, *values: object, **more: object) -> object:
        """Return a plain dict: that is what `type(value)(…)` in other code means."""
        return dict(*values, **more)

    def __getitem__(self, key: str) -> object:
        value = storage.member(self, key)
        return value if type(value) in ATOMS else self.__callboard__.hand_out(self, key, value)

    def __iter__(self) -> Iterator[str]:
        # Without a method here, `dict(draft)` and `{**draft}` would copy the live values inside.
        return storage.names(self)

    def get(self, key: str, default: object = None) -> object:
        try:
            return self[key]
        except KeyError:
            return default

    def values(self) -> ValuesView[object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._expose()
        return super().values()

    def items(self) -> ItemsView[str, object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        self._expose()
        return super().items()

    def _expose(self) -> None:
        """Make drafts of all values."""
        for key in list(self):
            self[key]

    def __setitem__(self, key: str, value: object) -> None:
        core = self.__callboard__
        core.scope.writing()
        if key in core.origin and key not in self:
            core.moved = True
        storage.put_member(self, key, core.scope.own(value))
        core.touched[key] = None

    def __delitem__(self, key: str) -> None:
        core = self.__callboard__
        core.scope.writing()
        storage.drop(self, key)
        # A new key that was removed again leaves no trace, and may come back in another place.
        core.touched.pop(key, None)
        if key in core.origin:
            core.touched[key] = None

    def setdefault(self, key: str, default: object = None) -> object:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, *default: object) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.__callboard__.scope.writing()
        if key not in self and default:
            return default[0]
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, object]:
        self.__callboard__.scope.writing()
        if not self:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        self.__callboard__.scope.writing()
        for key in list(self):
            del self[key]

    def update(self, *values: object, **more: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.__callboard__.scope.writing()
        given: Mapping[str, object] = dict(*values, **more)
        for key, value in given.items():
            self[key] = value

    def __or__(self, other: dict[K, V]) -> dict[str | K, object | V]:
        return dict(self) | other

    def __ror__(self, other: dict[K, V]) -> dict[str | K, object | V]:
        return other | dict(self)

    def __ior__(self, other: object) -> "DictDraft":  # pyright: ignore[reportIncompatibleMethodOverride]
        self.update(other)
        return self

    def copy(self) -> dict[str, object]:
        return dict(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, object]) -> dict[str, object]:
        made: dict[str, object] = {}
        memo[id(self)] = made
        for key, value in storage.members(self):
            made[key] = copy.deepcopy(value, memo)
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        return dict, (copy.deepcopy(self),)


def dict_draft(origin: dict[str, object], kind: Keyed, home: Home) -> DictDraft:
    """Make a draft of a live dict."""
    draft: DictDraft = dict.__new__(DictDraft)
    draft.__callboard__ = DictCore(origin, kind, home)
    storage.fill(draft, origin)
    return draft
