"""What goes over the wire, as the OpenAPI document shows it."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from callboard.events.status import Status
from callboard.interactions.records import Receipt

InteractionType = Literal[
    "approval", "choice", "confirmation", "select", "input", "interactive_session",
    "permission", "question", "plan",
]  # fmt: skip
InteractionStatus = Literal[
    "pending", "completed", "cancelled", "timeout", "failed", "approved", "rejected"
]

SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
"""An id that a caller may choose: it stands in addresses and file names as it is."""

MOST_EVENTS: Final = 10**18
"""No log has as many events, and a number that is not below it may fit no database."""

Place = Annotated[int, Field(ge=0, lt=MOST_EVENTS)]
"""A position in a session, or the number of an event."""

Limit = Annotated[int, Field(ge=1, lt=MOST_EVENTS)]
"""How many are wanted; whoever wants more than fit on a page gets a page."""

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class Wire(BaseModel):
    """camelCase outside, snake_case inside."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)


class Given(Wire):
    """What a caller sends: a field that is not known is an error, not a surprise."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(Wire):
    """What went wrong; further members say with what."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str


class Failure(Wire):
    """The envelope of every error."""

    error: Problem


class EventOut(Wire):
    """An event of a session."""

    id: str
    session_id: str
    position: int
    name: str
    tag: str = Field(alias="_tag")
    version: int
    payload: dict[str, Any]
    timestamp: Moment
    caused_by: str | None


class EventsOut(Wire):
    """Events in their order; `nextAfter` when there are more."""

    events: list[EventOut]
    next_after: int | None = None


class InteractionOut(Wire):
    """One question to a person."""

    id: str
    session_id: str | None
    type: InteractionType
    prompt: str
    options: list[str] | None
    other: bool
    status: InteractionStatus
    response: Any
    config: Any
    transcript: str | None
    duration_ms: int | None
    error: Any
    phase: str | None
    deadline: Moment | None
    claimed_by: str | None
    claimed_until: Moment | None
    answered_by: str | None
    answered_as: str | None
    via: str | None
    accepted: Any
    receipt: Receipt | None
    created_at: Moment
    resolved_at: Moment | None


class InteractionsOut(Wire):
    """Questions, oldest first; `nextCursor` when there are more."""

    interactions: list[InteractionOut]
    next_cursor: str | None


class SessionOut(Wire):
    """How a session stands."""

    session_id: str
    workflow: str
    version: str | None
    status: Status
    running: bool
    phase: str | None
    position: int
    created_at: Moment
    updated_at: Moment
    parent: str | None
    fork_position: int | None
    pending: list[InteractionOut] = Field(
        description="Its oldest open questions: in a list at most 3, by itself at most 100. "
        "`GET /interactions?sessionId=…&status=pending` lists all of them."
    )
    pending_count: int = Field(description="How many questions are open.")
    error: Problem | None
    held: str | None
    progress: str | None = Field(
        None, description="Phases completed, `3/5`, where status files tell that."
    )


class SessionsOut(Wire):
    """Sessions, newest first; `nextCursor` when there are more."""

    sessions: list[SessionOut]
    next_cursor: str | None


class PhaseOut(Wire):
    """A phase of a workflow."""

    name: str
    agent: str | None
    human: bool
    terminal: bool


class EdgeOut(Wire):
    """A way from one phase to another, and whether it is taken always or sometimes."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    taken: Literal["always", "sometimes"]


class WorkflowOut(Wire):
    """A workflow that this server runs."""

    id: str
    version: str | None
    input_schema: dict[str, Any] | None
    phases: list[PhaseOut]
    edges: list[EdgeOut]


class WorkflowsOut(Wire):
    """The workflows that this server runs."""

    workflows: list[WorkflowOut]


class StartIn(Given):
    """A session to begin."""

    workflow_id: str | None = None
    input: Any = None
    session_id: SessionId | None = None


class StartedOut(Wire):
    """The session that was begun."""

    session_id: str


class StateOut(Wire):
    """A state, and what it was made of."""

    state: Any
    position: int
    events_replayed: int


class ReceivedIn(Given):
    """An `input:received` as other clients build it; beside its payload nothing counts."""

    model_config = ConfigDict(extra="ignore")

    name: Literal["input:received"] | None = None
    payload: dict[str, Any]


class InputIn(Given):
    """An answer: to the question `id`, to the only one that is open, or as an event."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["id"], "properties": {"id": {"type": "string"}}},
                {"required": ["input"]},
                {"required": ["event"], "properties": {"event": {"type": "object"}}},
            ]
        }
    )

    id: str | None = None
    value: Any = None
    approved: bool | None = None
    input: Any = None
    event: ReceivedIn | None = None
    by: str | None = None


class PauseIn(Given):
    """How to pause."""

    interrupt: bool = False
    reason: str | None = None
    by: str | None = None


class ResumeIn(Given):
    """Who lets it go on."""

    by: str | None = None


class CancelIn(Given):
    """Why it ends."""

    reason: str | None = None
    by: str | None = None


class OkOut(Wire):
    """Done."""

    ok: Literal[True] = True


class PausedOut(OkOut):
    """Whether it was this request that paused it."""

    was_paused: bool


class ResumedOut(OkOut):
    """Whether it was this request that let it go on."""

    was_resumed: bool


class CancelledOut(OkOut):
    """Whether it was this request that ended it."""

    was_cancelled: bool


class ForkAt(Given):
    """A point in a session; nothing at all means its end."""

    phase: str | None = None
    occurrence: Limit | Literal["first", "last"] | None = None
    event_index: Place | None = None
    position: Place | None = None


class EditIn(Given):
    """One operation of a JSON Patch (RFC 6902) on the state."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    value: Any = None
    source: str | None = Field(None, alias="from")


class ForkIn(Given):
    """Where to begin anew, with what changed."""

    at: ForkAt | None = None
    edits: Annotated[list[EditIn], Field(max_length=1000)] = []
    run: bool = True
    session_id: SessionId | None = None
    by: str | None = None


class ForkOut(Wire):
    """The session that a fork made; nothing is copied, `eventsCopied` counts what it shares."""

    session_id: str
    original_session_id: str
    events_copied: int
    position: int


class AskIn(Given):
    """A question to people, by itself or in a session."""

    session_id: str | None = None
    type: Literal["approval", "choice", "confirmation", "select", "input", "interactive_session"]
    prompt: Annotated[str, Field(min_length=1)]
    options: list[str] | None = None
    config: dict[str, Any] | None = None
    key: Annotated[str, Field(min_length=1, max_length=500)] | None = None


class ClaimIn(Given):
    """Who sees to a question, and for how long nobody else does."""

    by: Annotated[str, Field(min_length=1)]
    ttl_ms: Annotated[int, Field(ge=1000, le=86_400_000)] = 60_000


class ReleaseIn(Given):
    """Who gives a claim back: whoever has it."""

    by: Annotated[str, Field(min_length=1)]


class AnswerIn(Given):
    """An answer."""

    value: Any = None
    approved: bool | None = None
    by: str | None = None


class CompleteIn(Given):
    """The end of an interactive session."""

    outcome: Literal["completed", "approved", "rejected", "cancelled", "timeout", "failed"]
    response: Any = None
    transcript: str | None = None
    duration_ms: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    error: str | None = None
    by: str | None = None


class HealthOut(Wire):
    """That the server lives."""

    status: Literal["ok"] = "ok"


class LinkOut(Wire):
    """A code that opens the dashboard once."""

    code: str
    expires_at: Moment
