"""What a coding agent did about a request, as its own behavior and files show it."""

from dataclasses import dataclass
from typing import Final

from callboard.events.envelope import Json
from callboard.events.json_values import Object
from callboard.events.payloads.people import Source
from callboard.events.payloads.plates import OutcomeKind

TERMINAL: Final = "terminal"
"""`via` of what was decided in the agent's own dialog."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the client did about a request.

    via: where it was decided: `terminal`, or `hook` for a hook; None if unknown.
    answers: the answers to a question. message: what the person wrote with a no.
    source: the evidence: `hook`, `transcript`, `registry`, or `silence`.
    ran: what the tool ran with, if the client reported that.
    """

    kind: OutcomeKind
    via: str | None = None
    answers: Object | None = None
    message: str | None = None
    source: Source = "hook"
    ran: Json = None
