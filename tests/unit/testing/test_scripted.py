"""Agents and people who do what a test tells them to."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from callboard import Approval, Choice, Context, Output, Phase, Retry, State, Text, Workflow, run
from callboard.engine.ports import NoAnswer, Request
from callboard.errors import HandlerFailed
from callboard.events import names
from callboard.testing.scripted import ScriptedAgent, ScriptedPeople


class Notes(State):
    seen: list[Any] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


def flow(agent: ScriptedAgent, **phase: Any) -> Workflow:
    return Workflow(
        "w", state=Notes, phases=[Phase("p", agent=agent, update=note, terminal=True, **phase)]
    )


async def test_an_agent_returns_what_its_script_says():
    agent = ScriptedAgent("a", {"days": 3})
    result = await run(flow(agent))
    assert result.state.seen == [{"days": 3}]


async def test_an_agent_raises_and_goes_on_at_the_next_attempt():
    agent = ScriptedAgent("a", OverflowError("too many"), "done")
    result = await run(flow(agent, retry=Retry(attempts=2, backoff=0)))
    assert result.state.seen == ["done"]
    assert [(call.attempt, call.key) for call in agent.calls] == [
        (1, f"{result.session_id}:p#1"),
        (2, f"{result.session_id}:p#1"),
    ]


async def test_an_agent_says_items():
    agent = ScriptedAgent("a", [Text("Hel"), Text("lo"), Output("hello", {"tokens": 2})])
    result = await run(flow(agent))
    deltas = [one["delta"] for one in names.TEXT_DELTA.among(result.events)]
    assert ("".join(deltas), result.state.seen) == ("Hello", ["hello"])


async def test_an_agent_calls_functions():
    def plain(state: Notes) -> str:
        return "plain"

    async def slow(state: Notes, ctx: Context) -> str:
        return f"slow {ctx.visit}"

    async def stream(state: Notes, ctx: Context) -> AsyncIterator[Any]:
        yield Output("streamed")

    agent = ScriptedAgent("a", plain, slow, stream, [])
    result = await run(flow(agent, until=lambda state: len(state.seen) == 4))
    assert result.state.seen == ["plain", "slow 2", "streamed", []]


async def test_an_agent_remembers_the_state_as_it_was():
    agent = ScriptedAgent("a", 1, 2)
    await run(flow(agent, until=lambda state: len(state.seen) == 2))
    assert [list(call.state.seen) for call in agent.calls] == [[], [1]]
    assert [call.visit for call in agent.calls] == [1, 2]


async def test_an_agent_fails_when_its_script_has_ended():
    result = await run(flow(ScriptedAgent("a")))
    assert result.status == "failed"
    assert result.error is not None
    assert "it has no entry for attempt 1" in result.error["message"]


async def test_an_agent_may_declare_its_output():
    result = await run(flow(ScriptedAgent("a", "three", output=int)))
    assert result.error is not None
    assert result.error["code"] == "AGENT_OUTPUT_INVALID"


def request(prompt: str, options: list[str] | None = None) -> Request:
    kind = "choice" if options else "approval"
    return Request("q", "s", kind, prompt, options, False, None, None, None)


async def test_people_answer_in_order_and_then_no_more():
    people = ScriptedPeople(True, "b")
    assert await people.answer(request("Sure?")) is True
    assert await people.answer(request("Which?", ["a", "b"])) == "b"
    with pytest.raises(NoAnswer):
        await people.answer(request("And?"))
    assert people.prompts == ["Sure?", "Which?", "And?"]


async def test_people_answer_by_prompt():
    people = ScriptedPeople({"Sure?": True, "Again?": [False, True]})
    asked = ["Again?", "Sure?", "Again?", "Sure?"]
    assert [await people.answer(request(prompt)) for prompt in asked] == [False, True, True, True]
    for prompt in ("Again?", "Something else?"):
        with pytest.raises(NoAnswer):
            await people.answer(request(prompt))


async def test_people_may_look_at_the_request_or_fail():
    async def slowly(request: Request) -> str:
        return str(request.options)

    people = ScriptedPeople(lambda request: request.prompt, slowly, ConnectionError("gone"))
    assert await people.answer(request("Sure?")) == "Sure?"
    assert await people.answer(request("Which?", ["a"])) == "['a']"
    with pytest.raises(ConnectionError):
        await people.answer(request("Sure?"))


async def test_people_think_until_they_are_released():
    people = ScriptedPeople(True, held=True)
    answering = asyncio.create_task(people.answer(request("Sure?")))
    assert (await people.asked()).prompt == "Sure?"
    assert not answering.done()
    people.release()
    assert await answering is True
    people.hold()
    answering = asyncio.create_task(people.answer(request("Sure?")))
    await people.asked(2)
    answering.cancel()


async def test_people_stand_in_for_a_handler():
    people = ScriptedPeople({"Sure?": True, "Which?": "b"})
    workflow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("sure", human=Approval("Sure?"), next="which"),
            Phase("which", human=Choice("Which?", ["a", "b"]), terminal=True),
        ],
    )
    result = await run(workflow, human_input=people)
    assert (result.status, result.state.human_response["value"]) == ("completed", "b")


async def test_a_failing_person_is_a_failing_handler():
    workflow = Workflow("w", state=Notes, phases=[Phase("p", human=Approval("?"), terminal=True)])
    with pytest.raises(HandlerFailed):
        await run(workflow, human_input=ScriptedPeople(ConnectionError("gone")))
