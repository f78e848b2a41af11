"""What the engine needs from outside: agents to do the work, and people to answer questions."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from callboard.engine.outputs import OutputType
from callboard.events.envelope import Json
from callboard.events.payloads.agents import AgentDetails


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text that an agent produces while it works."""

    delta: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of an agent's reasoning."""

    delta: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the agent's tools."""

    id: str
    name: str
    input: object = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned to the agent."""

    id: str
    output: object = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """The end of an agent's stream: its result and the usage."""

    value: object
    usage: Mapping[str, Json] | None = None


Item = Text | Thinking | ToolCall | ToolResult | Output


class Agent(Protocol):
    """Anything that turns a state into an output."""

    @property
    def name(self) -> str:
        """The agent's name in events."""
        ...

    @property
    def output(self) -> OutputType:
        """The type of the output, in Python and in JSON."""
        ...

    @property
    def details(self) -> AgentDetails:
        """What `agent:started` records besides the name, such as provider and model."""
        ...

    @property
    def stream(self) -> Callable[..., AsyncGenerator[Item, None]]:
        """`(state, ctx)`: do the work, yield what happens, and end with Output."""
        ...


def is_agent(given: object) -> TypeGuard[Agent]:
    """Whether an object is already an agent; looks only at its class, to evaluate no property."""
    return hasattr(type(given), "stream") and hasattr(type(given), "output")


@dataclass(frozen=True, slots=True)
class Request:
    """A question as a handler gets it."""

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
    """Details of a coding agent's question: the tool, its input, its questions."""
    key: str | None = None
    """Distinguishes the question from others in its run, if it has a key."""
    assignees: list[str] | None = None
    """The only people and groups who may answer. A handler's answer overrides that."""


class NoAnswer(Exception):
    """Raise this in a handler to leave the question pending."""


class HumanInput(Protocol):
    """Answers questions in this process. Raises NoAnswer to leave one pending."""

    async def answer(self, request: Request) -> object:
        """The answer: a bool for an approval, the chosen text for a choice."""
        ...
