"""What became of a message to a coding agent, as a line for people."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final = ("/", "!")
"""How a prompt starts that a client would run as a command."""
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


def as_text(text: str) -> str | None:
    """What to know about a message that looks like a command; None if it doesn't."""
    if not text.lstrip().startswith(COMMANDS):
        return None
    return "It is sent as text: the agent doesn't run it as a command."
