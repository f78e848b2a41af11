"""The link between annotations and drafts: what a place in the state may hold.

Live state → draft → live state. A kind makes the draft of a live value and converts a new value to
what a reload would give; a draft's core keeps track of what was touched, and settles it at the end.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Generic, TypeVar

from callboard.drafts import pointer
from callboard.drafts.patch import Patch, compare
from callboard.drafts.plain import ATOMS
from callboard.errors import StateError
from callboard.events.envelope import Json

T = TypeVar("T")
K = TypeVar("K")


class Kind(ABC):
    """What the state declares for one place."""

    inert = False
    """Whether its values can never be changed in place."""
    untyped = False
    """Whether it only says that its values are JSON, or lists or dicts of JSON."""

    def parts(self) -> Iterable["Kind"]:
        """The kinds of the places inside its values."""
        return ()

    @cached_property
    def has_untyped(self) -> bool:
        """Whether some place inside is untyped, where pydantic accepts what is not JSON."""
        return any(kind.untyped for kind in self.within())

    def within(self) -> Iterator["Kind"]:
        """All kinds that its values can consist of, itself first."""
        seen, waiting = set[Kind](), list[Kind]([self])
        while waiting:
            kind = waiting.pop()
            if kind not in seen:
                seen.add(kind)
                waiting.extend(kind.parts())
                yield kind

    @abstractmethod
    def draft(self, value: object, home: "Home") -> object:
        """What users get for a live value: a draft, a private copy, or itself if inert."""

    @abstractmethod
    def renew(self, value: object, path: str, inside: bool) -> tuple[object, Json]:
        """Return a user's value as a reload would give it, and as fresh JSON."""

    @abstractmethod
    def wire(self, value: object) -> Json:
        """Write a live value as JSON, for reading only: it may share parts with the value."""

    @abstractmethod
    def load(self, wire: Json, path: str) -> object:
        """Make a live value from JSON that was read from a log, so it was checked when written."""

    def prepare(self) -> None:  # noqa: B027 (most have nothing to find out)
        """Find out right away whether the annotation can be used."""

    def accept(self, value: object, path: str) -> object:
        """Check a value when it is assigned, and convert it if the annotation requires that."""
        return value

    def vet(self, value: object, path: str) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuse untyped parts that aren't JSON, in a value that pydantic has checked."""

    def freeze(self, value: object, inside: bool) -> object:
        """Make what is inside a list read-only, in a value that was just loaded.

        Much C code reads the elements of a list draft past its methods and may pass them on to
        users as they are: `Report(items=state.items)` does.
        """
        return value

    def freeze_elements(self, values: list[object]) -> None:
        """Make the elements of a list read-only, in the list."""
        values[:] = [self.freeze(value, inside=True) for value in values]


class Scope:
    """One run of a user's function on a draft, or one view."""

    __slots__ = ("_origins", "_owned", "writable")

    def __init__(self, *, writable: bool) -> None:
        self.writable = writable
        # Both also hold the values, so that their ids can't be reused in the meantime.
        self._owned: dict[int, object] = {}
        self._origins: dict[int, object] = {}

    def writing(self) -> None:
        """Raise if this is a view, which can't be changed."""
        if not self.writable:
            raise read_only()

    def own(self, value: object) -> object:
        """Take a value that the user puts into a draft; they may keep changing it."""
        if type(value) in ATOMS:
            return value
        if isinstance(value, Draft):
            if value.__callboard__.scope is self:
                return value
            # From a view or an earlier draft: here, it is a value like any other.
            value = copy.deepcopy(value)
        self._owned[id(value)] = value
        return value

    def owns(self, value: object) -> bool:
        """Whether a value in a draft may be returned as it is."""
        return isinstance(value, Draft) or id(value) in self._owned

    def copied(self, origin: object) -> object:
        """Make a private copy of a live value that has no drafts."""
        value = copy.deepcopy(origin)
        if value is not origin:
            self._owned[id(value)] = value
            self._origins[id(value)] = origin
        return value

    def source(self, value: object) -> object:
        """The live value that a draft or private copy was made from; otherwise the value itself."""
        if isinstance(value, Draft):
            return value.__callboard__.origin
        return self._origins.get(id(value), value)


class Home:
    """Where a draft is made: in which run, at which path, and whether inside a list."""

    __slots__ = ("inside", "key", "parent", "scope")

    def __init__(
        self,
        scope: Scope,
        parent: "Core[Any, Any] | None" = None,
        key: str | int = "",
        inside: bool = False,
    ) -> None:
        self.scope = scope
        self.parent = parent
        self.key = key
        self.inside = inside


class Core(ABC, Generic[T, K]):
    """What a draft knows besides its contents: the live value, and what was touched since."""

    __slots__ = ("home", "origin", "scope", "touched")

    def __init__(self, origin: T, home: Home) -> None:
        self.origin = origin
        self.home = home
        self.scope = home.scope
        self.touched: dict[K, None] = {}

    @abstractmethod
    def settle(self, draft: T, path: str, patches: list[Patch]) -> object:
        """Append the patches for what was changed, and return the new live value."""

    def path(self) -> str:
        """Where the draft was when it was made, for messages."""
        home = self.home
        return pointer.join(home.parent.path(), home.key) if home.parent else ""


class Draft:
    """A real list, dict or object of the user's class that keeps track of changes."""

    __slots__ = ()
    __callboard__: Any
    """Its core."""


def settle(
    kind: Kind, before: object, now: object, path: str, inside: bool, patches: list[Patch]
) -> object:
    """Append the patches for one place, and return its new live value."""
    if now is before:
        return before
    if isinstance(now, Draft) and now.__callboard__.origin is before:
        return now.__callboard__.settle(now, path, patches)
    live, wire = kind.renew(now, path, inside)
    mark = len(patches)
    compare(kind.wire(before), wire, path, patches)
    return live if len(patches) > mark else before


def read_only() -> StateError:
    """The error for changing a read-only state."""
    return StateError(
        "This is part of the live state and read-only. Change the draft that `update` gets, "
        "or a copy.deepcopy of this."
    )
