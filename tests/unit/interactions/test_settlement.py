"""What became of an answer: which event records it, and which receipt it gets."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interactions import interaction

from callboard.events import names
from callboard.events.event_name import Entry
from callboard.events.payloads.plates import OutcomeKind
from callboard.interactions.evidenced import Outcome
from callboard.interactions.records import Interaction
from callboard.interactions.settlement import agrees, settle

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
YES, NO = {"approved": True}, {"approved": False, "message": "use mkdir"}


def question(type: str = "permission", **more: Any) -> Interaction:
    return interaction(type=type, **more)


def accepted(answer: Any, type: str = "permission", **more: Any) -> Interaction:
    told = {"accepted": answer, "receipt": "pending", "answered_by": "ada", "via": "http", **more}
    return question(type, **told)


def settled(asked: Interaction, outcome: Outcome) -> Entry:
    told = settle(asked.id, asked.type, asked, outcome)
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("answer", "outcome", "receipt", "response"),
    [
        (YES, Outcome("allowed"), "delivered", YES),
        (YES, Outcome("allowed", via="terminal"), "delivered", YES),
        (YES, Outcome("denied", via="terminal"), "overruled", {"approved": False}),
        (YES, Outcome("dismissed", via="terminal"), "overruled", None),
        (YES, Outcome("presumed"), "delivered", YES),
        (YES, Outcome("lost"), "lost", None),
        (NO, Outcome("denied", via="hook"), "delivered", NO),
        (NO, Outcome("allowed", via="terminal"), "overruled", YES),
        (NO, Outcome("denied", via="terminal", message="no"), "overruled", None),
        ({**YES, "always": True}, Outcome("allowed", via="terminal"), "overruled", YES),
    ],
)
def test_the_receipt_of_an_answer(answer: Any, outcome: Outcome, receipt: str, response: Any):
    if outcome.message is not None:
        response = {"approved": False, "message": outcome.message}
    name, payload = settled(accepted(answer), outcome)
    assert payload["receipt"] == receipt
    assert payload.get("value") == response
    assert name == (names.INPUT_CANCELLED if response is None else names.RECEIVED)


def test_without_an_answer_here_the_terminal_decided():
    name, payload = settled(question(), Outcome("allowed"))
    assert (name, payload["value"], payload["via"]) == (names.RECEIVED, YES, "terminal")
    assert "receipt" not in payload


def test_an_outcome_that_nothing_shows_leaves_an_answer_pending():
    assert settle("q1", "permission", accepted(YES), Outcome("unknown")) is None


def test_a_dialog_that_is_gone_for_no_known_reason_was_dismissed():
    name, _ = settled(question(), Outcome("unknown"))
    assert name == names.INPUT_CANCELLED


def test_later_evidence_corrects_what_was_recorded():
    before = question(status="cancelled", via="terminal", resolved_at=NOON)
    name, payload = settled(before, Outcome("allowed", via="terminal", source="transcript"))
    assert (name, payload["status"], payload["response"]) == (names.CORRECTED, "completed", YES)
    assert payload["source"] == "transcript"


def test_the_same_evidence_again_corrects_nothing():
    before = question(status="completed", response=YES, via="terminal", resolved_at=NOON)
    assert settle("q1", "permission", before, Outcome("allowed", via="terminal")) is None


def test_answers_of_a_question_are_compared_as_the_agent_joins_them():
    answer = {"answers": {"Which days?": ["Monday", "Friday"]}}
    assert agrees("question", answer, Outcome("allowed", answers={"Which days?": "Monday, Friday"}))
    assert not agrees("question", answer, Outcome("allowed", answers={"Which days?": "Monday"}))


kinds = st.sampled_from(OutcomeKind.__args__)
outcomes = st.builds(
    Outcome,
    kind=kinds,
    via=st.sampled_from([None, "terminal", "hook"]),
    message=st.sampled_from([None, "use mkdir", "later"]),
)
answers = st.sampled_from([YES, NO, {"approved": False}, {**YES, "always": True}])
questions = st.one_of(
    st.builds(question), st.builds(accepted, answers), st.builds(accepted, answers)
)


@given(questions, st.lists(outcomes, min_size=1, max_size=6))
def test_the_last_evidence_wins_whatever_was_recorded_before(
    asked: Interaction, shown: list[Outcome]
):
    for outcome in shown:
        asked = _recorded(asked, settle(asked.id, asked.type, asked, outcome))
    known = [one for one in shown if one.kind != "unknown"]
    if not known:
        return
    last = known[-1]
    assert asked.status != "pending"
    assert asked.receipt != "pending"
    if last.kind in ("allowed", "denied"):
        assert asked.status == "completed"
        assert asked.response["approved"] is (last.kind == "allowed")
    if last.kind in ("dismissed", "lost"):
        assert (asked.status, asked.response) == ("cancelled", None)


def _recorded(asked: Interaction, told: Entry | None) -> Interaction:
    """The question after an event, as its row would be."""
    if told is None:
        return asked
    name, payload = told
    ends: dict[str, str] = {names.RECEIVED: "completed", names.INPUT_CANCELLED: "cancelled"}
    status = ends.get(name)
    response = payload.get("response") if name == names.CORRECTED else payload.get("value")
    return replace(
        asked,
        status=status or payload["status"],
        response=response,
        via=payload.get("via"),
        receipt=payload.get("receipt"),
        resolved_at=NOON,
    )
