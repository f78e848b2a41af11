"""Plates and hooks over the wire. What hook clients send is in their own snake_case."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from callboard.board.transition import Status
from callboard.server.schemas import Given, Moment, Wire
from callboard.vendors.metadata import LARGEST_PID


class BackgroundOut(Wire):
    """Something that goes on by itself."""

    model_config = ConfigDict(extra="allow")

    id: str | None = None
    kind: str | None = None
    description: str | None = None


class TodoOut(Wire):
    """One thing on an agent's list."""

    text: str
    status: str


class PlateOut(Wire):
    """One coding-agent session."""

    plate_id: str
    agent: str
    session_id: str
    pid: int | None
    proc_start: str | None
    project_path: str
    git_branch: str | None
    status: Status
    attention: bool
    waiting_for: str | None
    interaction_id: str | None
    last_event: str
    last_tool: str | None
    last_message: str | None
    prompt: str | None
    error: str | None
    ended: str | None
    todo_progress: str | None
    todos: list[TodoOut]
    background: list[BackgroundOut]
    name: str | None
    model: str | None
    interrupted: bool
    unseen: bool
    pinned: bool
    dismissed: bool
    transcript_path: str | None
    tmux_target: str | None
    created_at: Moment
    updated_at: Moment


class PlatesOut(Wire):
    """The board: those that need a person first, then the newest change first."""

    plates: list[PlateOut]


class PlateIn(Given):
    """What to change; what is left out stays."""

    name: Annotated[str, Field(max_length=200)] | None = None
    pinned: bool | None = None
    seen: bool | None = None


class Reported(BaseModel):
    """What hook clients send: in snake_case, with members that we need not know."""

    model_config = ConfigDict(extra="allow")


class ReportIn(Reported):
    """An event of a client's session."""

    session_id: Annotated[str, Field(min_length=1)]
    event_type: Annotated[str, Field(min_length=1)]
    project_path: str | None = None
    cwd: str | None = None
    agent: str = "claude"
    tool_name: str | None = None
    tool_input: Any = None
    tool_params: Any = None
    transcript_path: str | None = None
    git_branch: str | None = None
    tmux_target: str | None = None
    error: str | None = None
    timestamp: str | float | None = None


class ProcessIn(Reported):
    """A client's process, by as much as its wrapper knows."""

    project_path: Annotated[str, Field(min_length=1)]
    agent: str = "claude"
    session_id: Annotated[str, Field(min_length=1)] | None = None
    pid: Annotated[int, Field(gt=0, le=LARGEST_PID, strict=True)] | None = None
    proc_start: str | None = None


class HeardOut(Wire):
    """It was recorded."""

    status: Literal["ok"] = "ok"


class StoppedOut(HeardOut):
    """How many plates were closed by it."""

    count: int
