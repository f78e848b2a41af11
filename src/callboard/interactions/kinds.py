"""The types of questions, and how each is answered. The one table to add a type to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Manner = Literal["verdict", "option", "text", "outcome", "ruling", "answers"]
"""Yes or no; one of the options; any text; no answer at all, but an end to something longer; yes
or no with a word to the coding agent that asks; or answers to several questions at once."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a type of question is answered.

    status_tells: the verdict is the row's status too (`approved`, `rejected`), and not only in
        its response. So it is with confirmations, which are older than responses.
    from_board: a coding agent asks it, through a hook; nobody else can.
    remark: what a ruling calls the word to the agent.
    """

    manner: Manner
    status_tells: bool = False
    from_board: bool = False
    remark: str = "message"


KINDS: Final[Mapping[str, Kind]] = {
    "approval": Kind("verdict"),
    "choice": Kind("option"),
    "confirmation": Kind("verdict", status_tells=True),
    "select": Kind("option"),
    "input": Kind("text"),
    "interactive_session": Kind("outcome"),
    "permission": Kind("ruling", from_board=True),
    "plan": Kind("ruling", from_board=True, remark="feedback"),
    "question": Kind("answers", from_board=True),
}


WHOLE: Final[frozenset[Manner]] = frozenset({"outcome", "ruling", "answers"})
"""Manners in which what was answered is the response itself, and not one part of it."""


def is_from_board(type: str) -> bool:
    """Whether only a coding agent asks such questions."""
    kind = KINDS.get(type)
    return kind is not None and kind.from_board


def manner_of(type: str) -> Manner:
    """How a type is answered; one that is not known here can only be completed."""
    kind = KINDS.get(type)
    return kind.manner if kind else "outcome"
