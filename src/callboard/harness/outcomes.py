"""What a decision looks like: as the tool `submit_decision` takes it, and whether one fits."""

from collections.abc import Mapping
from typing import Any, Final, Literal, cast, get_args

from callboard.interactions.outcomes import Completion, check_of_event, completion_event
from callboard.interactions.records import Interaction
from callboard.interactions.schema_checking import verified
from callboard.vendors.fields import as_list, as_object

Form = Literal["approval", "selection", "freeform", "structured"]

APPROVED: Final = "approved"
REJECTED: Final = "rejected"

_FORMS: Final = frozenset[object](get_args(Form))
_HERE: Final = "#/properties/decision"
_VALUES: Final = frozenset({"const", "default", "enum", "examples"})


def form_of(config: Mapping[str, Any]) -> Form:
    """Which form the decision has; without a schema any text will do."""
    schema = config.get("outcomeSchema")
    if schema is None:
        return "freeform"
    word = as_object(schema).get("type")
    # A JSON Schema may stand in the place of a form.
    return cast("Form", word) if word in _FORMS else "structured"


def options_of(config: Mapping[str, Any]) -> list[str]:
    """What can be selected."""
    return [str(one) for one in as_list(as_object(config.get("outcomeSchema")).get("options"))]


def decision_schema(config: Mapping[str, Any]) -> Any:
    """The JSON Schema of the decision itself."""
    schema = as_object(config.get("outcomeSchema"))
    match form_of(config):
        case "approval":
            return {"type": "string", "enum": [APPROVED, REJECTED]}
        case "selection":
            return {"type": "string", "enum": options_of(config)}
        case "freeform":
            return {"type": "string"}
        case "structured" if schema.get("type") == "structured":
            return schema.get("jsonSchema") or {"type": "object"}
        case "structured":
            return config.get("outcomeSchema")


def tool_schema(config: Mapping[str, Any]) -> dict[str, Any]:
    """The input of `submit_decision`: an object, whatever the decision is."""
    return {
        "type": "object",
        "properties": {"decision": _moved(decision_schema(config))},
        "required": ["decision"],
        "additionalProperties": False,
    }


async def check_decision(asked: Interaction, decision: Any) -> None:
    """Raise ValidationError, saying what is wrong, for what could not be recorded."""
    ended = completion_event(asked, Completion("completed", decision))
    await verified(check_of_event(asked.config, ended))


def _moved(schema: Any) -> Any:
    """A schema that stands inside another: its references are to where it stands now."""
    if isinstance(schema, list):
        return [_moved(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    return {key: _member(key, value) for key, value in cast("Mapping[str, Any]", schema).items()}


def _member(key: str, value: Any) -> Any:
    if key == "$ref" and isinstance(value, str) and (value == "#" or value.startswith("#/")):
        return _HERE + value[1:]
    return value if key in _VALUES else _moved(value)
