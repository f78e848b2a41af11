"""Changing a state: drafts for those who change it, views for those who only read it.

A draft is a real object of the user's type that copies a container when it is first reached, so
that a change costs what it touches, and not what the state weighs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from callboard.drafts.kind import Home, Scope, settle
from callboard.drafts.patch import Patch
from callboard.drafts.shape import StateType


@dataclass(frozen=True, slots=True)
class Changed:
    """What came of a change."""

    live: object
    """The state after it; what was not touched is shared with the state before."""
    patches: list[Patch]
    """The same change as JSON Patch on the wire form; empty when nothing has changed."""
    result: object
    """What the function returned."""


def change(state_type: StateType, live: object, function: Callable[..., object]) -> Changed:
    """Run a function on a draft of a live state, which itself stays as it is.

    What the function assigns to a field is checked at once, what it puts into lists and dicts
    at the end; both raise StateInvalid or StateNotSerializable, with the path. If the function
    raises, its exception passes, and nothing has happened. A draft that it keeps is worthless
    afterwards, but harmless.
    """
    draft = state_type.kind.draft(live, Home(Scope(writable=True)))
    result = function(draft)
    patches: list[Patch] = []
    after = settle(state_type.kind, live, draft, "", False, patches)
    return Changed(after, patches, result)


def view(state_type: StateType, live: object) -> object:
    """Lend a live state to someone who only reads it.

    It behaves as the user's type. Assigning a field, and changing a list or a dict, is refused
    with StateError. What else can be changed in place, such as a set, is a private copy, and
    so is what C code changes past a list's methods, as heapq does.
    """
    return state_type.kind.draft(live, Home(Scope(writable=False)))
