"""A person's version of what a tool was to run with, sent along with a yes."""

from collections.abc import Mapping
from typing import Final

from callboard.errors import AnswerInvalid
from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object, is_list, is_object

EDITED: Final = "updatedInput"
"""The member of a response that has it."""
EDITABLE: Final = "editable"
"""The member of a question's config that says whether the agent runs an edited call."""
LARGEST: Final = 131_072
"""Bytes of an edited input."""

_FIELD: Final = f"value.{EDITED}"


def edited_input(config: Object | None, given: object) -> dict[str, Json] | None:
    """The edited input if it is valid; None if it is the one that the agent asked with."""
    known = config or {}
    if known.get(EDITABLE) is not True:
        raise AnswerInvalid(
            f"{_FIELD}: this agent can't run an edited call, or its input was too long to store. "
            "Answer without it.",
            field=_FIELD,
        )
    # Relays read the rest of this module, and don't have what this needs.
    from callboard.interactions.fields import as_json

    edited = as_json(given, _FIELD)
    if not is_object(edited):
        raise AnswerInvalid(f"{_FIELD} must be an object.", field=_FIELD)
    original = as_object(known.get("toolInput"))
    if not edited and original:
        # Claude Code takes an empty input for none, and runs what was asked.
        raise AnswerInvalid(
            f"{_FIELD} must not be empty: the agent would run its own input.", field=_FIELD
        )
    if len(dump_json(edited)) > LARGEST:
        raise AnswerInvalid(f"{_FIELD} must not be larger than {LARGEST // 1024} KB.", field=_FIELD)
    for key, value in edited.items():
        _check_type(key, value, original)
    return None if edited == original else dict(edited)


def original_input(config: Json) -> Json:
    """What the agent asked to run with."""
    return as_object(config).get("toolInput")


def edited_of(response: Json) -> dict[str, Json] | None:
    """The edited input of an answer; None if it has none."""
    edited = as_object(response).get(EDITED)
    return dict(edited) if is_object(edited) else None


def _check_type(key: str, value: Json, original: Object) -> None:
    if key not in original or original[key] is None:
        return
    wanted, kind = _kind(original[key]), _kind(value)
    if kind != wanted:
        raise AnswerInvalid(
            f"{_FIELD}.{key} must be {wanted}, as the agent sent it, not {kind}.",
            field=f"{_FIELD}.{key}",
        )


def _kind(value: Json) -> str:
    if is_object(value):
        return "an object"
    if is_list(value):
        return "a list"
    return _KINDS.get(type(value), "null")


_KINDS: Final[Mapping[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}
