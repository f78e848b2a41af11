"""A plate: one coding-agent session as the board sees it, and a row of the view `plates`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

from callboard.board.transition import NEEDY, Status
from callboard.events.codec import load_json
from callboard.events.moments import from_ms, iso


@dataclass(frozen=True, slots=True)
class Pending:
    """A dialog that is open in the agent's terminal.

    id: of the interaction, when the hook is held open so that the board can answer; else None.
    call: the fingerprint of the tool's input, by which a call is known again.
    at: when it opened, in milliseconds.
    """

    id: str | None
    tool: str
    call: str
    asks: str
    at: int
    subagent: str | None = None

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

    @property
    def todo_progress(self) -> str | None:
        """How much of its list is done, such as 2/5."""
        if not self.todos:
            return None
        done = sum(todo.status == "completed" for todo in self.todos)
        return f"{done}/{len(self.todos)}"

    def to_wire(self) -> dict[str, Any]:
        """The plate as JSON readers see it."""
        kept = {_camel(name): getattr(self, name) for name in _PLAIN}
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
        """What events tell of it: all that `from_json` needs."""
        return {
            **{_camel(name): getattr(self, name) for name in (*_PLAIN, *_TIMES)},
            "pending": [one.to_json() for one in self.pending],
            "todos": [[todo.id, todo.text, todo.status] for todo in self.todos],
            "background": [dict(one) for one in self.background],
            "subagents": list(self.subagents),
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Self:
        """The plate that `to_json` wrote."""
        plain = {name: told[_camel(name)] for name in (*_PLAIN, *_TIMES)}
        return cls(
            **plain,
            pending=tuple(Pending(**one) for one in told["pending"]),
            todos=tuple(Todo(*one) for one in told["todos"]),
            background=tuple(told["background"]),
            subagents=tuple(told["subagents"]),
        )

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """The plate that a row of the view holds."""
        told = {_camel(name): row[column] for name, column in _COLUMNS.items()}
        told |= {_camel(name): bool(row[name]) for name in _FLAGS}
        return cls.from_json(told | {name: load_json(row[name]) for name in _STRUCTURED})


_TIMES: Final = ("created_at", "updated_at", "status_at")
_STRUCTURED: Final = ("pending", "todos", "background", "subagents")
_FLAGS: Final = ("pinned", "unseen", "interrupted", "dismissed")
_PLAIN: Final = tuple(one.name for one in fields(Plate) if one.name not in (*_TIMES, *_STRUCTURED))
_COLUMNS: Final = {name: "id" if name == "plate_id" else name for name in (*_PLAIN, *_TIMES)}


def changed(before: Plate | None, after: Plate) -> dict[str, Any]:
    """What an event tells of the plate: all of a new one, else only what is different."""
    told = after.to_json()
    if before is None:
        return told
    known = before.to_json()
    return {key: value for key, value in told.items() if known[key] != value}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
