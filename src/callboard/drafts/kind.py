"""The seam between annotations and drafts: what a place in the state may hold, and who changes it.

Live state → draft → live state. A kind makes the draft of a live value and brings a new value
into the form that a reload would give it; a draft's core remembers what was touched, and
settles it at the end.
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
    """Whether no value of it can be changed in place."""
    untyped = False
    """Whether it says no more of its values than that they are JSON, or lists or dicts of JSON."""

    def parts(self) -> Iterable["Kind"]:
        """What it declares for the places inside its values."""
        return ()

    @cached_property
    def has_untyped(self) -> bool:
        """Whether some place inside is untyped, where pydantic lets pass what is not JSON."""
        return any(kind.untyped for kind in self.within())

    def within(self) -> Iterator["Kind"]:
        """All kinds that its values can be made of, itself first."""
        seen, waiting = set[Kind](), list[Kind]([self])
        while waiting:
            kind = waiting.pop()
            if kind not in seen:
                seen.add(kind)
                waiting.extend(kind.parts())
                yield kind

    @abstractmethod
    def draft(self, value: object, home: "Home") -> object:
        """Make what users get for a live value: a draft, a private copy, or itself if inert."""

    @abstractmethod
    def renew(self, value: object, path: str, inside: bool) -> tuple[object, Json]:
        """Return a user's value as a reload would give it, and as fresh JSON."""

    @abstractmethod
    def wire(self, value: object) -> Json:
        """Write a live value as JSON, for reading only: it may share with the value."""

    @abstractmethod
    def load(self, wire: Json, path: str) -> object:
        """Make a live value from JSON."""

    def prepare(self) -> None:  # noqa: B027 (most have nothing to find out)
        """Find out at once whether the annotation can be used."""

    def accept(self, value: object, path: str) -> object:
        """Check a value when it is assigned, and convert it where the annotation wants that."""
        return value

    def vet(self, value: object, path: str) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuse untyped parts that are no JSON, of a value that pydantic has checked."""

    def freeze(self, value: object, inside: bool) -> object:
        """Make read-only what is inside a list, of a value that was just loaded.

        Much C code reads the elements of a list draft past its methods, and may pass them on
        to users as they are: `Report(items=state.items)` does.
        """
        return value


class Scope:
    """One run of a user's function on a draft, or one view."""

    __slots__ = ("_origins", "_owned", "writable")

    def __init__(self, *, writable: bool) -> None:
        self.writable = writable
        # Both hold the values as well, so that no id is given to another meanwhile.
        self._owned: dict[int, object] = {}
        self._origins: dict[int, object] = {}

    def writing(self) -> None:
        """Refuse to change a view."""
        if not self.writable:
            raise read_only()

    def own(self, value: object) -> object:
        """Take a value that the user puts into a draft; it is theirs to change further."""
        if type(value) in ATOMS:
            return value
        if isinstance(value, Draft):
            if value.__callboard__.scope is self:
                return value
            # Of a view or an earlier draft: here it is a value like any other.
            value = copy.deepcopy(value)
        self._owned[id(value)] = value
        return value

    def owns(self, value: object) -> bool:
        """Whether a value in a draft may be handed out as it is."""
        return isinstance(value, Draft) or id(value) in self._owned

    def copied(self, origin: object) -> object:
        """Make a private copy of a live value that has no drafts."""
        value = copy.deepcopy(origin)
        if value is not origin:
            self._owned[id(value)] = value
            self._origins[id(value)] = origin
        return value

    def source(self, value: object) -> object:
        """The live value that a draft or private copy was made of; else the value itself."""
        if isinstance(value, Draft):
            return value.__callboard__.origin
        return self._origins.get(id(value), value)


class Home:
    """Where a draft is made: in which run, at what place, and whether inside a list."""

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
    """What a draft knows beside its contents: the live value, and what was touched since."""

    __slots__ = ("home", "origin", "scope", "touched")

    def __init__(self, origin: T, home: Home) -> None:
        self.origin = origin
        self.home = home
        self.scope = home.scope
        self.touched: dict[K, None] = {}

    @abstractmethod
    def settle(self, draft: T, path: str, patches: list[Patch]) -> object:
        """Append the patches for what was changed, and return the live value after it."""

    def path(self) -> str:
        """Where the draft was when it was made, for messages."""
        home = self.home
        return pointer.join(home.parent.path(), home.key) if home.parent else ""


class Draft:
    """A real list, dict or object of the user's class that remembers what was done to it."""

    __slots__ = ()
    __callboard__: Any
    """Its core."""


def settle(
    kind: Kind, before: object, now: object, path: str, inside: bool, patches: list[Patch]
) -> object:
    """Append the patches for one place, and return what is live there afterwards."""
    if now is before:
        return before
    if isinstance(now, Draft) and now.__callboard__.origin is before:
        return now.__callboard__.settle(now, path, patches)
    live, wire = kind.renew(now, path, inside)
    mark = len(patches)
    compare(kind.wire(before), wire, path, patches)
    return live if len(patches) > mark else before


def read_only() -> StateError:
    """The error for changing a state that is only lent."""
    return StateError(
        "This is a part of the live state, and read-only. Change the draft that `update` gets, "
        "or a copy.deepcopy of this."
    )
