"""Drafts of lists.

Besides its contents, which are always there for C code to read, a draft keeps the lowest index from
which elements may have moved, and which elements below it were touched. So settling looks only at
those, not at all ten thousand.
"""

# ruff: noqa: D102 (the methods of a draft are those of list)

import copy
from collections.abc import Callable, Iterable, Iterator
from itertools import compress, count
from operator import is_not
from typing import SupportsIndex, TypeVar, cast, overload

from callboard.drafts import storage
from callboard.drafts.frozen import FrozenList
from callboard.drafts.kind import Core, Draft, Home, Kind, settle
from callboard.drafts.patch import Patch, additions, lighten, removals, same, worth_lightening
from callboard.drafts.plain import ATOMS

T = TypeVar("T")


class ListCore(Core[list[object], int]):
    """What a list draft keeps track of."""

    __slots__ = ("drafted", "item", "low")

    def __init__(self, origin: list[object], item: Kind, home: Home) -> None:
        super().__init__(origin, home)
        self.item = item
        self.low = len(origin)
        self.drafted = False

    def hand_out(self, draft: "ListDraft", index: int, value: object) -> object:
        """Return an element, as a draft of its own if it is live."""
        if self.scope.owns(value):
            return value
        child = self.item.draft(value, Home(self.scope, self, index, inside=True))
        if child is not value:
            storage.put_element(draft, index, child)
            self.drafted = True
            if index < self.low:
                self.touched[index] = None
        return child

    def edit(self, index: int) -> None:
        """Note that elements may move from this index on."""
        self.scope.writing()
        self.low = min(self.low, index)

    def settle(self, draft: list[object], path: str, patches: list[Patch]) -> object:
        """Compare what was touched or may have moved."""
        if not self.touched and self.low == len(self.origin) and draft == self.origin:
            return self.origin
        mark = len(patches)
        live = self._head(draft, path, patches)
        low = len(live)
        if low < len(self.origin) or low < len(draft):
            live += self._tail(draft, low, path, patches)
        if len(patches) == mark:
            return self.origin
        if worth_lightening(len(patches) - mark, len(live)):
            lighten(patches, mark, path, [self.item.wire(value) for value in live])
        return FrozenList(live) if self.home.inside else live

    def _head(self, draft: list[object], path: str, patches: list[Patch]) -> list[object]:
        """Settle the elements that haven't moved."""
        low = min(self.low, len(draft))
        head = storage.stretch(draft, slice(low))
        touched = sorted(index for index in self.touched if index < low) if self.touched else []
        changed = [(index, head[index]) for index in touched]
        for index in touched:
            head[index] = self.origin[index]
        # C code such as heapq moves elements without notice; comparing identical ones is fast.
        if head != (self.origin if low == len(self.origin) else self.origin[:low]):
            return []
        for index, now in changed:
            before = self.origin[index]
            head[index] = settle(self.item, before, now, f"{path}/{index}", True, patches)
        return head

    def _tail(self, draft: list[object], low: int, path: str, patches: list[Patch]) -> list[object]:
        """Settle the elements that may have moved, based on common starts and ends."""
        before, now = self.origin[low:], storage.stretch(draft, slice(low, None))
        if not before:
            return self._added(now, low, path, patches)
        sources = [self.scope.source(value) for value in now] if self.drafted else now
        shorter = min(len(before), len(now))
        end = min(shorter - _common(before, sources), _common(before[::-1], sources[::-1]))
        first, last = shorter - end, len(now) - end
        paired = self._pairs(before[:first], now[:first], path, low, patches)
        places = range(low + first, low + last)
        new = [self.item.renew(now[i - low], f"{path}/{i}", True) for i in places]
        patches.extend(removals(path, low + last, low + len(before) - end))
        patches.extend(additions(path, low + first, [wire for _, wire in new]))
        kept = self._pairs(before[len(before) - end :], now[last:], path, low + last, patches)
        return [*paired, *(live for live, _ in new), *kept]

    def _added(self, new: list[object], low: int, path: str, patches: list[Patch]) -> list[object]:
        """Settle elements that were appended."""
        for i, value in enumerate(new):
            new[i], wire = self.item.renew(value, place := f"{path}/{low + i}", True)
            patches.append({"op": "add", "path": place, "value": wire})
        return new

    def _pairs(
        self, before: list[object], now: list[object], path: str, start: int, patches: list[Patch]
    ) -> list[object]:
        """Settle elements one by one; `start` is the index of the first."""
        for i in compress(count(), map(is_not, before, now)):
            now[i] = settle(self.item, before[i], now[i], f"{path}/{start + i}", True, patches)
        return now


def _common(before: list[object], now: list[object]) -> int:
    """How many elements two lists have in common at the start."""
    length = min(len(before), len(now))
    # Nearly always the very same objects, which C code compares.
    start = next(compress(count(), map(is_not, before, now)), length)
    while start < length and _alike(before[start], now[start]):
        start += 1
    return start


def _alike(one: object, other: object) -> bool:
    return one is other or (type(one) in ATOMS and same(one, other))


class ListDraft(list[object], Draft):
    """A list that can be changed without changing the live one."""

    __slots__ = ("__callboard__",)
    __callboard__: ListCore

    def __new__(cls, values: Iterable[object] = ()) -> object:
        """Return a plain list: that is what `type(value)(…)` in other code means."""
        return list(values)

    @overload
    def __getitem__(self, index: SupportsIndex) -> object: ...
    @overload
    def __getitem__(self, index: slice) -> list[object]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> object:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = index.__index__()
        value = storage.element(self, place)
        if type(value) in ATOMS:
            return value
        return self.__callboard__.hand_out(self, place if place >= 0 else place + len(self), value)

    def __iter__(self) -> Iterator[object]:
        return storage.elements(self) if self.__callboard__.item.inert else self._walk()

    def _walk(self) -> Iterator[object]:
        index = 0
        while index < len(self):
            yield self[index]
            index += 1

    def __reversed__(self) -> Iterator[object]:
        return (self[i] for i in range(len(self) - 1, -1, -1))

    def __setitem__(self, index: SupportsIndex | slice, value: object) -> None:
        core = self.__callboard__
        core.scope.writing()
        if isinstance(index, slice):
            # Like a list, it raises TypeError for anything else.
            values = [core.scope.own(one) for one in cast("Iterable[object]", value)]
            places = range(*index.indices(len(self)))
            core.edit(min(places, default=places.start))
            storage.put_stretch(self, index, values)
            return
        place = index.__index__()
        storage.put_element(self, place, core.scope.own(value))
        core.touched[place if place >= 0 else place + len(self)] = None

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        core = self.__callboard__
        core.scope.writing()
        if isinstance(index, slice):
            places = range(*index.indices(len(self)))
            core.edit(min(places, default=len(self)))
            storage.cut(self, index)
            return
        place = index.__index__()
        storage.cut(self, place)
        core.edit(place if place >= 0 else place + len(self) + 1)

    def append(self, value: object) -> None:
        core = self.__callboard__
        core.edit(len(self))
        storage.append(self, core.scope.own(value))

    def extend(self, values: Iterable[object]) -> None:
        core = self.__callboard__
        core.edit(len(self))
        storage.extend(self, [core.scope.own(value) for value in values])

    def insert(self, index: SupportsIndex, value: object) -> None:
        core = self.__callboard__
        place = slice(index.__index__(), None).indices(len(self))[0]
        core.edit(place)
        storage.insert(self, place, core.scope.own(value))

    def pop(self, index: SupportsIndex = -1) -> object:
        self.__callboard__.scope.writing()
        if not self:
            raise IndexError("pop from empty list")
        value = self[index]
        del self[index]
        return value

    def remove(self, value: object) -> None:
        self.__callboard__.scope.writing()
        del self[self.index(value)]

    def clear(self) -> None:
        del self[:]

    def reverse(self) -> None:
        self.__callboard__.edit(0)
        super().reverse()

    def sort(self, *, key: Callable[[object], object] | None = None, reverse: bool = False) -> None:
        self.__callboard__.edit(0)
        self._expose()
        storage.sort(self, key=key, reverse=reverse)

    def _expose(self) -> list[object]:
        """Make drafts of all elements, and return them."""
        return list(self)

    def __iadd__(self, values: Iterable[object]) -> "ListDraft":  # pyright: ignore[reportIncompatibleMethodOverride]
        self.extend(values)
        return self

    def __imul__(self, times: SupportsIndex) -> "ListDraft":  # pyright: ignore[reportIncompatibleMethodOverride]
        repeated = self._expose() * times.__index__()
        if repeated:
            self.extend(repeated[len(self) :])
        else:
            self.clear()
        return self

    def __add__(self, other: list[T]) -> list[object | T]:
        return self._expose() + other

    def __radd__(self, other: list[object]) -> list[object]:
        return other + self._expose()

    def __mul__(self, times: SupportsIndex) -> list[object]:
        return self._expose() * times

    __rmul__ = __mul__

    def copy(self) -> list[object]:
        return self._expose()

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, object]) -> list[object]:
        made: list[object] = []
        memo[id(self)] = made
        made.extend(copy.deepcopy(value, memo) for value in storage.elements(self))
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        return list, (copy.deepcopy(storage.whole(self)),)


def list_draft(origin: list[object], item: Kind, home: Home) -> ListDraft:
    """Make a draft of a live list."""
    draft: ListDraft = list.__new__(ListDraft)
    draft.__callboard__ = ListCore(origin, item, home)
    storage.extend(draft, origin if type(origin) is list else storage.whole(origin))
    return draft
