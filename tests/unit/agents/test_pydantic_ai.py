"""A pydantic-ai agent in a phase: what it streams, what it ends with, and how it asks people."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, RunContext, models
from pydantic_ai.messages import (
    ModelMessage,
    NativeToolCallPart,
    NativeToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.output import NativeOutput, PromptedOutput, TextOutput, ToolOutput
from pydantic_ai.usage import UsageLimits

from callboard import Callboard, Context, Phase, Retry, State, Text, Thinking, ToolCall, Workflow
from callboard import run as run_workflow
from callboard.agents.pydantic_ai import PydanticAgent, Reply
from callboard.engine.ports import Item, Output, ToolResult
from callboard.errors import DefinitionError
from callboard.events.envelope import Event
from callboard.events.json_values import as_whole


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(models, "ALLOW_MODEL_REQUESTS", False)


class City(BaseModel):
    name: str
    country: str


class Trip(State):
    wish: str = ""
    city: City | None = None
    notes: list[Any] = []


def begin(state: Trip, wish: str) -> None:
    state.wish = wish


def keep(state: Trip, city: City) -> None:
    state.city = city


def weather() -> str:
    return "sun"


LISBON = {"name": "Lisbon", "country": "Portugal"}


async def items(agent: PydanticAgent, state: Any = None, ctx: Any = None) -> list[Item]:
    return [item async for item in agent.stream(state, ctx)]


async def ending(agent: PydanticAgent, state: Any = None, ctx: Any = None) -> Any:
    last = (await items(agent, state, ctx))[-1]
    assert isinstance(last, Output)
    return agent.output.load(agent.output.dump(last.value))


def streaming(*chunks: Any) -> FunctionModel:
    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for chunk in chunks:
            yield chunk

    return FunctionModel(stream_function=stream)


def prompts(messages: list[ModelMessage]) -> list[Any]:
    return [p.content for m in messages for p in m.parts if isinstance(p, UserPromptPart)]


def echo() -> FunctionModel:
    """A model that answers with all prompts it was given."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        yield " | ".join(str(prompt) for prompt in prompts(messages))

    return FunctionModel(stream_function=stream)


def workflow(agent: PydanticAgent, update: Any = keep, retry: Retry | None = None) -> Workflow:
    phase = Phase("choose", agent=agent, terminal=True, update=update, retry=retry)
    return Workflow("trip", state=Trip, start=begin, phases=[phase])


def named(events: list[Event], name: str) -> list[Any]:
    return [event.payload for event in events if event.name == name]


class TestStreaming:
    async def test_text_comes_in_pieces_and_then_as_the_output(self):
        agent = PydanticAgent(Agent(streaming("Go to ", "Lisbon")), prompt="Where?")

        told = await items(agent)

        assert told[:-1] == [Text("Go to "), Text("Lisbon")]
        assert told[-1].value == "Go to Lisbon"  # pyright: ignore

    async def test_thinking(self):
        model = streaming(
            {0: DeltaThinkingPart(content="Sea or ")},
            {0: DeltaThinkingPart(content="hills")},
            "Sea",
        )

        told = await items(PydanticAgent(Agent(model), prompt="Where?"))

        assert told[:-1] == [Thinking("Sea or "), Thinking("hills"), Text("Sea")]

    async def test_tools(self):
        inner = Agent(TestModel())

        @inner.tool_plain
        def forecast(day: int) -> dict[str, Any]:
            return {"day": day, "sun": True}

        told = await items(PydanticAgent(inner, prompt="Where?"))

        call, result = told[0], told[1]
        assert isinstance(call, ToolCall)
        assert (call.name, call.input) == ("forecast", {"day": 0})
        assert result == ToolResult(call.id, {"day": 0, "sun": True})

    async def test_a_tool_that_wants_to_be_called_again(self):
        inner, calls = Agent(TestModel()), iter([1, 2])

        @inner.tool_plain
        def fickle() -> str:
            if next(calls) == 1:
                raise ModelRetry("Ask for a day.")
            return "sun"

        told = await items(PydanticAgent(inner, prompt="Where?"))

        results = [item for item in told if isinstance(item, ToolResult)]
        assert [result.is_error for result in results] == [True, False]
        assert "Ask for a day" in str(results[0].output)

    async def test_tools_that_the_provider_runs(self):
        call = NativeToolCallPart("web_search", {"q": "sun"}, tool_call_id="n1")
        result = NativeToolReturnPart("web_search", ["Lisbon"], tool_call_id="n1")

        told = await items(
            PydanticAgent(Agent(streaming({0: call}, {1: result}, "Lisbon")), prompt="Where?")
        )

        assert told[:2] == [
            ToolCall("n1", "web_search", {"q": "sun"}),
            ToolResult("n1", ["Lisbon"]),
        ]

    async def test_an_answer_that_does_not_fit_is_shown_and_made_again(self):
        answers = iter(['{"name": "Lisbon"}', '{"name": "Lisbon", "country": "Portugal"}'])

        async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
            yield {0: DeltaToolCall(info.output_tools[0].name, next(answers), tool_call_id="o")}

        inner = Agent(FunctionModel(stream_function=stream), output_type=City)

        told = await items(PydanticAgent(inner, prompt="Where?"))

        assert told[0] == ToolCall("o", "final_result", {"name": "Lisbon"})
        assert isinstance(told[1], ToolResult)
        assert told[1].is_error
        assert "country" in str(told[1].output)
        assert told[2].value == City(**LISBON)  # pyright: ignore
        assert len(told) == 3

    async def test_usage(self):
        inner = Agent(TestModel())
        inner.tool_plain(weather)

        end = (await items(PydanticAgent(inner, prompt="Where?")))[-1]

        assert isinstance(end, Output)
        assert end.usage is not None
        assert (end.usage["requests"], end.usage["toolCalls"]) == (2, 1)
        assert as_whole(end.usage["inputTokens"]) > 0
        assert as_whole(end.usage["outputTokens"]) > 0


def shout(text: str) -> str:
    return text.upper()


def pick(name: str, country: str) -> City:
    return City(name=name, country=country)


class TestOutputs:
    @pytest.mark.parametrize(
        "spec",
        [
            City,
            [City],
            ToolOutput(City),
            [City, str],
            pick,
            City | None,
        ],
        ids=["model", "list", "tool", "several", "function", "union"],
    )
    async def test_structured_output_comes_back_as_what_it_was(self, spec: Any):
        inner = Agent(TestModel(custom_output_args=LISBON), output_type=spec)

        assert await ending(PydanticAgent(inner, prompt="Where?")) == City(**LISBON)

    @pytest.mark.parametrize("spec", [NativeOutput(City), PromptedOutput([City])])
    async def test_structured_output_as_text(self, spec: Any):
        inner = Agent(
            TestModel(
                custom_output_text='{"name": "Lisbon", "country": "Portugal"}',
                profile={"supports_json_schema_output": True},
            ),
            output_type=spec,
        )

        assert await ending(PydanticAgent(inner, prompt="Where?")) == City(**LISBON)

    async def test_text_made_into_something_else(self):
        inner = Agent(TestModel(custom_output_text="lisbon"), output_type=TextOutput(shout))

        assert await ending(PydanticAgent(inner, prompt="Where?")) == "LISBON"

    async def test_an_output_function_that_declares_nothing_gives_plain_json(self):
        def spell(name: str):
            return list(name)

        inner = Agent(TestModel(custom_output_args={"name": "Rom"}), output_type=spell)

        assert await ending(PydanticAgent(inner, prompt="Where?")) == ["R", "o", "m"]

    async def test_the_conversation_can_be_kept_and_given_back(self):
        class Talk(State):
            messages: list[Any] = []
            said: str = ""

        def keep_talk(state: Talk, reply: Reply[str]) -> None:
            state.messages, state.said = reply.messages, reply.output

        talker = PydanticAgent(
            Agent(echo()),
            prompt=lambda state, ctx: f"round {ctx.visit}",
            history=lambda state: state.messages,
            with_messages=True,
        )
        talk = Workflow(
            "talk",
            state=Talk,
            phases=[
                Phase(
                    "talk",
                    agent=talker,
                    update=keep_talk,
                    until=lambda s: len(s.messages) >= 6,
                    terminal=True,
                )
            ],
        )

        result = await run_workflow(talk)

        assert result.state.said == "round 1 | round 2 | round 3"
        assert len(result.state.messages) == 6


@dataclass
class Desk:
    state: Trip
    ctx: Context


async def make_desk(state: Trip, ctx: Context) -> Desk:
    return Desk(state, ctx)


class TestWhatItIsGiven:
    @pytest.mark.parametrize(
        "prompt",
        [
            "the sea",
            lambda state: state.wish,
            lambda state, ctx: f"{state.wish}",
        ],
        ids=["text", "state", "state and context"],
    )
    async def test_the_prompt(self, prompt: str | Callable[..., str]):
        agent = PydanticAgent(Agent(echo()), prompt=prompt)

        assert await ending(agent, Trip(wish="the sea")) == "the sea"

    @pytest.mark.parametrize("deps", [Desk, make_desk, lambda s, c: Desk(s, c)])
    async def test_deps_that_are_made(self, deps: Any):
        assert await self.tool_sees(deps) == ("the sea", "the context")

    @pytest.mark.parametrize("thing", ["a text", 3, None, ["a list"]])
    async def test_deps_that_are_there(self, thing: object):
        assert await self.tool_sees(thing) is thing

    async def tool_sees(self, deps: object) -> Any:
        inner, seen = Agent[Any, str](TestModel()), list[Any]()

        @inner.tool
        def look(ctx: RunContext[Any]) -> str:
            seen.append(ctx.deps)
            return "seen"

        agent = PydanticAgent(inner, prompt="Look", deps=deps)
        await items(agent, Trip(wish="the sea"), "the context")
        [found] = seen
        return (found.state.wish, found.ctx) if isinstance(found, Desk) else found

    async def test_further_options_reach_the_run(self):
        inner = Agent(TestModel(call_tools=[]))
        agent = PydanticAgent(
            inner, prompt="x", model=TestModel(custom_output_text="other"), usage_limits=None
        )

        assert await ending(agent) == "other"

    def test_the_name(self):
        assert PydanticAgent(Agent(TestModel(), name="guide"), prompt="x").name == "guide"
        assert PydanticAgent(Agent(TestModel(), name="guide"), prompt="x", name="me").name == "me"
        assert PydanticAgent(Agent(TestModel()), prompt="x").name == "agent"

    @pytest.mark.parametrize(
        ("model", "details"),
        [
            (TestModel(), {"provider": "test", "model": "test"}),
            ("openai:gpt-5", {"provider": "openai", "model": "gpt-5"}),
            ("test", {"model": "test"}),
            (None, {}),
        ],
        ids=["model", "provider and name", "name", "none"],
    )
    def test_the_details(self, model: Any, details: dict[str, str]):
        agent = PydanticAgent(Agent(model, defer_model_check=True), prompt="x")

        assert agent.details == details

    def test_only_a_pydantic_ai_agent_can_be_wrapped(self):
        with pytest.raises(DefinitionError, match=r"wraps a pydantic_ai\.Agent, not function"):
            PydanticAgent(shout, prompt="x")  # pyright: ignore[reportArgumentType]


class TestInAWorkflow:
    async def test_a_run_from_prompt_to_state(self):
        inner = Agent(TestModel(custom_output_args=LISBON), output_type=City, name="guide")
        inner.tool_plain(weather)
        trip = workflow(PydanticAgent(inner, prompt=lambda s: f"Find {s.wish}"))

        result = await run_workflow(trip, input="the sea")

        assert result.status == "completed"
        assert result.state.city == City(**LISBON)
        [started] = named(result.events, "agent:started")
        assert (started["agent"], started["provider"], started["model"]) == (
            "guide",
            "test",
            "test",
        )
        [call], [tool_result] = (
            named(result.events, "tool:called"),
            named(result.events, "tool:result"),
        )
        assert (call["toolName"], tool_result["output"]) == ("weather", "sun")
        [completed] = named(result.events, "agent:completed")
        assert completed["output"] == LISBON
        assert completed["usage"]["requests"] == 2

    async def test_a_bare_agent_is_refused_with_the_way_to_wrap_it(self):
        with pytest.raises(DefinitionError, match=r"PydanticAgent\(agent, prompt="):
            workflow(Agent(TestModel()))  # pyright: ignore[reportArgumentType]

    async def test_when_the_model_fails_the_phase_tries_again(self):
        tries = iter([1, 2])

        async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
            if next(tries) == 1:
                raise ConnectionError("the provider is away")
            yield "Lisbon"

        agent = PydanticAgent(Agent(FunctionModel(stream_function=stream)), prompt="x")
        trip = workflow(agent, update=None, retry=Retry(attempts=2, backoff=0))

        result = await run_workflow(trip, input="")

        assert result.status == "completed"
        [failed] = named(result.events, "phase:failed")
        assert "the provider is away" in failed["error"]["message"]
        assert named(result.events, "agent:completed")[0]["attempt"] == 2

    async def test_without_retry_the_workflow_fails_and_says_why(self):
        agent = PydanticAgent(
            Agent(TestModel()), prompt="x", usage_limits=UsageLimits(request_limit=0)
        )

        result = await run_workflow(workflow(agent, update=None), input="")

        assert result.status == "failed"
        assert result.error is not None
        assert result.error.get("type") == "UsageLimitExceeded"

    async def test_an_interrupted_run_ends_the_model_too(self):
        ended = asyncio.Event()

        async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
            yield "Thinking it over"
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

        agent = PydanticAgent(Agent(FunctionModel(stream_function=stream)), prompt="x")
        execution = run_workflow(workflow(agent, update=None), input="")
        while not any(e.name == "text:delta" for e in execution._events):
            await asyncio.sleep(0.01)

        await execution.abort()

        assert (await execution).status == "cancelled"
        assert ended.is_set()


class TestAskingAPerson:
    def trip(self, answers: list[bool]) -> Workflow:
        """Made anew for each process: nothing of it is kept between them."""
        inner = Agent(
            TestModel(custom_output_args=LISBON), deps_type=Context, output_type=City, name="guide"
        )

        @inner.tool
        async def may_book(ctx: RunContext[Context]) -> str:
            answers.append(await ctx.deps.ask("May I book?", key="book"))
            return "booked" if answers[-1] else "not booked"

        return workflow(PydanticAgent(inner, prompt="x", deps=lambda state, ctx: ctx))

    async def test_a_tool_asks_and_goes_on(self):
        answers: list[bool] = []

        result = await run_workflow(
            self.trip(answers), input="", human_input={"approval": lambda prompt: False}
        )

        assert result.status == "completed"
        assert answers == [False]
        assert named(result.events, "tool:result")[0]["output"] == "not booked"

    async def test_the_answer_comes_after_the_process_has_gone(self, tmp_path: Path):
        before: list[bool] = []
        waiting = await run_workflow(self.trip(before), input="", db=tmp_path / "trips.db")
        assert (waiting.status, before) == ("waiting", [])

        async with Callboard.open(tmp_path / "trips.db") as inbox:
            [question] = await inbox.inbox()
            assert question.prompt == "May I book?"
            await inbox.answer(question.id, "yes", by="Ada")

        after: list[bool] = []
        async with Callboard.open(tmp_path / "trips.db", [self.trip(after)]) as board:
            info = await board.drive(waiting.session_id)
            events = await board.events(waiting.session_id)

        assert (info.status, after) == ("completed", [True])
        assert len(named(events, "input:requested")) == 1
        assert [p["attempt"] for p in named(events, "agent:started")] == [1, 2]
        assert named(events, "tool:result")[-1]["output"] == "booked"


def test_without_pydantic_ai_the_error_says_what_to_install():
    script = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "from callboard.errors import MissingExtra\n"
        "try:\n"
        "    import callboard.agents.pydantic_ai\n"
        "except MissingExtra as error:\n"
        "    print(error.code, error.message)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith("MISSING_EXTRA")
    assert 'pip install "callboard[pydantic-ai]"' in done.stdout
