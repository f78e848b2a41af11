"""The payloads of events about an agent's work."""

from typing import Literal, NotRequired, TypedDict

from callboard.events.envelope import Json
from callboard.events.failures import ErrorDescription


class InRun(TypedDict):
    """A run, and an attempt at it.

    `plan#1` is the first visit of `plan`, `review#2/0` the first item of the second visit of
    `review`. All attempts at that work share the run.
    """

    run: str
    attempt: int


class InAgentRun(InRun):
    """A run, and where in the workflow it is."""

    agent: str
    phase: str
    visit: int


class Narrated(InRun):
    """What an agent says or does while it works."""

    agent: str


class AgentDetails(TypedDict):
    """What is known about an agent besides its name."""

    provider: NotRequired[str]
    model: NotRequired[str]


class AgentStartedPayload(InAgentRun, AgentDetails):
    """The agent is about to be called."""

    item: NotRequired[int]
    """The index of the item, in a phase with `for_each`."""


class AgentCompletedPayload(InAgentRun):
    """The agent returned."""

    output: Json
    durationMs: int
    usage: NotRequired[dict[str, Json]]


Interruption = Literal["waiting", "paused", "stopped", "crashed", "postponed"]


class AgentInterruptedPayload(InAgentRun):
    """The agent was stopped before it returned."""

    reason: Interruption
    """`waiting` for a person, `paused`, `stopped`, `crashed` (its process died) or `postponed` (it
    raised `RetryAfter`)."""
    error: NotRequired[ErrorDescription]
    retryInMs: NotRequired[int]
    """When a postponed agent is started again."""


class AgentEmittedPayload(Narrated):
    """The agent called `ctx.emit("name", data)`."""

    name: str
    data: Json


class OnceCompletedPayload(InRun):
    """An effect given to `ctx.once` returned."""

    key: str
    value: Json


class TextDeltaPayload(Narrated):
    """Text. At most one event is written every 50 ms."""

    delta: str


class ThinkingDeltaPayload(Narrated):
    """Reasoning. At most one event is written every 50 ms."""

    delta: str


class ToolCalledPayload(Narrated):
    """The agent called a tool."""

    toolId: str
    toolName: str
    input: Json


class ToolResultPayload(Narrated):
    """The tool returned."""

    toolId: str
    output: Json
    isError: bool
