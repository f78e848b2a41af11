"""Find out from what was observed whether the person confirmed a decision in the client's dialog.

Three things must agree about the same call. Our hooks saw the client propose it and then open its
dialog for it. The transcript says that it was allowed, and by whom. The arguments are the same in
all of them, compared by a fingerprint. Each confirmation counts once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypedDict

import orjson

from callboard.events.envelope import Json
from callboard.events.json_values import as_object
from callboard.harness.confirmation_hook import fingerprint
from callboard.interactions.records import Interaction
from callboard.vendors.claude.extraction import Spoken
from callboard.vendors.claude.launching import TOOL

AllowedBy = Literal["person", "hook"]
_ALLOWED_BY: Final[Mapping[str, AllowedBy]] = {"terminal": "person", "hook": "hook"}


@dataclass(frozen=True, slots=True)
class DecisionCall:
    """A call of `submit_decision`. id: the client's own. arguments: their fingerprint."""

    session: str
    id: str
    arguments: str


class KeptDecision(TypedDict):
    """A submitted decision, and the client's id of the call."""

    decision: Json
    call: str | None


@dataclass(frozen=True, slots=True)
class HookObservation:
    """What a hook or the tool observed.

    proposed: the model made this call, and the client hasn't asked the person yet.
    asked: the client opened its dialog, without saying for which call.
    submitted: the tool counted the call.
    """

    event: Literal["proposed", "asked", "submitted"]
    arguments: str
    session: str
    prompt: str | None = None
    call: str | None = None


def was_proposed(seen: Sequence[HookObservation], call: DecisionCall) -> bool:
    """Whether the client was about to make exactly this call. The first use of an id counts."""
    first = next((one for one in seen if one.event == "proposed" and one.call == call.id), None)
    return first is not None and (first.session, first.arguments) == (call.session, call.arguments)


def was_asked(seen: Sequence[HookObservation], call: DecisionCall) -> bool:
    """Whether the client opened its dialog for exactly this call.

    A dialog belongs to the latest proposal before it with the same session, prompt and arguments.
    """
    known: set[str] = set()
    asked: set[str] = set()
    unasked: dict[object, list[str]] = {}
    for one in seen:
        about = (one.session, one.prompt, one.arguments)
        if one.event == "proposed" and one.call is not None and one.call not in known:
            known.add(one.call)
            unasked.setdefault(about, []).append(one.call)
        elif one.event == "asked" and unasked.get(about):
            asked.add(unasked[about].pop())
    return call.id in asked and was_proposed(seen, call)


def is_used(seen: Sequence[HookObservation], call: DecisionCall) -> bool:
    """Whether the tool has counted this call before."""
    return any(one.event == "submitted" and one.call == call.id for one in seen)


def answered_by(
    call: DecisionCall, seen: Sequence[HookObservation], said: Sequence[Spoken]
) -> AllowedBy | None:
    """Who allowed the call in its dialog; None if nothing shows that the dialog was answered.

    Only the last executed decision counts, because it replaced any earlier one.
    """
    accepted = [one for one in said if one.kind == "accepted"]
    if not accepted or accepted[-1].use != call.id or not was_asked(seen, call):
        return None
    if fingerprint(orjson.loads(accepted[-1].text)) != call.arguments:
        return None
    return _ALLOWED_BY.get(accepted[-1].via or "")


def approved_on_board(
    arguments: Json, questions: Sequence[Interaction], said: Sequence[Spoken]
) -> bool:
    """Whether people approved on the board each call with these arguments that a hook allowed.

    The board answers through a hook, but so can programs that never asked a person.
    questions: what the client's session asked on the board.
    """
    approvals = [one for one in questions if _is_approval(one, arguments)]
    wanted = fingerprint(arguments)
    by_hook = [
        one
        for one in said
        if one.kind == "accepted"
        and one.via == "hook"
        and fingerprint(orjson.loads(one.text)) == wanted
    ]
    return len(approvals) >= len(by_hook)


def _is_approval(question: Interaction, arguments: Json) -> bool:
    """Whether it was answered here. An outcome alone may come from any hook."""
    config = as_object(question.config)
    return (
        config.get("toolName") == TOOL
        and config.get("truncated") is not True
        and config.get("toolInput") == arguments
        and question.accepted is not None
        and as_object(question.for_agent).get("approved") is True
    )
