"""Messages to coding agents, as people see them: written, queued, handed over, delivered, seen."""

from dataclasses import dataclass, fields, replace
from typing import Final, Literal, Protocol, Self

from callboard.events.payloads.messages import MessageTiming
from callboard.events.rows import Row
from callboard.events.shapes import Millis, Shape, Unsent
from callboard.vendors.steering import Reach

MessageStatus = Literal["queued", "handed", "held", "delivered", "seen", "withdrawn", "lost"]
"""queued: it waits, and can be changed. handed: the client was given it, and nothing shows yet that
it has it. held: the person at its terminal has to accept it first. delivered: the client has it.
seen: the model was given it. withdrawn: taken back before that. lost: `note` says why."""


WAY_OF_HOOKS: Final = "hook"
"""On these, a hook takes a message when it runs next, however late that is."""


@dataclass(frozen=True, slots=True)
class PlateMessage(Shape):
    """A message to a coding agent, and its receipt.

    by: who wrote it. via: where. way: how it is or was handed over; None while it is queued.
    authority: whether the model takes it as its person's own words; None while that is unknown.
    note: why it waits, is held or was lost, as a sentence. attempt: how often it was handed over.
    session, pid, proc_start: the client's session that it was handed to, and its process.
    closed_at: when its receipt was final.
    """

    id: str
    plate_id: str
    text: str
    when: MessageTiming
    status: MessageStatus
    created_at: Millis
    by: str | None = None
    via: str | None = None
    way: str | None = None
    authority: bool | None = None
    note: str | None = None
    attempt: int = 0
    handed_at: Millis | None = None
    delivered_at: Millis | None = None
    seen_at: Millis | None = None
    closed_at: Millis | None = None
    place: Unsent[int] = 0
    session: Unsent[str | None] = None
    pid: Unsent[int | None] = None
    proc_start: Unsent[str | None] = None

    @classmethod
    def from_row(cls, row: Row) -> Self:
        """The message in a row of the view."""
        told: Row = {name: row[_COLUMNS.get(name, name)] for name in _NAMES}
        if told["authority"] is not None:
            told["authority"] = bool(told["authority"])
        return cls(**told)

    @property
    def is_with_hook(self) -> bool:
        """Whether it waits for one of the client's hooks, from which it can be taken back."""
        return self.status == "handed" and self.way == WAY_OF_HOOKS

    @property
    def shown(self) -> Self:
        """The message as people see it: what can be taken back is still queued."""
        return replace(self, status="queued") if self.is_with_hook else self


_NAMES: Final = tuple(one.name for one in fields(PlateMessage))
_COLUMNS: Final = {"plate_id": "plate", "when": "timing", "by": "written_by"}


@dataclass(frozen=True, slots=True)
class PlateMessages(Shape):
    """The messages to a session: past ones, then those that wait, in their order.

    reach: whether and how the session can be reached now.
    """

    messages: list[PlateMessage]
    reach: Reach


@dataclass(frozen=True, slots=True)
class PlateInterrupted(Shape):
    """Whether the client was told to stop its turn. note: why not, as a sentence."""

    was_interrupted: bool
    note: str | None = None
    ok: Literal[True] = True


class BoardMessages(Protocol):
    """Write to coding agents, and see what becomes of it."""

    async def list(self, plate_id: str) -> PlateMessages:
        """The messages to a session, and how it can be reached now."""
        ...

    async def say(
        self,
        plate_id: str,
        text: str,
        *,
        when: MessageTiming = "now",
        approval: str | None = None,
        key: str | None = None,
    ) -> PlateMessage:
        """Write to a session. The message is queued, and a server hands it over.

        approval: the question in which a person approved exactly this message, as `callboard mcp`
        asks it; a server takes messages of coding agents only with one. It sends one message:
        again, it returns what became of that one. key: one of your own, with which the same message
        is queued only once, however often it is sent.

        ConflictError if the session has ended; PowerNotGranted if its machine doesn't allow it;
        Forbidden without that approval. ConflictError if the key stands for another message.
        """
        ...

    async def change(
        self,
        plate_id: str,
        message_id: str,
        *,
        text: str | None = None,
        when: MessageTiming | None = None,
        before: str | None = None,
    ) -> PlateMessage:
        """Change a message that is still queued. before: move it before this one; "": to the end.

        ConflictError once it was handed over.
        """
        ...

    async def withdraw(self, plate_id: str, message_id: str) -> PlateMessage:
        """Take back a message that is still queued. ConflictError once it was handed over."""
        ...

    async def interrupt(self, plate_id: str) -> PlateInterrupted:
        """Stop the agent's turn. HostUnreachable if no server can ask its machine."""
        ...
