"""The types of questions, and how each is answered. The one table to add a type to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Manner = Literal["verdict", "option", "text", "outcome"]
"""Yes or no; one of the options; any text; or no answer at all, but an end to something longer."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a type of question is answered.

    status_tells: the verdict is the row's status too (`approved`, `rejected`), and not only in
        its response. So it is with confirmations, which are older than responses.
    """

    manner: Manner
    status_tells: bool = False


KINDS: Final[Mapping[str, Kind]] = {
    "approval": Kind("verdict"),
    "choice": Kind("option"),
    "confirmation": Kind("verdict", status_tells=True),
    "select": Kind("option"),
    "input": Kind("text"),
    "interactive_session": Kind("outcome"),
}


def manner_of(type: str) -> Manner:
    """How a type is answered; one that is not known here can only be completed."""
    kind = KINDS.get(type)
    return kind.manner if kind else "outcome"
