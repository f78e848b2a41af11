"""Turns interactive sessions into questions for handlers that know only approvals and choices."""

from dataclasses import replace

from callboard.engine.ports import NoAnswer, Request
from callboard.events.envelope import Json
from callboard.events.json_values import as_list, as_object
from callboard.interactions.outcomes import form_of


def plainly(request: Request) -> Request:
    """The approval or choice that asks the same thing; NoAnswer if there is no such question."""
    schema = schema_of(request)
    match form_of(schema):
        case "approval":
            return replace(request, options=None)
        case "selection":
            return replace(request, options=choices_of(schema), other=False)
        case _:
            raise NoAnswer


def choices_of(schema: Json) -> list[str]:
    """The options to choose from."""
    return list(map(str, as_list(as_object(schema).get("options"))))


def schema_of(request: Request) -> Json:
    """The schema of the expected decision; None if any will do."""
    return (request.config or {}).get("outcomeSchema")
