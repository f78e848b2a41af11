"""The format of a decision as the tool `submit_decision` takes it, and whether one fits."""

from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, is_list, is_mapping
from callboard.interactions import outcomes
from callboard.interactions.records import Interaction
from callboard.interactions.schema.checking import verified

_HERE: Final = "#/properties/decision"
_VALUES: Final = frozenset({"const", "default", "enum", "examples"})


def form_of(config: Object) -> outcomes.Form:
    """The form of the decision; without a schema, any text will do."""
    schema = config.get("outcomeSchema")
    # The config may have a JSON Schema instead of a form.
    return "freeform" if schema is None else outcomes.form_of(schema) or "structured"


def options_of(config: Object) -> list[str]:
    """The options to select from."""
    return [str(one) for one in as_list(as_object(config.get("outcomeSchema")).get("options"))]


def decision_schema(config: Object) -> Json:
    """The JSON Schema of the decision itself."""
    form = form_of(config)
    if form == "structured":
        return outcomes.json_schema_of(config.get("outcomeSchema"))
    allowed = {"approval": list(outcomes.VERDICTS), "selection": options_of(config)}.get(form)
    return {"type": "string"} if allowed is None else {"type": "string", "enum": allowed}


def tool_schema(config: Object) -> dict[str, Json]:
    """The input of `submit_decision`: always an object."""
    return {
        "type": "object",
        "properties": {"decision": _moved(decision_schema(config))},
        "required": ["decision"],
        "additionalProperties": False,
    }


async def check_decision(asked: Interaction, decision: Json) -> None:
    """Raise a ValidationError if the decision can't be recorded."""
    ended = outcomes.completion_event(asked, outcomes.Completion("completed", decision), {})
    await verified(outcomes.check_of_event(asked.config, ended))


def _moved(schema: Json) -> Json:
    """A schema nested in another, with its references adjusted."""
    if is_list(schema):
        return [_moved(one) for one in schema]
    if not is_mapping(schema):
        return schema
    return {key: _member(key, value) for key, value in schema.items()}


def _member(key: str, value: Json) -> Json:
    if key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
        return _HERE + value[1:]
    return value if key in _VALUES else _moved(value)
