"""A plate: one coding agent session as the board sees it, and a row of the view `plates`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Self

from callboard.board.transition import NEEDY, Status
from callboard.events.codec import load_json
from callboard.events.payloads.plates import BackgroundWork
from callboard.events.shapes import Key, Millis, Shape, Unsent, camel, read, sent
from callboard.vendors.reports import Report

NOT_STARTED: Final = "pending:"
"""What the session id of a client starts with until it says what it is."""
LONGEST_TEXT: Final = 500
"""How many characters of a text the board shows."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A dialog that is open in the agent's terminal.

    id: the interaction's id if the hook is held open so that the board can answer; else None.
    call: a fingerprint of the tool's input, to recognize the call.
    at: when it opened, in milliseconds.
    use: the client's own id of the call, if it is known.
    others: the ids of equal calls that other requests were about.
    """

    id: str | None
    tool: str
    call: str
    asks: str
    at: int
    subagent: str | None = None
    use: str | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A request whose dialog is gone, until the client's own files confirm what became of it.

    closed_at: when the dialog was gone, in milliseconds. transcript: where its outcome will appear.
    handed: our decision, `allowed` or `denied`, once the hook has it. edited: a fingerprint of the
        input that it was told to run with instead.
    seen: the last outcome for which there was evidence, if any.
    """

    id: str
    tool: str
    call: str
    at: int
    closed_at: int
    use: str | None = None
    transcript: str | None = None
    handed: str | None = None
    seen: str | None = None
    others: tuple[str, ...] = ()
    subagent: str | None = None
    edited: str | None = None


@dataclass(frozen=True, slots=True)
class Todo(Shape):
    """One entry of the agent's to-do list."""

    id: Unsent[str]
    text: str
    status: str

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Read what `to_wire` wrote, which doesn't include the id."""
        return read(cls, wire, id="")


@dataclass(frozen=True, slots=True)
class Plate(Shape):
    """Everything the board knows about one client process. Times are milliseconds.

    session_id: the client's current session; after `/clear`, it is another one on the same plate.
    status_at: when the event happened that the status comes from.
    host: the id of the machine that it runs on; host_name: what people call it.
    pid, proc_start, boot_id: the process that runs the session, and in which boot of the system.
    client_pid, client_start: the terminal's process, if sessions run in a daemon.
    background: what keeps running by itself: [{id, kind, description}].
    ended: how its last session ended, while it is closed.
    relayed: the number of the last report from its host's relay; "" without a relay.
    """

    plate_id: str
    agent: str
    session_id: str
    created_at: Millis
    updated_at: Millis
    status: Status = "starting"
    status_at: Unsent[int] = 0
    pid: int | None = None
    proc_start: str | None = None
    boot_id: Unsent[str] = ""
    client_pid: int | None = None
    client_start: str | None = None
    host: str = ""
    host_name: str = ""
    project_path: str = ""
    git_branch: str | None = None
    transcript_path: str | None = None
    tmux_target: str | None = None
    model: str | None = None
    last_event: str = ""
    last_tool: str | None = None
    last_message: str | None = None
    prompt: str | None = None
    error: str | None = None
    ended: str | None = None
    name: str | None = None
    pinned: bool = False
    unseen: bool = False
    interrupted: bool = False
    dismissed: bool = False
    pending: Unsent[tuple[Pending, ...]] = ()
    unsettled: Unsent[tuple[Unsettled, ...]] = ()
    todos: tuple[Todo, ...] = ()
    background: Unsent[tuple[BackgroundWork, ...]] = ()
    subagents: Unsent[tuple[str, ...]] = ()
    relayed: Unsent[str] = ""

    @sent
    def attention(self) -> bool:
        """Whether a person is needed here."""
        if self.status == "closed":
            return False
        return self.status in NEEDY or bool(self.pending) or (self.status == "idle" and self.unseen)

    @sent
    def waiting_for(self) -> str | None:
        """What the person is asked, as text."""
        return self.pending[0].asks if self.pending else None

    @sent
    def interaction_id(self) -> str | None:
        """The question that can be answered from the board."""
        return next((one.id for one in self.pending if one.id), None)

    @property
    def terminal_process(self) -> tuple[int | None, str | None]:
        """The process that the agent's terminal has, and its start."""
        if self.client_pid is not None:
            return self.client_pid, self.client_start
        return self.pid, self.proc_start

    @property
    def urgency(self) -> tuple[bool, bool, bool, int]:
        """The sort key: plates that need a person, open ones, pinned ones, last changed."""
        return (not self.attention, self.status == "closed", not self.pinned, -self.updated_at)

    @property
    def label(self) -> str:
        """What people call it: its name, or its folder."""
        return self.name or folder_name(self.project_path) or self.agent

    def dialog(self, interaction_id: str) -> Pending | None:
        """The open dialog of this question."""
        return next((one for one in self.pending if one.id == interaction_id), None)

    def has(self, report: Report) -> bool:
        """Whether a relay's report is recorded already: it sends one again until it is confirmed.

        What one host reports about one plate comes in the order of its numbers.
        """
        return report.relayed is not None and report.relayed.is_among(self.relayed)

    def awaits_outcome_of(self, interaction_id: str) -> bool:
        """Whether the dialog of this question is gone, and its outcome not confirmed."""
        return any(one.id == interaction_id for one in self.unsettled)

    @sent
    def todo_progress(self) -> str | None:
        """How much of its to-do list is done, such as 2/5."""
        if not self.todos:
            return None
        done = sum(todo.status == "completed" for todo in self.todos)
        return f"{done}/{len(self.todos)}"

    def having(self, **told: Any) -> Self:
        """The plate with these fields; itself if nothing changes, which is the usual case."""
        new = {name: value for name, value in told.items() if getattr(self, name) != value}
        return replace(self, **new) if new else self

    @sent
    def in_background(self) -> Annotated[list[BackgroundWork], Key("background")]:
        """What the client reports as background work, and its other subagents."""
        told = {one.get("id") for one in self.background}
        others = (id for id in self.subagents if id not in told)
        subagents = (BackgroundWork(id=id, kind="subagent", description="") for id in others)
        return [*self.background, *subagents]

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Read what `to_wire` wrote, which has only the question of the first open dialog."""
        asks, question = wire["waitingFor"], wire["interactionId"]
        plate = read(cls, wire, background=tuple(wire["background"]))
        pending = () if asks is None else (Pending(question, "", "", asks, 0),)
        return plate.having(status_at=plate.updated_at, pending=pending)

    def to_json(self) -> dict[str, Any]:
        """The plate as events have it, field by field."""
        return {key: _told(name, getattr(self, name)) for name, key in _KEYS.items()}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        plain = {name: told[key] for name, key in _KEYS.items()}
        for name, reader in _READERS.items():
            plain[name] = tuple(reader(one) for one in plain[name])
        return cls(**plain)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """The plate in a row of the view."""
        told = {key: row[column] for key, column in _COLUMNS.items()}
        for name in _FLAGS:
            told[name] = bool(told[name])
        for name in _READERS:
            told[name] = load_json(told[name])
        return cls.from_json(told)


def folder_name(path: str) -> str:
    """What people call a project's folder: the last part of its path; empty if it has none."""
    return PurePosixPath(path).name


def clipped(text: Any) -> str | None:
    """Text as the board shows it, shortened; None if empty. The raw payload has all of it."""
    if not isinstance(text, str) or not text.strip():
        return None
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def changed(before: Plate | None, after: Plate) -> dict[str, Any]:
    """What an event says about the plate: all of a new one, otherwise only what changed."""
    if before is None:
        return after.to_json()
    return {
        _KEYS[name]: _told(name, now)
        for name, was, now in zip(_KEYS, _values(before), _values(after), strict=True)
        if was != now
    }


def _told(name: str, value: Any) -> Any:
    write = _WRITERS.get(name)
    return value if write is None else [write(one) for one in value]


def _written(request: Pending | Unsettled) -> dict[str, Any]:
    told = {name: getattr(request, name) for name in request.__slots__}
    # Servers of the release before this one don't know these fields.
    return {name: one for name, one in told.items() if one is not None or name not in _RARE}


def _request(told: Mapping[str, Any]) -> dict[str, Any]:
    return {**told, "others": tuple(told.get("others", ()))}


_RARE: Final = frozenset({"edited", "subagent"})


_WRITERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "pending": _written,
    "unsettled": _written,
    "todos": lambda todo: [todo.id, todo.text, todo.status],
    "background": dict,
    "subagents": str,
}
_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "pending": lambda told: Pending(**_request(told)),
    "unsettled": lambda told: Unsettled(**_request(told)),
    "todos": lambda told: Todo(*told),
    "background": dict,
    "subagents": str,
}
_FLAGS: Final = ("pinned", "unseen", "interrupted", "dismissed")
_KEYS: Final = {one.name: camel(one.name) for one in fields(Plate)}
_values: Final = attrgetter(*_KEYS)
_COLUMNS: Final = {key: "id" if name == "plate_id" else name for name, key in _KEYS.items()}
