"""How a session ended, where something was submitted in it."""

from dataclasses import replace

import pytest

from callboard.harness.ending import Course, Ending, judged
from callboard.harness.passthrough import Exit
from callboard.vendors.claude.extraction import Spoken
from callboard.vendors.claude.launching import TOOL

APPROVAL = {"outcomeSchema": {"type": "approval"}}
YES = {"decision": "approved", "call": "t1"}
LATER_NO = {"decision": "rejected", "call": "t2"}
CONFIRMED = Ending("completed", "approved")
SAID = [
    Spoken("person", "Look."),
    Spoken("call", "{}", TOOL, "t1"),
    Spoken("call", "{}", TOOL, "t2"),
]
LEFT = Course(Exit(0), 60.0, None, SAID)


def ending(course: Course) -> Ending | None:
    return judged(course, "Look.", APPROVAL)


def test_what_the_person_confirmed_is_recorded():
    assert ending(replace(LEFT, decision=YES, confirmed=True)) == CONFIRMED


@pytest.mark.parametrize("course", [replace(LEFT, decision=YES), replace(LEFT, proposal=YES)])
def test_what_they_did_not_confirm_is_put_to_them(course: Course):
    assert ending(course) == Ending("completed", "approved", unsure="unconfirmed")


@pytest.mark.parametrize(
    ("cut", "outcome"), [("timeout", "timeout"), ("closed", "cancelled"), ("stopped", None)]
)
@pytest.mark.parametrize("course", [replace(LEFT, decision=YES), replace(LEFT, proposal=YES)])
def test_where_they_cannot_be_asked_it_is_not_recorded(course: Course, cut, outcome):
    found = ending(replace(course, cut=cut))
    assert (None if found is None else found.outcome) == outcome


def test_a_later_decision_without_confirmation_does_not_replace_one_with_it():
    both = replace(LEFT, decision=YES, confirmed=True, proposal=LATER_NO)
    asked = Ending("completed", "rejected", unsure="unconfirmed", otherwise=CONFIRMED)
    assert ending(both) == asked
    assert ending(replace(both, cut="closed")) == CONFIRMED


def test_what_they_refused_when_asked_again_is_not_put_to_them_once_more():
    refused = [*SAID, Spoken("refused", "", TOOL)]
    both = replace(LEFT, decision=YES, confirmed=True, proposal=LATER_NO, said=refused)
    assert ending(both) == CONFIRMED
    assert ending(replace(LEFT, proposal=LATER_NO, said=refused)) == Ending("cancelled")
    before = [Spoken("refused", "", TOOL), *SAID]
    asked = ending(replace(LEFT, proposal=LATER_NO, said=before))
    assert asked == Ending("completed", "rejected", unsure="unconfirmed")
