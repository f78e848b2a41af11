"""A pydantic-ai agent as a phase's agent: its text, thinking and tool calls become events."""

import inspect
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeGuard, TypeVar, Union, cast

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from callboard.engine.function_agent import fitting, given, return_annotation
from callboard.engine.outputs import UNDECLARED, OutputType
from callboard.engine.ports import Item, Output, Text, Thinking, ToolCall, ToolResult
from callboard.errors import DefinitionError, MissingExtra
from callboard.events.envelope import Json
from callboard.events.payloads.agents import AgentDetails

try:
    from pydantic_ai import AgentRunResult, AgentRunResultEvent
    from pydantic_ai import messages as m
    from pydantic_ai.agent import AbstractAgent
    from pydantic_ai.models import Model
    from pydantic_ai.output import NativeOutput, PromptedOutput, TextOutput, ToolOutput
    from pydantic_ai.usage import RunUsage
except ImportError as error:
    raise MissingExtra(
        'This needs pydantic-ai 2 or later. Install it: pip install "callboard[pydantic-ai]"',
        extra="pydantic-ai",
    ) from error

Prompt = str | Callable[..., str]
History = Sequence[object] | Callable[..., Sequence[object] | None]
T = TypeVar("T")
_Marked = NativeOutput[object] | PromptedOutput[object] | ToolOutput[object] | TextOutput[object]


class Reply(BaseModel, Generic[T]):
    """An output together with the conversation that led to it, as returned with `with_messages`."""

    output: T
    messages: list[Json]
    """All messages as JSON: keep them in the state and pass them back as `history`."""


class PydanticAgent:
    """Runs a pydantic-ai agent in a phase.

    The phase's output has the agent's own `output_type`. If the model fails, the phase's `retry`
    applies. A tool can ask a person: pass it the context through `deps` and have it call
    `await ctx.deps.ask(...)`. If the answer doesn't come in time, the agent is run again from its
    prompt once it does, and the tool gets the recorded answer. If the model itself words the
    question, pass a `key`, so that the recorded answer is found.

    Args:
        agent: The agent that does the work.
        prompt: The prompt: text, or a function of the state, or of state and context.
        name: The agent's name in events; by default, the agent's own name.
        deps: The dependencies of its tools. A function or a class is called with state and context
            and may be async; anything else is passed on as it is.
        history: Earlier messages, as objects or as JSON; or a function that returns them.
        with_messages: Whether the output is a Reply, which includes the messages.
        options: Any other arguments of the agent's `run`: `model`, `model_settings`,
            `usage_limits`, ….
    """

    def __init__(
        self,
        agent: AbstractAgent[Any, Any],
        *,
        prompt: Prompt,
        name: str | None = None,
        deps: object = None,
        history: History | None = None,
        with_messages: bool = False,
        **options: Any,
    ) -> None:
        if not isinstance(agent, AbstractAgent):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise DefinitionError(
                f"PydanticAgent wraps a pydantic_ai.Agent, not {type(agent).__name__}."
            )
        self.agent = agent
        self.name = name or agent.name or "agent"
        self._prompt = prompt
        self._deps = deps
        self._history = history
        self._with_messages = with_messages
        self._options = options
        declared = _declared(options.get("output_type", agent.output_type))
        if with_messages:
            declared = Reply[object if declared is UNDECLARED else cast("type[object]", declared)]
        self._output = OutputType(self.name, declared)

    @property
    def output(self) -> OutputType:
        """The output type that the agent declares."""
        return self._output

    @property
    def details(self) -> AgentDetails:
        """The provider and the model, as far as they are known before the run."""
        model = self._options.get("model", self.agent.model)
        if isinstance(model, Model):
            return {"provider": model.system, "model": model.model_name}
        provider, colon, name = str(model or "").partition(":")
        if not colon:
            return {"model": provider} if provider else {}
        return {"provider": provider, "model": name}

    async def stream(self, state: object, ctx: object) -> AsyncGenerator[Item, None]:
        """Run the agent on the state and end with its output."""
        rejections = _Rejections()
        async with self.agent.run_stream_events(
            given(self._prompt, state, ctx),
            deps=await self._dependencies(state, ctx),
            message_history=_messages(given(self._history, state, ctx)),
            infer_name=False,
            **self._options,
        ) as events:
            async for event in events:
                if isinstance(event, AgentRunResultEvent):
                    yield self._end(event.result)
                else:
                    for item in (*_items(event), *rejections.items(event)):
                        yield item

    async def _dependencies(self, state: object, ctx: object) -> object:
        deps = self._deps
        if not (inspect.isroutine(deps) or isinstance(deps, type | partial)):
            return deps
        made = fitting(cast("Callable[..., object]", deps), 2)(state, ctx)
        return await made if inspect.isawaitable(made) else made

    def _end(self, result: AgentRunResult[object]) -> Output:
        value = result.output
        if self._with_messages:
            messages = m.ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json")
            value = {"output": value, "messages": messages}
        return Output(value, _usage(result.usage, result.response.model_name))


class _Rejections:
    """The replies that did not match the output type; one that matches is the output itself."""

    def __init__(self) -> None:
        self._call: m.ToolCallPart | None = None

    def items(self, event: m.AgentStreamEvent) -> list[Item]:
        if isinstance(event, m.OutputToolCallEvent):
            self._call = event.part
        elif (
            isinstance(event, m.OutputToolResultEvent)
            and event.part.outcome in m.ERROR_OUTCOMES
            and self._call is not None
        ):
            return [_tool_call(self._call), _tool_result(event.part)]
        return []


def _items(event: m.AgentStreamEvent) -> list[Item]:
    match event:
        case m.PartStartEvent(part=m.TextPart(content=text)) if text:
            return [Text(text)]
        case m.PartDeltaEvent(delta=m.TextPartDelta(content_delta=text)) if text:
            return [Text(text)]
        case m.PartStartEvent(part=m.ThinkingPart(content=text)) if text:
            return [Thinking(text)]
        case m.PartDeltaEvent(delta=m.ThinkingPartDelta(content_delta=text)) if text:
            return [Thinking(text)]
        case _:
            return _tool_items(event)


def _tool_items(event: m.AgentStreamEvent) -> list[Item]:
    match event:
        case m.FunctionToolCallEvent(part=call):
            return [_tool_call(call)]
        case m.FunctionToolResultEvent(part=result):
            return [_tool_result(result)]
        # Tools that the provider runs itself are parts of its response. A call streams in and has
        # an end event; a result arrives whole, without one.
        case m.PartEndEvent(part=m.NativeToolCallPart() as call):
            return [_tool_call(call)]
        case m.PartStartEvent(part=m.NativeToolReturnPart() as result):
            return [_tool_result(result)]
        case _:
            return []


def _tool_call(part: m.ToolCallPart | m.NativeToolCallPart) -> ToolCall:
    return ToolCall(part.tool_call_id, part.tool_name, _as_json(part.args_as_dict()))


def _tool_result(part: m.ToolReturnPart | m.NativeToolReturnPart) -> ToolResult:
    failed = part.outcome in m.ERROR_OUTCOMES
    return ToolResult(part.tool_call_id, _as_json(part.content), failed)


def _usage(usage: RunUsage, model: str | None) -> dict[str, Json]:
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    counted = {
        "requests": usage.requests,
        "toolCalls": usage.tool_calls,
        # The library's count includes those that were cached, which have other prices.
        "inputTokens": max(0, usage.input_tokens - cached),
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
    }
    always = ("requests", "inputTokens", "outputTokens")
    kept: dict[str, Json] = {key: count for key, count in counted.items() if count or key in always}
    return kept if model is None else {**kept, "model": model}


def _as_json(value: object) -> Json:
    # Tool arguments and results are only displayed: anything that JSON can't hold becomes text.
    return to_jsonable_python(value, bytes_mode="base64", fallback=repr)


def _messages(history: Sequence[object] | None) -> list[m.ModelMessage] | None:
    if not history:
        return None
    return m.ModelMessagesTypeAdapter.validate_python(list(history))


def _declared(spec: object) -> object:
    """The Python types that an agent's output may have; UNDECLARED if they aren't known."""
    kinds = [_kind(one) for one in (spec if _several(spec) else (spec,))]
    if any(kind is UNDECLARED for kind in kinds):
        return UNDECLARED
    return Union[tuple(kinds)]  # noqa: UP007 - the members are known only now


def _several(spec: object) -> TypeGuard[Sequence[object]]:
    return isinstance(spec, Sequence) and not isinstance(spec, str)


def _kind(spec: object) -> object:
    match cast("_Marked | type[object]", spec):
        case NativeOutput(outputs=outputs) | PromptedOutput(outputs=outputs):
            return _declared(outputs)
        case ToolOutput(output=output):
            return _declared(output)
        case TextOutput(output_function=function):
            return return_annotation(function)
        case _ if inspect.isroutine(spec):
            return return_annotation(spec)
        case _:
            return spec
