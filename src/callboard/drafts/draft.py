"""Changing a state: drafts for code that changes it, views for code that only reads it.

A draft is a real object of the user's type that copies a container when it is first accessed, so
that the cost of a change depends on what it touches, not on the size of the state.
"""

from collections.abc import Callable
from typing import NamedTuple

from callboard.drafts.kind import Home, Scope, settle
from callboard.drafts.patch import Patch
from callboard.drafts.shape import StateType


class Changed(NamedTuple):
    """The result of a change."""

    live: object
    """The state afterwards; what was not touched is shared with the state before."""
    patches: list[Patch]
    """The same change as JSON Patch on the wire form; empty if nothing changed."""
    result: object
    """What the function returned."""


def change(state_type: StateType, live: object, function: Callable[..., object]) -> Changed:
    """Run a function on a draft of a live state, which itself is not changed.

    What the function assigns to a field is checked right away, what it puts into lists and dicts at
    the end; both raise StateInvalid or StateNotSerializable, with the path. If the function raises,
    its exception passes through and nothing has changed. A draft that it keeps is useless
    afterwards, but harmless.
    """
    draft = state_type.kind.draft(live, Home(Scope(writable=True)))
    result = function(draft)
    patches: list[Patch] = []
    after = settle(state_type.kind, live, draft, "", False, patches)
    return Changed(after, patches, result)


def view(state_type: StateType, live: object) -> object:
    """Lend a live state to code that only reads it.

    It behaves like the user's type. Assigning a field or changing a list or a dict raises
    StateError. Other values that can be changed in place, such as sets, are private copies, and so
    is what C code changes past a list's methods, as heapq does.
    """
    return state_type.kind.draft(live, Home(Scope(writable=False)))
