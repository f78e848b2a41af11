"""Interactive sessions, decided by whoever is asked in this process."""

from typing import Any

import pytest

from callboard import Interactive, Phase, State, Workflow, auto_approve, run
from callboard.engine.ports import Request
from callboard.errors import HandlerFailed
from callboard.interactions.results import InteractiveSessionResult
from callboard.testing.scripted import ScriptedPeople

APPROVAL = {"type": "approval"}
SELECTION = {"type": "selection", "options": ["staging", "production"]}
FREEFORM = {"type": "freeform"}
STRUCTURED = {"type": "structured", "json_schema": {"required": ["notes"]}}


def deciding(schema: dict[str, Any] | None, **more: Any) -> Workflow:
    asks = Interactive("Review it.", outcome_schema=schema, **more)
    return Workflow("w", state=State, phases=[Phase("p", human=asks, terminal=True)])


@pytest.mark.parametrize(
    ("schema", "said", "value"),
    [
        (APPROVAL, True, "approved"),
        (APPROVAL, "rejected", "rejected"),
        (SELECTION, "staging", "staging"),
        (FREEFORM, "Use the index.", "Use the index."),
        (STRUCTURED, {"notes": "fine"}, {"notes": "fine"}),
        (None, [1, 2], [1, 2]),
    ],
)
async def test_what_is_said_is_the_decision(schema: dict[str, Any] | None, said: Any, value: Any):
    people = ScriptedPeople({"Review it.": [said]})
    done = await run(deciding(schema), human_input=people)
    assert done.status == "completed"
    assert done.state.human_response["value"] == value
    assert done.state.human_response["outcome"] == "completed"
    assert people.requests[0].type == "interactive_session"


async def test_a_function_for_sessions_is_asked_with_all_that_was_said():
    seen: list[Request] = []

    def interactive(prompt: str, request: Request) -> Any:
        seen.append(request)
        return {"notes": prompt}

    flow = deciding(STRUCTURED, context={"file": "a.py"})
    done = await run(flow, human_input={"interactive": interactive})
    assert done.state.human_response["value"] == {"notes": "Review it."}
    assert (seen[0].config or {})["context"] == {"file": "a.py"}


async def test_those_who_know_yes_and_options_decide_what_is_one_of_these():
    class Rules:
        def approval(self, prompt: str) -> bool:
            return False

        def choice(self, prompt: str, options: list[str]) -> str:
            return options[-1]

    said = [
        (await run(deciding(schema), human_input=Rules())).state.human_response["value"]
        for schema in (APPROVAL, SELECTION)
    ]
    assert said == ["rejected", "production"]


@pytest.mark.parametrize("schema", [FREEFORM, STRUCTURED, None])
async def test_what_is_neither_they_leave(schema: dict[str, Any] | None):
    assert (await run(deciding(schema), human_input=auto_approve())).status == "waiting"


async def test_auto_approve_says_yes_and_takes_the_first():
    for schema, value in ((APPROVAL, "approved"), (SELECTION, "staging")):
        done = await run(deciding(schema), human_input=auto_approve())
        assert done.state.human_response["value"] == value


@pytest.mark.parametrize("outcome", ["cancelled", "timeout", "failed"])
async def test_a_session_can_end_without_a_decision(outcome: Any):
    said = InteractiveSessionResult(outcome=outcome, error="Nobody knew.")
    done = await run(deciding(APPROVAL), human_input=ScriptedPeople(said))
    told = done.state.human_response
    assert (told["outcome"], told["value"]) == (outcome, None)
    assert done.state.approved is None


async def test_a_decision_that_does_not_fit_is_told_and_leaves_the_question():
    with pytest.raises(HandlerFailed, match=r'"notes" is a required property.*still pending'):
        await run(deciding(STRUCTURED), human_input=ScriptedPeople({"Review it.": {"note": "x"}}))


async def test_what_several_have_to_decide_nobody_here_can():
    flow = deciding(APPROVAL, required_participants=["ann", "bob"])
    people = ScriptedPeople(True)
    assert (await run(flow, human_input=people)).status == "waiting"
    assert people.requests == []
