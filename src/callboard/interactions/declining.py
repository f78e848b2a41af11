"""Declining a question, with a message: what that means for each type."""

from collections.abc import Mapping
from typing import Any, cast

from callboard.errors import ValidationError
from callboard.interactions.kinds import KINDS, manner_of
from callboard.interactions.outcomes import Completion, form_of
from callboard.interactions.records import Interaction


def declined(asked: Interaction, message: str | None) -> dict[str, Any] | Completion:
    """What declines the question: an answer, or the end of an interactive session.

    A choice or a text that a workflow waits for cannot be declined: it would have no value to
    continue with. ValidationError says what to do instead.
    """
    match manner_of(asked.type):
        case "verdict" | "ruling" | "answers":
            said = {} if message is None else {KINDS[asked.type].remark: message}
            return {"approved": False, **said}
        case "outcome":
            schema = cast("Mapping[str, Any]", asked.config or {}).get("outcomeSchema")
            how = "rejected" if form_of(schema) == "approval" else "cancelled"
            return Completion(how, error=message)
        case _ if asked.awaited:
            raise _needed(asked)
        case _:
            return Completion("cancelled", error=message)


def _needed(asked: Interaction) -> ValidationError:
    instead = "Answer in your own words" if asked.other or not asked.options else "Choose one"
    return ValidationError(
        f"Question {asked.id} cannot be declined: its workflow needs an answer to continue. "
        f"{instead}, or end the session: callboard cancel {asked.session_id}",
        interaction_id=asked.id,
        session_id=asked.session_id,
    )
