"""What the engine needs from outside: agents that work, and people who can be asked."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from callboard.engine.outputs import OutputType
from callboard.events.envelope import Json
from callboard.events.payloads.agents import AgentDetails


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text that an agent says while it works."""

    delta: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of an agent's reasoning."""

    delta: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """An agent calls one of its tools."""

    id: str
    name: str
    input: object = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back to the agent."""

    id: str
    output: object = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """The end of an agent's stream: what it made, and what that cost."""

    value: object
    usage: Mapping[str, Json] | None = None


Item = Text | Thinking | ToolCall | ToolResult | Output


class Agent(Protocol):
    """Anything that turns state into output."""

    @property
    def name(self) -> str:
        """The name that events show."""
        ...

    @property
    def output(self) -> OutputType:
        """What the output is, in Python and in JSON."""
        ...

    @property
    def details(self) -> AgentDetails:
        """What `agent:started` tells besides the name, such as provider and model."""
        ...

    @property
    def stream(self) -> Callable[..., AsyncGenerator[Item, None]]:
        """`(state, ctx)`: work, say what happens meanwhile, and end with Output."""
        ...


def is_agent(given: object) -> TypeGuard[Agent]:
    """Whether an object is an agent already; asks its class, so that nothing is evaluated."""
    return hasattr(type(given), "stream") and hasattr(type(given), "output")


@dataclass(frozen=True, slots=True)
class Request:
    """One question as a handler sees it."""

    id: str
    session_id: str
    type: str
    prompt: str
    options: list[str] | None
    other: bool
    phase: str | None
    run: str | None
    deadline: int | None
    config: Mapping[str, Json] | None = None
    """What a coding agent tells with its question: the tool, its input, its questions."""
    key: str | None = None
    """What tells the question from others of its run, if it has a key."""


class NoAnswer(Exception):
    """Raised by a handler to leave the question pending."""


class HumanInput(Protocol):
    """Someone in this process who can be asked. Raises NoAnswer to leave it for later."""

    async def answer(self, request: Request) -> object:
        """The answer: a bool for an approval, the chosen text for a choice."""
        ...
