"""What became of a message to a coding agent, as a line for people."""

from collections.abc import Mapping
from typing import Final

from callboard.display.lines import visible
from callboard.vendors.steering import Reach, When

COMMANDS: Final = ("/", "!")
"""How a prompt starts that a client would run as a command."""
NOT_ITS_PERSON: Final = "The agent gets it as a message from the board, not as typed by its user."
_USUALLY: Final[Mapping[When, str]] = {
    "now": "Delivered at the agent's next step.",
    "after_turn": "Delivered when the agent has finished its turn.",
}
_SAID: Final[Mapping[str, str]] = {
    "queued": "Queued",
    "handed": "Sent; nothing shows yet that it arrived",
    "held": "Waiting for the person at its terminal to accept it",
    "delivered": "Delivered",
    "seen": "Seen by the model",
    "withdrawn": "Withdrawn",
    "lost": "Lost",
}


def message_receipt(status: str, note: str | None = None) -> str:
    """The receipt of a message, with the reason if there is one."""
    said = _SAID.get(status, status)
    return f"{said}. {note}" if note and status != "held" else f"{said}."


def command_note(text: str) -> str | None:
    """What to know about a message that looks like a command; None if it doesn't."""
    if not text.lstrip().startswith(COMMANDS):
        return None
    return "It is sent as text: the agent doesn't run it as a command."


def how_delivered(reach: Reach, when: When, *, idle: bool) -> str:
    """How and when a message would be delivered if it were written now."""
    if reach.way is None:
        why = visible(reach.note) if reach.note else "The agent can't be reached now."
        return f"{why} A message stays queued until it can be delivered."
    usual = "Delivered right away." if idle else _USUALLY[when]
    said = visible(reach.note) if reach.note else usual
    return said if reach.authority else f"{said} {NOT_ITS_PERSON}"
