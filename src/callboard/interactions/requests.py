"""A question that somebody asks from outside any workflow, checked before it is put."""

from collections.abc import Mapping
from typing import Any

from callboard.errors import ValidationError
from callboard.interactions.fields import as_json, as_text, as_texts
from callboard.interactions.kinds import KINDS
from callboard.interactions.outcomes import check_schema


def request_payload(
    type: str, prompt: str, options: Any = None, config: Any = None
) -> dict[str, Any]:
    """What `input:requested` tells of the question; ValidationError names the field."""
    kind = KINDS.get(type)
    if kind is None or kind.from_board:
        known = ", ".join(name for name, one in KINDS.items() if not one.from_board)
        raise ValidationError(f"{type!r} is no type of question. Use {known}.", field="type")
    payload: dict[str, Any] = {"prompt": as_text(prompt, "prompt"), "type": type}
    if kind.manner == "option":
        payload["options"] = as_texts(options, "options")
    elif options is not None:
        raise ValidationError(
            f"options make no sense for {type!r}. Leave them out, or ask a choice.",
            field="options",
        )
    if config is not None:
        payload["config"] = _checked(config)
    return payload


def _checked(config: Any) -> dict[str, Any]:
    if not isinstance(config, Mapping):
        raise ValidationError("config must be an object.", field="config")
    recorded: dict[str, Any] = as_json(config, "config")
    check_schema(recorded)
    return recorded
