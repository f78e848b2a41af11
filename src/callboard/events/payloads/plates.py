"""The payloads of a plate's events: one coding agent session as the board sees it.

Most keys are `NotRequired`, because clients differ in what their hooks report, and programs may
report these events with less.
"""

from typing import Literal, NotRequired, TypedDict

from callboard.events.envelope import Json
from callboard.events.payloads.people import Source

OutcomeKind = Literal["allowed", "denied", "dismissed", "presumed", "lost", "unknown"]
"""How a request ended.

allowed: the call ran, or the questions were answered. denied: the agent was told no. dismissed: the
dialog was closed without a decision. presumed: the agent has our answer, and nothing contradicts
it. unknown: the dialog is gone, and nothing shows why. lost: the agent is gone, or stopped
listening before it got our answer.
"""

SeenIn = Literal["registry", "transcript", "silence"]
"""What showed the end of a turn that no hook reported."""


class TodoItem(TypedDict):
    """One entry of an agent's to-do list."""

    id: str
    text: NotRequired[str]
    status: NotRequired[str]


class BackgroundWork(TypedDict):
    """What keeps running after a turn."""

    id: str
    kind: str
    description: str


class PlateEvent(TypedDict):
    """What every event of a plate can have."""

    sessionId: NotRequired[str]
    """The client's own session."""
    raw: NotRequired[Json]
    """The hook's payload as it came, or its start if it was huge."""
    plate: NotRequired[dict[str, Json]]
    """What the event changed about the plate, with the names that `GET /plates` uses.

    Without it, the event changed nothing: it came late, or the plate was closed.
    """
    subagent: NotRequired[str]
    """The id of the subagent in which it happened."""
    todos: NotRequired[list[TodoItem]]
    """The agent's whole to-do list."""
    todo: NotRequired[TodoItem]
    """One entry of that list, new or changed."""


class SessionStartPayload(PlateEvent):
    """The client started a session: when it was started, by `/clear`, or when it resumed one."""

    source: NotRequired[str]


class PromptSubmitPayload(PlateEvent):
    """A person, or the client itself, sent a prompt."""

    prompt: NotRequired[str]
    origin: NotRequired[Literal["self", "status"]]
    """The client started the turn itself, or its status shows that a turn started."""


class ToolUseDetails(PlateEvent):
    """A tool, and a call of it."""

    toolName: NotRequired[str]
    toolInput: NotRequired[Json]
    """Left out if `raw` has it."""
    toolUseId: NotRequired[str]
    """The client's own id of the call."""


class ToolStartPayload(ToolUseDetails):
    """A tool is about to run."""

    asks: NotRequired[str]
    """What the person is asked, if the tool is a question."""
    resultAt: NotRequired[int]
    """When the call had its result, if this event comes after it."""


class ToolCallPayload(ToolUseDetails):
    """A tool ran, successfully or not."""

    answers: NotRequired[dict[str, Json]]
    """What the person answered, if the tool is a question."""
    failure: NotRequired[str]
    hook: NotRequired[str]


class StopPayload(PlateEvent):
    """A turn ended."""

    message: NotRequired[str]
    """The agent's last message."""
    background: NotRequired[list[BackgroundWork]]
    error: NotRequired[str]
    seenIn: NotRequired[SeenIn]
    """Where that was found, if no hook reported it."""


class HealthCheckRecoveryPayload(PlateEvent):
    """The transcript continued while the plate was waiting: the agent is idle."""


class PermissionRequestPayload(ToolUseDetails):
    """The client opened a dialog: for a tool, a question or a plan."""

    asks: NotRequired[str]
    """What the person is asked."""
    call: NotRequired[str]
    """The client's own id of the request."""


class RequestOutcome(PlateEvent):
    """What became of a request."""

    request: NotRequired[str]
    """The id of the question."""
    outcome: NotRequired[OutcomeKind]
    via: NotRequired[str]
    """Where it was decided: `terminal` or `hook`."""
    message: NotRequired[str]
    """What the person wrote when they denied it."""
    answers: NotRequired[dict[str, Json]]
    source: NotRequired[Source]
    """What shows it."""
    toolUseId: NotRequired[str]
    final: NotRequired[bool]
    """Nothing later will contradict it."""
    handed: NotRequired[Literal["allowed", "denied"]]
    """The hook received this accepted answer."""
    edited: NotRequired[str]
    """A fingerprint of the input that the answer has, if a person edited it."""


class PermissionResolvedPayload(RequestOutcome):
    """The dialog closed."""

    approved: NotRequired[bool]
    call: NotRequired[str]
    """The client's own id of the request."""
    toolName: NotRequired[str]


class PermissionSettledPayload(RequestOutcome):
    """What became of a request after its dialog closed."""


class StopFailurePayload(PlateEvent):
    """A turn failed."""

    error: str


class TurnIdlePayload(PlateEvent):
    """The client waits for a prompt: after its start, or because someone pressed Esc."""

    interrupted: NotRequired[bool]
    seenIn: NotRequired[SeenIn]
    """Where that was found, if no hook reported it."""


class OfSubagent(PlateEvent):
    """A subagent of the client's session."""

    agentType: NotRequired[str]


class SubagentStartPayload(OfSubagent):
    """A subagent started. `subagent` is its id."""


class SubagentStopPayload(OfSubagent):
    """A subagent ended. `subagent` is its id."""

    source: NotRequired[str]
    message: NotRequired[str]
    error: NotRequired[str]
    reason: NotRequired[str]


class CompactPayload(PlateEvent):
    """The client compacts its context."""

    source: NotRequired[str]
    trigger: NotRequired[str]


class SessionEndPayload(PlateEvent):
    """The client's session ended."""

    reason: NotRequired[str]


class ProcessExitPayload(PlateEvent):
    """The client's process is gone."""


class HookHeardPayload(PlateEvent):
    """A hook that does not change the status, or that this version does not know."""

    hook: str
    kind: NotRequired[str]
    message: NotRequired[str]
    unheld: NotRequired[str]
    """The question whose hook is gone while its dialog is still open."""


class PlateRegisteredPayload(PlateEvent):
    """`callboard watch` is about to start a client."""


class PlateChangedPayload(PlateEvent):
    """Someone renamed or pinned the plate, marked it as seen, or checked out a branch."""

    name: NotRequired[str]
    pinned: NotRequired[bool]
    seen: NotRequired[bool]
    gitBranch: NotRequired[str]
    """The branch that its folder has checked out now."""
    by: NotRequired[str]


class PlateDismissedPayload(PlateEvent):
    """Someone removed the plate from the board."""

    by: NotRequired[str]


class HostConnectedPayload(TypedDict):
    """The relay of another machine connected for the first time, or after it was unreachable."""

    host: str
    """The machine's id."""
    name: str
    version: str
    """The version of Callboard on that machine."""
    powers: NotRequired[list[str]]
    """What the machine lets servers do there, besides deciding."""
    secret: NotRequired[str]
    """Its token's id and a hash of its relay's secret, which comes with everything it sends."""
    contestedAt: NotRequired[int]
    """When someone last used its token without the secret, in milliseconds."""


class HostDisconnectedPayload(TypedDict):
    """A machine can't be reached anymore. What its agents do is unknown until it can be."""

    host: str
    seenAt: int
    """When it was last reachable, in milliseconds."""


class HostContestedPayload(TypedDict):
    """Someone used a machine's token without the secret of its relay, and was refused."""

    host: str


class HostRemovedPayload(TypedDict):
    """Someone removed a machine. It can report again after it was paired again."""

    host: str


class HostAskedPayload(TypedDict):
    """A server asked the one that has a machine's relay for a command."""

    host: str
    id: str
    command: str
    by: NotRequired[str]
    """Who asked for it."""


class HostAnsweredPayload(TypedDict):
    """A server passed on what became of a command."""

    host: str
    id: str
    result: str
    """`done`, `refused` or `failed`."""


class PlateDetails(
    PromptSubmitPayload,
    ToolStartPayload,
    ToolCallPayload,
    StopPayload,
    PermissionRequestPayload,
    PermissionResolvedPayload,
    TurnIdlePayload,
    SessionEndPayload,
):
    """Any event of a plate, for code that reads what several of them have in common."""

    unheld: NotRequired[str]
    """See `HookHeardPayload`."""
