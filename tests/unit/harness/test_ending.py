"""How a session ended, where something was submitted in it."""

from dataclasses import replace

import pytest

from callboard.harness.ending import Course, SessionEnding, judged
from callboard.harness.pty import Exit
from callboard.vendors.claude.extraction import Spoken
from callboard.vendors.claude.launching import TOOL

APPROVAL = {"outcomeSchema": {"type": "approval"}}
YES = {"decision": "approved", "call": "t1"}
LATER_NO = {"decision": "rejected", "call": "t2"}
CONFIRMED = SessionEnding("completed", "approved")
SAID = [
    Spoken("person", "Look."),
    Spoken("call", "{}", TOOL, "t1"),
    Spoken("call", "{}", TOOL, "t2"),
]
LEFT = Course(Exit(0), 60.0, None, SAID)


def ending(course: Course) -> SessionEnding | None:
    return judged(course, "Look.", APPROVAL)


def test_what_the_person_confirmed_is_recorded():
    assert ending(replace(LEFT, decision=YES, confirmed=True)) == CONFIRMED


@pytest.mark.parametrize("course", [replace(LEFT, decision=YES), replace(LEFT, proposal=YES)])
def test_what_they_did_not_confirm_is_put_to_them(course: Course):
    assert ending(course) == SessionEnding("completed", "approved", unsure="unconfirmed")


@pytest.mark.parametrize(
    ("cut", "outcome"), [("timeout", "timeout"), ("closed", "cancelled"), ("stopped", None)]
)
@pytest.mark.parametrize("course", [replace(LEFT, decision=YES), replace(LEFT, proposal=YES)])
def test_where_they_cannot_be_asked_it_is_not_recorded(course: Course, cut, outcome):
    found = ending(replace(course, cut=cut))
    assert (None if found is None else found.outcome) == outcome


def test_a_later_decision_without_confirmation_does_not_replace_one_with_it():
    both = replace(LEFT, decision=YES, confirmed=True, proposal=LATER_NO)
    asked = SessionEnding("completed", "rejected", unsure="unconfirmed", otherwise=CONFIRMED)
    assert ending(both) == asked
    assert ending(replace(both, cut="closed")) == CONFIRMED


TALKED = [
    Spoken("person", "Look."),
    Spoken("agent", "Two indexes are missing."),
    Spoken("call", "{}", "Bash", "t3"),
    Spoken("person", "Thanks."),
]


def test_without_a_schema_the_last_response_is_put_to_them():
    left = replace(LEFT, said=TALKED)
    asked = SessionEnding("completed", "Two indexes are missing.", unsure="last")
    assert judged(left, "Look.", {}) == asked
    cut = judged(replace(left, cut="closed"), "Look.", {})
    assert cut is not None
    assert (cut.outcome, cut.response) == ("cancelled", None)
    assert judged(replace(left, exit=Exit(1)), "Look.", {}) != asked


@pytest.mark.parametrize(
    ("said", "config"),
    [
        (TALKED, APPROVAL),
        (TALKED, {"outcomeSchema": {"type": "freeform"}}),
        ([Spoken("person", "Look.")], {}),
        ([*TALKED, Spoken("refused", "", TOOL)], {}),
    ],
    ids=["another form", "a text that is to be submitted", "no response", "refused"],
)
def test_no_other_words_are_taken_for_a_response(said: list[Spoken], config: dict[str, object]):
    assert judged(replace(LEFT, said=said), "Look.", config) == SessionEnding("cancelled")


def test_what_they_refused_when_asked_again_is_not_put_to_them_once_more():
    refused = [*SAID, Spoken("refused", "", TOOL)]
    both = replace(LEFT, decision=YES, confirmed=True, proposal=LATER_NO, said=refused)
    assert ending(both) == CONFIRMED
    assert ending(replace(LEFT, proposal=LATER_NO, said=refused)) == SessionEnding("cancelled")
    before = [Spoken("refused", "", TOOL), *SAID]
    asked = ending(replace(LEFT, proposal=LATER_NO, said=before))
    assert asked == SessionEnding("completed", "rejected", unsure="unconfirmed")
