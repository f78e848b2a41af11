"""auto_approve: yes, and the first option."""

import pytest

from callboard import Approval, Choice, Phase, State, Workflow, run
from callboard.engine.ports import Request
from callboard.handlers.auto import auto_approve
from callboard.handlers.custom import as_handler


def request(type: str, options: list[str] | None = None) -> Request:
    return Request("q", "s", type, "Go?", options, False, "p", None, None)


async def test_it_says_yes_and_takes_the_first_option():
    handler = as_handler(auto_approve())

    assert handler is not None
    assert await handler.answer(request("approval")) is True
    assert await handler.answer(request("choice", ["b", "a"])) == "b"


@pytest.mark.parametrize(
    "question",
    [
        Approval("Go?", assignees=["ada"]),
        Choice("Which?", ["a", "b"], assignees=["group:ops"]),
        Approval("Go?"),
    ],
)
async def test_an_answer_in_place_of_the_assignees_is_recorded_as_that(
    question: Approval | Choice,
):
    flow = Workflow("f", state=State, phases=[Phase("ask", human=question, terminal=True)])
    done = await run(flow, human_input=auto_approve())
    [received] = [event for event in done.events if event.name == "input:received"]
    assert received.payload.get("override") == (True if question.assignees else None)


async def test_it_is_a_handler_like_any_other():
    mixed = as_handler(
        {"approval": lambda prompt: False, "choice": auto_approve().choice},
    )

    assert mixed is not None
    assert await mixed.answer(request("approval")) is False
    assert await mixed.answer(request("choice", ["b", "a"])) == "b"
