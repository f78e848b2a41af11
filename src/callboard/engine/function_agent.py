"""Agents from a user's function: async, plain, or an async generator."""

import asyncio
import inspect
import typing
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import Generic, ParamSpec, TypeVar, cast, overload

from callboard.engine.outputs import UNDECLARED, OutputType
from callboard.engine.ports import Item, Output
from callboard.errors import AgentOutputInvalid, DefinitionError
from callboard.events.payloads.agents import AgentDetails

P = ParamSpec("P")
R = TypeVar("R")


def fitting(function: Callable[..., R], most: int) -> Callable[..., R]:
    """Wrap a function so that it can be called with `most` arguments and gets those it takes."""
    wanted = arity(function, most)
    if wanted == most:
        return function
    return lambda *arguments: function(*arguments[:wanted])


def given(value: R | Callable[..., R], state: object, ctx: object) -> R:
    """A value, or the result of calling it with the state, or with state and context."""
    if callable(value):
        return fitting(cast("Callable[..., R]", value), 2)(state, ctx)
    return value


def arity(function: Callable[..., object], most: int) -> int:
    """How many of up to `most` positional arguments the function takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return most
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return most
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return min(most, len(positional))


class FunctionAgent(Generic[P, R]):
    """An agent that wraps an async function, a plain function, or an async generator."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        output: object = UNDECLARED,
        details: AgentDetails | None = None,
    ) -> None:
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.details: AgentDetails = details or {}
        self.__doc__ = function.__doc__
        self.function = function
        self._fitted = fitting(function, 2)
        self.streams = inspect.isasyncgenfunction(function)
        self._is_async = inspect.iscoroutinefunction(function)
        self._declared = output
        self._output: OutputType | None = None

    @property
    def output(self) -> OutputType:
        """The function's declared return type; read late, once its annotations can be resolved."""
        if self._output is None:
            declared = self._declared
            if declared is UNDECLARED and not self.streams:
                declared = return_annotation(self.function)
            self._output = OutputType(self.name, declared)
        return self._output

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the function itself, as a test would."""
        return self.function(*arguments, **named)

    async def stream(self, state: object, ctx: object) -> AsyncGenerator[Item, None]:
        """Run the function and end with its output."""
        if self.streams:
            async for item in self._items(state, ctx):
                yield item
            return
        yield await self.result(state, ctx)

    async def result(self, state: object, ctx: object) -> Output:
        """Run a function that is not a generator."""
        if self._is_async:
            return Output(await cast("Awaitable[object]", self._fitted(state, ctx)))
        result = await asyncio.to_thread(_call, self._fitted, state, ctx)
        return Output(await result if inspect.isawaitable(result) else result)

    async def _items(self, state: object, ctx: object) -> AsyncGenerator[Item, None]:
        ended = False
        async for item in cast("AsyncIterable[object]", self._fitted(state, ctx)):
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
def agent(function: Callable[P, R], /) -> FunctionAgent[P, R]: ...
@overload
def agent(
    *, name: str | None = None, output: object = UNDECLARED, model: str | None = None
) -> Callable[[Callable[P, R]], FunctionAgent[P, R]]: ...
def agent(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    output: object = UNDECLARED,
    model: str | None = None,
) -> FunctionAgent[P, R] | Callable[[Callable[P, R]], FunctionAgent[P, R]]:
    """Turn a function into an agent: `@agent`, or `@agent(name=…, output=…, model=…)`.

    The function takes the state and, optionally, the context. It may be async, plain (it then runs
    in a thread), or an async generator that yields what it does and ends with Output.
    """
    details: AgentDetails = {"model": model} if model else {}

    def make(made_of: Callable[P, R]) -> FunctionAgent[P, R]:
        if inspect.isgeneratorfunction(made_of):
            raise DefinitionError(
                f"Agent {made_of.__name__!r} is a plain generator. Write `async def` to stream."
            )
        return FunctionAgent(made_of, name=name, output=output, details=details)

    return make(function) if function is not None else make


def _call(function: Callable[..., object], *arguments: object) -> object:
    """Call a function in a thread, which could not pass on a StopIteration."""
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError("the agent raised StopIteration") from error


def return_annotation(function: Callable[..., object]) -> object:
    """The declared return type of a function; UNDECLARED if it can't be determined."""
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(target, include_extras=True).get("return", UNDECLARED)
    except (NameError, TypeError):
        # The annotation uses a name that only a type checker can see.
        return UNDECLARED
