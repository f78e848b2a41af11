"""Agents made of a user's function: async, plain, or an async generator."""

import asyncio
import inspect
import typing
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, overload

from callboard.engine.functions import fitting
from callboard.engine.outputs import UNDECLARED, OutputType
from callboard.engine.ports import Item, Output
from callboard.errors import AgentOutputInvalid, DefinitionError


class FunctionAgent:
    """An agent made of an async function, a plain function, or an async generator."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        output: Any = UNDECLARED,
        details: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.details = dict(details or {})
        self.__doc__ = function.__doc__
        self.function = function
        self._fitted = fitting(function, 2)
        self._streams = inspect.isasyncgenfunction(function)
        self._declared = output
        self._output: OutputType | None = None

    @property
    def output(self) -> OutputType:
        """What the function declares to return; read late, when its annotations can be."""
        if self._output is None:
            declared = self._declared
            if declared is UNDECLARED and not self._streams:
                declared = _return_annotation(self.function)
            self._output = OutputType(self.name, declared)
        return self._output

    def __call__(self, *arguments: Any) -> Any:
        """Call the function itself, as a test of it would."""
        return self.function(*arguments)

    async def stream(self, state: Any, ctx: Any) -> AsyncGenerator[Item, None]:
        """Run the function and end with its output."""
        if self._streams:
            async for item in self._items(state, ctx):
                yield item
        elif inspect.iscoroutinefunction(self.function):
            yield Output(await self._fitted(state, ctx))
        else:
            result = await asyncio.to_thread(_call, self._fitted, state, ctx)
            yield Output(await result if inspect.isawaitable(result) else result)

    async def _items(self, state: Any, ctx: Any) -> AsyncGenerator[Item, None]:
        ended = False
        async for item in self._fitted(state, ctx):
            if not isinstance(item, Item):
                raise AgentOutputInvalid(
                    f"Agent {self.name!r} yielded {type(item).__name__}. Yield Text, Thinking, "
                    "ToolCall or ToolResult, and at the end Output(value).",
                    agent=self.name,
                )
            ended = isinstance(item, Output)
            yield item
            if ended:
                return
        raise AgentOutputInvalid(
            f"Agent {self.name!r} ended without an Output. Yield Output(value) last.",
            agent=self.name,
        )


@overload
def agent(function: Callable[..., Any], /) -> FunctionAgent: ...
@overload
def agent(
    *, name: str | None = None, output: Any = UNDECLARED, model: str | None = None
) -> Callable[[Callable[..., Any]], FunctionAgent]: ...
def agent(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    output: Any = UNDECLARED,
    model: str | None = None,
) -> FunctionAgent | Callable[[Callable[..., Any]], FunctionAgent]:
    """Make an agent of a function: `@agent`, or `@agent(name=…, output=…, model=…)`.

    The function takes the state and, if it wants, the context. It may be async, plain (then it
    runs in a thread), or an async generator that yields what it does and ends with Output.
    """
    details = {"model": model} if model else {}

    def make(made_of: Callable[..., Any]) -> FunctionAgent:
        if inspect.isgeneratorfunction(made_of):
            raise DefinitionError(
                f"Agent {made_of.__name__!r} is a plain generator. Write `async def` to stream."
            )
        return FunctionAgent(made_of, name=name, output=output, details=details)

    return make(function) if function is not None else make


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a thread; StopIteration would never come back from there."""
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError("the agent raised StopIteration") from error


def _return_annotation(function: Callable[..., Any]) -> Any:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True).get("return", UNDECLARED)
    except (NameError, TypeError):
        # The annotation names something that only a type checker sees.
        return UNDECLARED
