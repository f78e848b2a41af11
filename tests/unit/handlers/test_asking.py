"""A handler in a run: its answers are checked like any, and a mistake leaves the question open."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callboard import (
    Approval,
    Callboard,
    Choice,
    Context,
    Phase,
    State,
    Workflow,
    agent,
    auto_approve,
    run,
)
from callboard.engine.ports import NoAnswer, Request
from callboard.errors import AnswerInvalid, HandlerFailed


class Nothing(State):
    pass


def asking(question: Approval | Choice) -> Workflow:
    phases = [Phase("ask", human=question, terminal=True)]
    return Workflow("asking", state=Nothing, phases=phases)


APPROVAL = Approval("Go on?")
CHOICE = Choice("Which way?", ["Fast", "Slow"])
OPEN = Choice("Which way?", ["Fast"], other=True)


@pytest.mark.parametrize(
    ("question", "said", "value", "approved"),
    [
        (APPROVAL, True, "yes", True),
        (APPROVAL, False, "no", False),
        (APPROVAL, "Rejected", "no", False),
        (CHOICE, "Slow", "Slow", None),
        (OPEN, "by boat", "by boat", None),
    ],
)
async def test_a_good_answer(question: Any, said: object, value: str, approved: bool | None):
    handler = {"approval": lambda prompt: said, "choice": lambda prompt, options: said}

    result = await run(asking(question), human_input=handler)

    assert result.status == "completed"
    assert result.state.human_response.value == value
    assert result.state.approved is approved
    [received] = [e.payload for e in result.events if e.name == "input:received"]
    assert received["via"] == "handler"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (APPROVAL, None),
        (APPROVAL, "perhaps"),
        (APPROVAL, 1),
        (CHOICE, "fast"),
        (CHOICE, True),
        (CHOICE, None),
        (OPEN, "  "),
    ],
)
async def test_a_wrong_answer_is_an_error_and_the_question_stays(
    question: Any, said: object, tmp_path: Path
):
    handler = {"approval": lambda prompt: said, "choice": lambda prompt, options: said}
    workflow = asking(question)

    with pytest.raises(HandlerFailed, match="still pending") as raised:
        await run(workflow, human_input=handler, db=tmp_path / "asked.db", session_id="s")

    assert isinstance(raised.value.__cause__, AnswerInvalid)
    await finish_elsewhere(workflow, tmp_path)


async def test_a_handler_that_raises_leaves_the_question_pending(tmp_path: Path):
    def broken(prompt: str) -> bool:
        raise ConnectionError("the pager is off")

    workflow = asking(APPROVAL)

    with pytest.raises(HandlerFailed, match="the pager is off") as raised:
        await run(
            workflow, human_input={"approval": broken}, db=tmp_path / "asked.db", session_id="s"
        )

    assert isinstance(raised.value.__cause__, ConnectionError)
    await finish_elsewhere(workflow, tmp_path)


async def test_a_missing_method_leaves_the_question_pending(tmp_path: Path):
    workflow = asking(CHOICE)

    with pytest.raises(HandlerFailed, match="has no 'choice'"):
        await run(
            workflow,
            human_input={"approval": lambda prompt: True},
            db=tmp_path / "asked.db",
            session_id="s",
        )

    await finish_elsewhere(workflow, tmp_path)


async def finish_elsewhere(workflow: Workflow, folder: Path) -> None:
    """The question is there for another process, which carries the session to its end."""
    async with Callboard.open(folder / "asked.db", [workflow]) as board:
        assert (await board.session("s")).status == "waiting"
        [question] = await board.inbox("s")
        assert question.status == "pending"
        info = await board.drive("s", human_input=auto_approve())
        assert info.status == "completed"


async def test_a_handler_may_leave_a_question_for_later():
    def later(prompt: str) -> bool:
        raise NoAnswer

    result = await run(asking(APPROVAL), human_input={"approval": later})

    assert result.status == "waiting"


async def test_the_whole_request():
    seen: list[Request] = []

    async def choose(prompt: str, options: list[str], request: Request) -> str:
        seen.append(request)
        return options[0]

    result = await run(asking(CHOICE), human_input={"choice": choose}, session_id="mine")

    [request] = seen
    [asked] = [e.payload for e in result.events if e.name == "input:requested"]
    assert (request.id, request.session_id, request.phase) == (asked["id"], "mine", "ask")
    assert (request.type, request.prompt, request.options) == (
        "choice",
        "Which way?",
        ["Fast", "Slow"],
    )


async def test_several_at_once_reach_a_handler_at_once():
    gate = asyncio.Barrier(3)

    @agent
    async def reviewer(state: Nothing, ctx: Context) -> bool:
        return await ctx.ask(f"Is {ctx.item} fine?")

    async def approval(prompt: str) -> bool:
        await asyncio.wait_for(gate.wait(), 30)
        return "two" not in prompt

    phase = Phase(
        "review", agent=reviewer, for_each=lambda s: ["one", "two", "three"], parallel=3,
        terminal=True,
    )  # fmt: skip
    reviews = Workflow("reviews", state=Nothing, phases=[phase])

    result = await run(reviews, human_input={"approval": approval})

    outputs = {e.payload["run"]: e.payload["output"] for e in result.events
               if e.name == "agent:completed"}  # fmt: skip
    assert outputs == {"review#1/0": True, "review#1/1": False, "review#1/2": True}


async def test_an_agent_whose_question_nobody_here_will_answer_is_not_waited_for():
    @agent
    async def reviewer(state: Nothing, ctx: Context) -> bool:
        return await ctx.ask("Is it fine?")

    def later(prompt: str) -> bool:
        raise NoAnswer

    phases = [Phase("review", agent=reviewer, terminal=True)]
    reviews = Workflow("review", state=Nothing, phases=phases)

    async with asyncio.timeout(90):
        result = await run(reviews, human_input={"approval": later})

    assert result.status == "waiting"
    assert result.events[-1].name == "agent:interrupted"
