"""A question that somebody asks from outside any workflow, checked before it is put."""

from typing import Any

from callboard.errors import ValidationError
from callboard.interactions.configs import KIND, as_object, checked_config
from callboard.interactions.fields import as_text, as_texts
from callboard.interactions.kinds import KINDS


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
        payload["config"] = checked_config(config) if type == KIND else as_object(config, "config")
    return payload
