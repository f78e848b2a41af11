"""The payloads of a workflow's events: its start and end, its phases, its state and its tasks."""

from typing import Literal, NotRequired, TypedDict

from callboard.events.envelope import Json
from callboard.events.failures import ErrorDescription

# These keys are Python keywords, which can't be attributes of a class.
_As = TypedDict("_As", {"as": NotRequired[str]})
_From = TypedDict("_From", {"from": NotRequired[str]})


class Authored(_As):
    """Who did something.

    `by` is the authenticated name: the holder of the token. `as` is the name that the caller gave,
    if it differs.
    """

    by: NotRequired[str]


class Reasoned(Authored):
    """Who did something, and why."""

    reason: NotRequired[str]


class PatchOperation(_From):
    """One operation of a JSON Patch (RFC 6902) on the state."""

    op: str
    path: str
    value: NotRequired[Json]


class WorkflowStartedPayload(Authored):
    """A session started."""

    workflow: str
    version: str | None
    input: Json
    initialState: Json
    source: NotRequired[dict[str, str]]
    """The file that the workflow was loaded from, if it came from a file."""
    title: NotRequired[str]
    """What people call the session: given by the caller, else by the workflow."""


class WorkflowCompletedPayload(TypedDict):
    """The terminal phase is done."""

    exitPhase: str | None
    finalState: NotRequired[Json]
    """Added when the event is served. It is not stored."""


class WorkflowFailedPayload(TypedDict):
    """A phase failed and will not be retried."""

    error: ErrorDescription
    """It has `code`, `message`, `type` and `phase`."""


class WorkflowCancelledPayload(Reasoned):
    """Someone cancelled the session."""


class WorkflowPausingPayload(Reasoned):
    """Someone asked for a pause."""

    interrupt: NotRequired[bool]
    """Running agents are interrupted instead of finishing first."""


class WorkflowPausedPayload(Reasoned):
    """The session is paused: nothing is running."""


class WorkflowResumedPayload(Authored):
    """The session continues."""


class SessionForkedPayload(Authored):
    """The first event of a fork after the part that it shares with its parent."""

    parentSessionId: str
    forkPosition: int
    workflow: str
    version: str | None
    phase: str | None
    edits: NotRequired[list[PatchOperation]]
    startEdits: NotRequired[int]
    """In a fork at position 1: how many of the first edits the workflow's `start` made."""
    source: NotRequired[dict[str, str]]
    title: NotRequired[str]
    """The title of the parent at that time."""


class SessionTitledPayload(Authored):
    """Someone changed a session's title.

    Written to the stream `title:<ID>`, so that a session can be renamed after its last event.
    """

    sessionId: str
    title: str | None


class SessionHeldPayload(TypedDict):
    """The session cannot continue: the workflow no longer has the phase that comes next."""

    reason: str


class InPhase(TypedDict):
    """One visit of a phase."""

    phase: str
    visit: int


class PhaseEnteredPayload(InPhase):
    """A phase started. What its `guard` and `for_each` returned is recorded here."""

    fromPhase: NotRequired[str]
    guard: NotRequired[bool]
    items: NotRequired[list[Json]]


ExitReason = Literal["next", "terminal", "skipped", "error"]


class PhaseExitedPayload(InPhase):
    """A phase ended. What its `next` and `until` returned is recorded here."""

    reason: ExitReason
    """`next`, `terminal`, `skipped` or `error`."""
    next: NotRequired[str | None]
    until: NotRequired[bool]
    terminal: NotRequired[bool]
    """A terminal phase was skipped."""


class PhaseFailedPayload(InPhase):
    """An attempt failed."""

    run: str | None
    """Null when one of the phase's own functions failed; then `attempt` is 0."""
    attempt: int
    error: ErrorDescription
    retryInMs: NotRequired[int]
    """When the next attempt starts, if there will be one."""


class StateIntentPayload(TypedDict):
    """The state changed."""

    intentId: str
    reason: str
    """What changed it: `start`, `before`, `update`, `human`, `after`, `reset` or `upgrade`.

    `human` is the answer, and `on_answer`. `reset` clears the previous phase's answer; it is
    `enter` in older sessions. `upgrade` sets the defaults of fields that the type has gained.
    """
    patches: list[PatchOperation]
    """A JSON Patch. It may be empty for `before` and `after`, which are recorded even then."""


class StateCheckpointPayload(TypedDict):
    """The whole view.

    Written between two phases, or after `session:forked`, once the events since the last checkpoint
    outweigh it.
    """

    state: Json
    phase: str | None
    control: dict[str, Json]


class _Task(TypedDict):
    taskId: str
    kind: str
    title: str


class TaskStartedPayload(_Task):
    """An interactive session was requested. The task has the id of its question."""


class TaskCompletedPayload(_Task):
    """The session ended, whatever its outcome. Written in the same append."""
