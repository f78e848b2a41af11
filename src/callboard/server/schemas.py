"""Request bodies. Responses are shapes: see `callboard.events.shapes`."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from callboard.board.budgets import MOST_DAILY
from callboard.board.changes_reading import LONGEST_COMMENT, LONGEST_PATH, MOST_COMMENTS
from callboard.board.time_zones import LONGEST_ZONE
from callboard.engine.statistics import MOST_OFFSET
from callboard.engine.titles import LONGEST
from callboard.events.access import Scope
from callboard.events.envelope import Json
from callboard.events.limits import MOST
from callboard.events.payloads.messages import MessageTiming
from callboard.vendors.client_programs import LONGEST_PROMPT
from callboard.vendors.metadata import LARGEST_PID

SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
"""An id that a caller may choose. It is used in URLs and file names as it is."""

SessionTitle = Annotated[str, Field(max_length=LONGEST)]
"""What people call a session."""

MOST_EVENTS: Final = 10**18
"""More than any log has. A larger number may not fit into the database."""

Place = Annotated[int, Field(ge=0, lt=MOST_EVENTS)]
"""A position in a session, or the number of an event."""

Limit = Annotated[int, Field(ge=1, lt=MOST_EVENTS)]
"""How many items; larger values get one full page."""


class RequestBody(BaseModel):
    """A request body in camelCase. Unknown fields are errors."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, extra="forbid", strict=True
    )


class StartRequest(RequestBody):
    """A session to start."""

    workflow_id: str | None = None
    input: Json = None
    session_id: SessionId | None = None
    title: SessionTitle | None = None


class SessionChange(RequestBody):
    """What to change about a session: its title; null or empty removes it."""

    title: SessionTitle | None
    by: str | None = None


class ReceivedRequest(RequestBody):
    """An `input:received` event as other clients build it; only its payload counts."""

    model_config = ConfigDict(extra="ignore")

    name: Literal["input:received"] | None = None
    payload: dict[str, Json]


class InputRequest(RequestBody):
    """An answer: to the question `id`, to the only open one, or as an event."""

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
    value: Json = None
    approved: bool | None = None
    input: Json = None
    event: ReceivedRequest | None = None
    by: str | None = None


class PauseRequest(RequestBody):
    """How to pause."""

    interrupt: bool = False
    reason: str | None = None
    by: str | None = None


class ResumeRequest(RequestBody):
    """Who resumes it."""

    by: str | None = None


class CancelRequest(RequestBody):
    """Why it is cancelled."""

    reason: str | None = None
    by: str | None = None


class ForkAt(RequestBody):
    """A point in a session; by default, its end."""

    phase: str | None = None
    occurrence: Limit | Literal["first", "last"] | None = None
    event_index: Place | None = None
    position: Place | None = None


class Edit(RequestBody):
    """One operation of a JSON Patch (RFC 6902) on the state."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    value: Json = None
    source: str | None = Field(None, alias="from")


class ForkRequest(RequestBody):
    """Where to start over, with which changes."""

    at: ForkAt | None = None
    edits: Annotated[list[Edit], Field(max_length=1000)] = []
    run: bool = True
    session_id: SessionId | None = None
    by: str | None = None


class RetryRequest(ForkRequest):
    """Where to retry from, with which changes; without `at`, from the failed phase."""


class AskRequest(RequestBody):
    """A question to people, standalone or in a session."""

    session_id: str | None = None
    type: Literal["approval", "choice", "confirmation", "select", "input", "interactive_session"]
    prompt: Annotated[str, Field(min_length=1)]
    options: list[str] | None = None
    config: dict[str, Json] | None = None
    key: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    assignees: list[str] | None = None


class AssignRequest(RequestBody):
    """Who is expected to answer: by default the caller; with null, no one in particular."""

    to: str | None = None
    by: str | None = None


class ClaimRequest(RequestBody):
    """Who works on a question, and for how long no one else can claim it."""

    by: Annotated[str, Field(min_length=1)]
    ttl_ms: Annotated[int, Field(ge=1000, le=86_400_000)] = 60_000


class ReleaseRequest(RequestBody):
    """Who releases a claim: its holder."""

    by: Annotated[str, Field(min_length=1)]


class AnswerRequest(RequestBody):
    """An answer."""

    value: Json = None
    approved: bool | None = None
    by: str | None = None


class CompleteRequest(RequestBody):
    """The end of an interactive session."""

    outcome: Literal["completed", "approved", "rejected", "cancelled", "timeout", "failed"]
    response: Json = None
    transcript: str | None = None
    duration_ms: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    error: str | None = None
    by: str | None = None


class TokenRequest(RequestBody):
    """A token to create; `person` defaults to the name."""

    name: Annotated[str, Field(max_length=64)]
    scope: Scope
    person: Annotated[str, Field(max_length=64)] | None = None
    groups: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=32)] = []
    host: Annotated[str, Field(max_length=64)] | None = None
    expires_in_ms: Annotated[int, Field(ge=1, le=3_153_600_000_000)] | None = None


class LimitRequest(RequestBody):
    """How many agents may run at once."""

    number: Annotated[int, Field(ge=0, le=MOST)]


class LinkRequest(RequestBody):
    """What the sign-in link allows; `admin` lasts for an hour."""

    scope: Literal["operate", "admin"] = "operate"


class HookChange(RequestBody):
    """The diff that was shown. If the change would be different by now, nothing is done."""

    # A diff that is too long still fits a request's body, however JSON escapes its characters.
    diff: Annotated[str, Field(max_length=80_000)]


class PlateChange(RequestBody):
    """What to change; omitted fields stay as they are."""

    name: Annotated[str, Field(max_length=200)] | None = None
    pinned: bool | None = None
    seen: bool | None = None


class MessageRequest(RequestBody):
    """A message to a coding agent. It is always sent as text, never run as a command."""

    text: str
    when: Annotated[
        MessageTiming, Field(description="At its next opportunity, or after its turn.")
    ] = "now"
    approval: Annotated[
        str | None,
        Field(
            min_length=1,
            description="The question in which a person approved exactly this message, as "
            "`callboard mcp` asks it. Messages of coding agents need one. It sends one message; "
            "again, it returns what became of that one.",
        ),
    ] = None
    key: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=500,
            description="One of your own: the same message with the same key is queued once. "
            "Send it again if the reply was lost.",
        ),
    ] = None


class MessageChange(RequestBody):
    """What to change; omitted fields stay as they are."""

    text: str | None = None
    when: MessageTiming | None = None
    before: Annotated[
        str | None,
        Field(description="Move it before this message, or with an empty text to the end."),
    ] = None


class AgentStartRequest(RequestBody):
    """An agent to start in the background.

    folder: an absolute path on that machine; can be left out to resume a plate. host: the machine's
    id or name; by default the server's own. resume: a plate, or a session's id.
    """

    agent: Annotated[str, Field(max_length=100)] = ""
    folder: Annotated[str, Field(max_length=4096)] = ""
    prompt: Annotated[str, Field(max_length=LONGEST_PROMPT)] | None = None
    host: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    resume: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class RelayHello(RequestBody):
    """A relay that asks for commands.

    holds: the questions whose hooks wait there. powers: what that machine lets servers do.
    secret: that of the relay, which its first connection with a token names.
    """

    name: Annotated[str, Field(max_length=1000)]
    boot_id: Annotated[str, Field(max_length=100)] = ""
    version: Annotated[str, Field(max_length=50)] = ""
    holds: Annotated[list[str], Field(max_length=1000)] = []
    powers: Annotated[list[Annotated[str, Field(max_length=50)]], Field(max_length=20)] = []
    secret: Annotated[str, Field(max_length=200)] = ""


class HostLogRequest(RequestBody):
    """How many of the last lines to read."""

    lines: Annotated[int, Field(ge=1, le=200)] = 50


class PairingRequest(RequestBody):
    """A code to create. server: its address for the machine that will use the code."""

    server: Annotated[str, Field(max_length=1000, pattern=r"^[!-~]+$")] = "URL"


class BudgetRequest(RequestBody):
    """A budget in US dollars a day; null for none. utcOffset: the time zone of its days.

    timeZone: its name, such as `Europe/Berlin`, which counts instead.
    """

    daily: Annotated[float, Field(gt=0, le=MOST_DAILY, allow_inf_nan=False)] | None
    utc_offset: Annotated[int, Field(ge=-MOST_OFFSET, le=MOST_OFFSET)] = 0
    time_zone: Annotated[str, Field(max_length=LONGEST_ZONE)] | None = None


class PairRequest(RequestBody):
    """A machine that has a code. host: its permanent id. name: what people call it."""

    code: Annotated[str, Field(max_length=100)]
    host: Annotated[str, Field(pattern=r"^[0-9a-z]{8,64}$")]
    name: Annotated[str, Field(max_length=200)]


class Reported(BaseModel):
    """What hook clients send: snake_case, possibly with unknown fields."""

    model_config = ConfigDict(extra="allow")


class ReportRequest(Reported):
    """An event of a client's session."""

    session_id: Annotated[str, Field(min_length=1)]
    event_type: Annotated[str, Field(min_length=1)]
    project_path: str | None = None
    cwd: str | None = None
    agent: str = "claude"
    tool_name: str | None = None
    tool_input: Json = None
    tool_params: Json = None
    transcript_path: str | None = None
    git_branch: str | None = None
    tmux_target: str | None = None
    error: str | None = None
    timestamp: str | float | None = None


class ProcessRequest(Reported):
    """A client's process, as far as its wrapper knows it."""

    project_path: Annotated[str, Field(min_length=1)]
    agent: str = "claude"
    session_id: Annotated[str, Field(min_length=1)] | None = None
    pid: Annotated[int, Field(gt=0, le=LARGEST_PID, strict=True)] | None = None
    proc_start: str | None = None


ChangesSince = Annotated[str, Field(pattern=r"^(session|turn|commit|[0-9]{1,20})$")]
"""What changes are compared with."""


class CommentOnLine(RequestBody):
    """A comment on a line of a diff; `excerpt` is the line as its author saw it."""

    path: Annotated[str, Field(min_length=1, max_length=LONGEST_PATH)]
    side: Literal["old", "new"] = "new"
    line: Annotated[int, Field(ge=1, lt=MOST_EVENTS)]
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_COMMENT)]
    excerpt: Annotated[str, Field(max_length=LONGEST_COMMENT)]


class CommentsRequest(RequestBody):
    """Comments that become one message."""

    comments: Annotated[list[CommentOnLine], Field(min_length=1, max_length=MOST_COMMENTS)]
    since: ChangesSince = "session"
