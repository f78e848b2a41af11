"""A view's control part as JSON, so that folding can start at a checkpoint.

Everything except the state itself and what every event brings anyway.
"""

from dataclasses import fields
from functools import cache

from pydantic import TypeAdapter

from callboard.events.envelope import Json
from callboard.state.session import SessionView

_NOT_CONTROL = frozenset({"state", "session_id", "position", "updated_at"})


@cache
def _adapter() -> TypeAdapter[SessionView]:
    # Made when it is first used: most processes neither write nor read a checkpoint.
    return TypeAdapter(SessionView)


@cache
def _nothing() -> dict[str, Json]:
    return _adapter().dump_python(SessionView(), mode="json")


def control(view: SessionView) -> dict[str, Json]:
    """The view's control part as plain JSON, without default values."""
    dumped = _adapter().dump_python(view, mode="json", exclude=set(_NOT_CONTROL))
    nothing = _nothing()
    return {name: value for name, value in dumped.items() if value != nothing[name]}


def restore(view: SessionView, state: Json, saved: dict[str, Json]) -> None:
    """Set the view to a checkpoint's content."""
    kept = _adapter().validate_python({**saved, "state": state})
    for name in fields(SessionView):
        if name.name not in ("session_id", "position", "updated_at"):
            setattr(view, name.name, getattr(kept, name.name))
    view.open.rebuild(view.questions, view.visit)
