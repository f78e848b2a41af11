"""An interactive session, put to people who only know yes, no and choices."""

from dataclasses import replace

from callboard.engine.ports import NoAnswer, Request
from callboard.events.envelope import Json
from callboard.events.json_values import as_list, as_object
from callboard.interactions.outcomes import form_of


def plainly(request: Request) -> Request:
    """The approval or choice that asks the same; NoAnswer when there is none."""
    schema = schema_of(request)
    match form_of(schema):
        case "approval":
            return replace(request, options=None)
        case "selection":
            return replace(request, options=choices_of(schema), other=False)
        case _:
            raise NoAnswer


def choices_of(schema: Json) -> list[str]:
    """What can be selected."""
    return list(map(str, as_list(as_object(schema).get("options"))))


def schema_of(request: Request) -> Json:
    """What kind of decision is wanted; None when any will do."""
    return (request.config or {}).get("outcomeSchema")
