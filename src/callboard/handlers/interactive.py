"""An interactive session, put to people who only know yes, no and choices."""

from dataclasses import replace
from typing import Any

from callboard.engine.ports import NoAnswer, Request
from callboard.interactions.outcomes import form_of


def plainly(request: Request) -> Request:
    """The approval or choice that asks the same; NoAnswer when there is none."""
    schema = schema_of(request)
    match form_of(schema):
        case "approval":
            return replace(request, options=None)
        case "selection":
            return replace(request, options=list(schema["options"]), other=False)
        case _:
            raise NoAnswer


def schema_of(request: Request) -> Any:
    """What kind of decision is wanted; None when any will do."""
    return (request.config or {}).get("outcomeSchema")
