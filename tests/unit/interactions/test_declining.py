"""What declining means for each type of question."""

from dataclasses import replace
from typing import Any

import pytest
from tests.interactions import interaction

from callboard import Approval, Callboard, Interactive, Phase, State, Workflow
from callboard.errors import ValidationError
from callboard.interactions.outcomes import Completion
from callboard.interactions.rulings import declined

ASKED = interaction(phase="plan")


@pytest.mark.parametrize(
    ("type", "remark"),
    [
        ("approval", "message"),
        ("confirmation", "message"),
        ("permission", "message"),
        ("plan", "feedback"),
        ("question", "message"),
    ],
)
def test_most_are_answered_with_no(type: str, remark: str):
    asked = replace(ASKED, type=type)
    assert declined(asked, "not now") == {"approved": False, remark: "not now"}
    assert declined(asked, None) == {"approved": False}


@pytest.mark.parametrize(
    ("config", "how"),
    [
        ({"outcomeSchema": {"type": "approval"}}, "rejected"),
        ({"outcomeSchema": {"type": "freeform"}}, "cancelled"),
        (None, "cancelled"),
    ],
)
def test_an_interactive_session_ends(config: Any, how: str):
    asked = replace(ASKED, type="interactive_session", config=config)
    assert declined(asked, "not now") == Completion(how, error="not now")


@pytest.mark.parametrize(
    ("type", "options", "instead"),
    [("choice", ["a"], "Choose one"), ("input", None, "Answer in your own words")],
)
def test_a_workflow_that_needs_a_value_says_so(type: str, options: Any, instead: str):
    with pytest.raises(
        ValidationError, match=f"{instead}, or end the session: callboard cancel s1"
    ):
        declined(replace(ASKED, type=type, options=options), "not now")


@pytest.mark.parametrize("type", ["choice", "select", "input"])
def test_what_no_workflow_waits_for_is_taken_back(type: str):
    assert declined(replace(ASKED, type=type, phase=None), "x") == Completion(
        "cancelled", error="x"
    )


class Trip(State):
    said: list[str] = []


def note(state: Trip, response: Any) -> None:
    state.said.append(f"{response.approved} {response.outcome}: {response.message}")


@pytest.mark.parametrize(
    ("human", "noted"),
    [
        (Approval("Go?"), "False None: too far"),
        (Interactive("Talk?", outcome_schema={"type": "approval"}), "False completed: too far"),
        (Interactive("Talk?"), "None cancelled: too far"),
    ],
)
async def test_the_workflow_gets_the_message(human: Any, noted: str):
    trip = Workflow(
        "trip", state=Trip, phases=[Phase("plan", human=human, on_answer=note, terminal=True)]
    )
    async with Callboard.open(None, workflows=[trip]) as board:
        started = await board.run(trip)
        [asked] = await board.inbox(started.session_id)
        said = declined(asked, "too far")
        if isinstance(said, Completion):
            done = await board.people.complete(asked.id, said.outcome, error=said.error)
            assert done.error == "too far"
        else:
            done = await board.answer(asked.id, said)
            assert done.response == {"value": "no", "approved": False, "message": "too far"}
        await board.drive(started.session_id)
        assert (await board.state(started.session_id)).said == [noted]


async def test_a_question_of_its_own_says_why_it_was_declined():
    async with Callboard.open(None) as board:
        asked = await board.people.ask(type="choice", prompt="Which?", options=["a", "b"])
        done = await board.people.complete(asked.id, "cancelled", error="neither")
        assert (done.status, done.error) == ("cancelled", "neither")
