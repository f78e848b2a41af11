"""The conversation in an agent's session, and whether the person confirmed a decision in it."""

from collections.abc import Sequence

from callboard.board.question_protocols import Questions
from callboard.errors import CallboardError
from callboard.harness.confirmation import (
    DecisionCall,
    HookObservation,
    KeptDecision,
    answered_by,
    approved_on_board,
)
from callboard.harness.confirmation_hook import fingerprint
from callboard.vendors.claude import launching
from callboard.vendors.claude.extraction import Spoken, spoken


def said_in(session: str, after: int = 0) -> list[Spoken]:
    """The conversation of a client's session. after: skip this many earlier messages."""
    path = launching.transcript_of(session)
    return [] if path is None else spoken(path, launching.TOOL)[after:]


async def is_confirmed(
    desk: Questions,
    decision: KeptDecision,
    session: str,
    seen: Sequence[HookObservation],
    said: Sequence[Spoken],
) -> bool:
    """Whether a person allowed the call that submitted it, in the client's dialog or on the board.

    seen, said: what the hooks observed in the client's session, and its conversation.
    A kept decision alone proves nothing, because any program that runs as the person can write it.
    """
    call = decision["call"]
    if call is None:
        return False
    arguments = {"decision": decision["decision"]}
    who = answered_by(DecisionCall(session, call, fingerprint(arguments)), seen, said)
    if who != "hook":
        return who == "person"
    try:
        asked = await desk.find(session_id=session, type="permission")
    except CallboardError:
        return False  # The person is asked instead.
    return approved_on_board(arguments, asked, said)
