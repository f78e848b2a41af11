"""A plate: one coding-agent session as the board sees it, and a row of the view `plates`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final, Self

from callboard.board.transition import NEEDY, Status
from callboard.events.codec import load_json
from callboard.events.moments import from_ms, iso

LONGEST_TEXT: Final = 500
"""How much of a text the board shows."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A dialog that is open in the agent's terminal.

    id: of the interaction, when the hook is held open so that the board can answer; else None.
    call: the fingerprint of the tool's input, by which a call is known again.
    at: when it opened, in milliseconds.
    use: the client's own id of the call, where a hook before it said so.
    """

    id: str | None
    tool: str
    call: str
    asks: str
    at: int
    subagent: str | None = None
    use: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As it stands in the row."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A request whose dialog is gone, until the client's own files confirm what became of it.

    closed_at: when the dialog was gone, in milliseconds. transcript: where its outcome will stand.
    handed: the hook got our decision. seen: the last outcome that something showed, if any.
    """

    id: str
    tool: str
    call: str
    at: int
    closed_at: int
    use: str | None = None
    transcript: str | None = None
    handed: bool = False
    seen: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As it stands in the row."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Todo:
    """One thing on the agent's list."""

    id: str
    text: str
    status: str


@dataclass(frozen=True, slots=True)
class Plate:
    """Everything the board knows of one client process. Times are milliseconds.

    session_id: the client's session now; after `/clear` it is another one, on the same plate.
    status_at: when the event happened that the status comes from.
    background: what goes on by itself: [{id, kind, description}].
    ended: how its last session ended, while it is closed.
    """

    plate_id: str
    agent: str
    session_id: str
    created_at: int
    updated_at: int
    status: Status = "starting"
    status_at: int = 0
    pid: int | None = None
    proc_start: str | None = None
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
    pending: tuple[Pending, ...] = ()
    unsettled: tuple[Unsettled, ...] = ()
    todos: tuple[Todo, ...] = ()
    background: tuple[Mapping[str, Any], ...] = ()
    subagents: tuple[str, ...] = ()

    @property
    def attention(self) -> bool:
        """Whether a person is needed here."""
        if self.status == "closed":
            return False
        return self.status in NEEDY or bool(self.pending) or (self.status == "idle" and self.unseen)

    @property
    def waiting_for(self) -> str | None:
        """What a person is asked, in words."""
        return self.pending[0].asks if self.pending else None

    def dialog(self, interaction_id: str) -> Pending | None:
        """The open dialog of this question."""
        return next((one for one in self.pending if one.id == interaction_id), None)

    def awaits_outcome_of(self, interaction_id: str) -> bool:
        """Whether the dialog of this question is gone, and its outcome not confirmed."""
        return any(one.id == interaction_id for one in self.unsettled)

    @property
    def todo_progress(self) -> str | None:
        """How much of its list is done, such as 2/5."""
        if not self.todos:
            return None
        done = sum(todo.status == "completed" for todo in self.todos)
        return f"{done}/{len(self.todos)}"

    def having(self, **told: Any) -> Self:
        """The plate with these fields; itself when it has them already, as it mostly does."""
        new = {name: value for name, value in told.items() if getattr(self, name) != value}
        return replace(self, **new) if new else self

    def to_wire(self) -> dict[str, Any]:
        """The plate as JSON readers see it."""
        kept = {key: getattr(self, name) for name, key in _PLAIN.items()}
        return kept | {
            "background": [*self.background, *self._running()],
            "attention": self.attention,
            "waitingFor": self.waiting_for,
            "interactionId": next((one.id for one in self.pending if one.id), None),
            "todoProgress": self.todo_progress,
            "todos": [{"text": todo.text, "status": todo.status} for todo in self.todos],
            "createdAt": iso(from_ms(self.created_at)),
            "updatedAt": iso(from_ms(self.updated_at)),
        }

    def _running(self) -> list[dict[str, Any]]:
        """The subagents, but those that the client itself counts as background work."""
        told = {one.get("id") for one in self.background}
        return [
            {"id": id, "kind": "subagent", "description": ""}
            for id in self.subagents
            if id not in told
        ]

    def to_json(self) -> dict[str, Any]:
        """What events tell of it, field by field."""
        return {key: _told(name, getattr(self, name)) for name, key in _KEYS.items()}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """The plate that `to_json` wrote."""
        plain = {name: told[key] for name, key in _KEYS.items()}
        for name, read in _READERS.items():
            plain[name] = tuple(read(one) for one in plain[name])
        return cls(**plain)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """The plate that a row of the view holds."""
        told = {key: row[column] for key, column in _COLUMNS.items()}
        for name in _FLAGS:
            told[name] = bool(told[name])
        for name in _READERS:
            told[name] = load_json(told[name])
        return cls.from_json(told)


def clipped(text: Any) -> str | None:
    """What a board shows of a text. All of it is in the raw payload; None for no text."""
    if not isinstance(text, str) or not text.strip():
        return None
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def changed(before: Plate | None, after: Plate) -> dict[str, Any]:
    """What an event tells of the plate: all of a new one, else only what is different."""
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


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


_WRITERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "pending": Pending.to_json,
    "unsettled": Unsettled.to_json,
    "todos": lambda todo: [todo.id, todo.text, todo.status],
    "background": dict,
    "subagents": str,
}
_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "pending": lambda told: Pending(**told),
    "unsettled": lambda told: Unsettled(**told),
    "todos": lambda told: Todo(*told),
    "background": dict,
    "subagents": str,
}
_FLAGS: Final = ("pinned", "unseen", "interrupted", "dismissed")
_TIMES: Final = ("created_at", "updated_at", "status_at")
_KEYS: Final = {one.name: _camel(one.name) for one in fields(Plate)}
_values: Final = attrgetter(*_KEYS)
_PLAIN: Final = {
    name: key for name, key in _KEYS.items() if name not in _WRITERS and name not in _TIMES
}
_COLUMNS: Final = {key: "id" if name == "plate_id" else name for name, key in _KEYS.items()}
