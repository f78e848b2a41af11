"""How a question is answered on the board, where it can be."""

from typing import Any, Final

from callboard.interactions.configs import KIND, participants
from callboard.interactions.kinds import Manner, manner_of
from callboard.interactions.outcomes import form_of
from callboard.interactions.records import Interaction
from callboard.vendors.fields import as_object

_SIMPLE: Final[dict[str | None, Manner]] = {
    "approval": "verdict",
    "selection": "option",
    "freeform": "text",
}


def way_of(question: Interaction) -> Manner:
    """As its type says; an interactive session by the decision that it wants, if that is simple.

    What several people decide, and what has to fit a schema, is decided elsewhere.
    """
    manner = manner_of(question.type)
    if question.type != KIND or participants(question.config):
        return manner
    schema = _schema(question)
    return "text" if schema is None else _SIMPLE.get(form_of(schema), manner)


def attending(question: Interaction) -> str:
    """The command that decides a session together with an agent."""
    which = f" --session {question.session_id}" if question.session_id else ""
    return f"callboard attend{which}"


def _schema(question: Interaction) -> Any:
    return as_object(question.config).get("outcomeSchema")
