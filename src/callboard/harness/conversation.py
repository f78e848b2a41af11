"""What was said in an agent's session, and whether the person confirmed a decision in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callboard.errors import CallboardError
from callboard.harness.confirmation import Call, Observation, answered_by, approved_on_board
from callboard.harness.confirmation_hook import fingerprint
from callboard.harness.ports import Desk
from callboard.vendors.claude import launching
from callboard.vendors.claude.extraction import Spoken, spoken
from callboard.vendors.fields import word


@dataclass(frozen=True, slots=True)
class Evidence:
    """What shows who confirmed a decision in a client's session."""

    session: str
    seen: Sequence[Observation]
    said: Sequence[Spoken]


def said_in(session: str, after: int = 0) -> list[Spoken]:
    """The conversation of a client's session. after: so much of it was said before ours."""
    path = launching.transcript_of(session)
    return [] if path is None else spoken(path, launching.TOOL)[after:]


async def is_confirmed(desk: Desk, decision: Mapping[str, Any], evidence: Evidence) -> bool:
    """Whether a person allowed the call that submitted it: in the client's dialog or on the board.

    decision: as it is kept, with the client's id of the call. A kept decision alone proves nothing:
    every program that runs as the person can write the file.
    """
    call = word(decision.get("call"))
    if call is None:
        return False
    arguments = {"decision": decision["decision"]}
    made = Call(evidence.session, call, fingerprint(arguments))
    who = answered_by(made, evidence.seen, evidence.said)
    if who != "hook":
        return who == "person"
    try:
        asked = await desk.find(session_id=evidence.session, type="permission")
    except CallboardError:
        return False  # The person is asked instead.
    return approved_on_board(arguments, asked, evidence.said)
