"""Agents and people that follow a script and record what they were asked.

plan = ScriptedAgent("plan", OverflowError("overloaded"), "three days in Lisbon")
people = ScriptedPeople({"Book it?": True, "Which hotel?": "the small one"})
flow = Workflow("trip", state=Trip, phases=[Phase(agent=plan, retry=Retry(), ...), ...])
result = await run(flow, human_input=people)
assert [call.attempt for call in plan.calls] == [1, 2]
assert people.prompts == ["Book it?", "Which hotel?"]
"""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from callboard.engine.context import Context
from callboard.engine.function_agent import fitting
from callboard.engine.outputs import UNDECLARED, OutputType
from callboard.engine.ports import Item, NoAnswer, Output, Request
from callboard.events.json_values import is_list, is_mapping

if TYPE_CHECKING:
    from callboard.events.payloads.agents import AgentDetails


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt at a run, as a scripted agent saw it."""

    state: Any
    """A copy of the state at that time."""
    key: str
    phase: str
    visit: int
    attempt: int
    item: Any = None


class ScriptedAgent:
    """An agent that follows a script, with one line per attempt.

    A line is the value that the agent returns, or one of these:

    - an exception to raise;
    - a list of Text, Thinking, ToolCall and ToolResult items to stream, with Output at the end;
    - a function of `(state, ctx)`, async or not, or an async generator to call.

    After the last line, it fails and names the unexpected attempt.
    """

    def __init__(self, name: str, *script: object, output: object = UNDECLARED) -> None:
        self.name = name
        self.details: AgentDetails = {}
        self.calls: list[Call] = []
        """Its attempts, in order."""
        self._output = OutputType(name, output)
        self._script = deque(script)

    @property
    def output(self) -> OutputType:
        """Its declared output type."""
        return self._output

    async def stream(self, state: object, ctx: Context) -> AsyncGenerator[Item, None]:
        """Follow the script."""
        call = Call(deepcopy(state), ctx.key, ctx.phase, ctx.visit, ctx.attempt, ctx.item)
        self.calls.append(call)
        if not self._script:
            raise AssertionError(
                f"The script of {self.name!r} has ended: it has no entry for attempt {ctx.attempt} "
                f"at {ctx.key}."
            )
        async for item in _items(self._script.popleft(), state, ctx):
            yield item


async def _items(line: object, state: object, ctx: Context) -> AsyncGenerator[Item, None]:
    if isinstance(line, BaseException):
        raise line
    if _is_said(line):
        for item in line:
            yield item
    elif inspect.isasyncgenfunction(line):
        async for item in fitting(line, 2)(state, ctx):
            yield item
    elif callable(line):
        result = fitting(line, 2)(state, ctx)
        yield Output(await result if inspect.isawaitable(result) else result)
    else:
        yield line if isinstance(line, Output) else Output(line)


def _is_said(line: object) -> TypeGuard[list[Item]]:
    return is_list(line) and bool(line) and all(isinstance(item, Item) for item in line)


class ScriptedPeople:
    """People who answer from a script, in order or by the question's prompt.

    An answer is a bool, a text, an exception to raise, or a function of the request that returns
    one of these. By prompt, an answer is given every time; a list of answers, one at a time. A
    question that the script doesn't cover stays pending.

    With `held`, answers wait until `release()`.
    """

    def __init__(self, *script: object, held: bool = False) -> None:
        self.requests: list[Request] = []
        """The questions asked so far, in order."""
        self._by_prompt: dict[str, object] = {}
        if len(script) == 1 and is_mapping(script[0]):
            self._by_prompt = dict(script[0])
            script = ()
        self._in_order = deque(script)
        self._free = asyncio.Event()
        self._asked = asyncio.Condition()
        if not held:
            self._free.set()

    @property
    def prompts(self) -> list[str]:
        """The prompts of those questions, in order."""
        return [request.prompt for request in self.requests]

    def hold(self) -> None:
        """Hold back answers from now on."""
        self._free.clear()

    def release(self) -> None:
        """Give the answers that were held back."""
        self._free.set()

    async def asked(self, count: int = 1) -> Request:
        """Wait until this many questions have been asked; returns the last one."""
        async with self._asked:
            await self._asked.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def answer(self, request: Request) -> object:
        """Answer from the script; NoAnswer if it has no answer."""
        async with self._asked:
            self.requests.append(request)
            self._asked.notify_all()
        await self._free.wait()
        answer = self._next(request)
        if callable(answer) and not isinstance(answer, type):
            answer = cast("Callable[[Request], object]", answer)(request)
            answer = await answer if inspect.isawaitable(answer) else answer
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _next(self, request: Request) -> object:
        if self._in_order:
            return self._in_order.popleft()
        found = self._by_prompt.get(request.prompt, NoAnswer())
        if not is_list(found):
            return found
        return found.pop(0) if found else NoAnswer()
