"""A question as people see it: one row of `human_interactions`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final, TypedDict, get_args

from callboard.events.codec import load_cell
from callboard.events.json_values import as_object
from callboard.events.moments import from_ms, to_ms
from callboard.events.payloads.people import Receipt
from callboard.events.shapes import Narrowed, Shape, Unsent
from callboard.interactions.configs import KIND, complete_config
from callboard.interactions.kinds import (
    RESPONSES,
    InteractionStatus,
    InteractionType,
    is_from_board,
)

RECEIPTS: Final[tuple[Receipt, ...]] = get_args(Receipt)

LARGE: Final = 262_144
"""Characters of a question that take milliseconds to parse."""

LONGEST_MS: Final = 86_400_000
"""The longest a claim may last: a day."""


class HumanInteractionRow(TypedDict):
    """A row of `human_interactions` as the table stores it: JSON as text, times in milliseconds.

    `interaction` turns it into an `Interaction`.
    """

    id: str
    execution_id: str | None
    type: InteractionType
    prompt: str
    options: str | None
    other: int
    status: InteractionStatus
    response: str | None
    created_at: int
    resolved_at: int | None
    session_config: str | None
    session_transcript: str | None
    session_duration: int | None
    error: str | None
    phase: str | None
    run: str | None
    deadline: int | None
    assignees: str | None
    assigned_to: str | None
    claimed_by: str | None
    claimed_until: int | None
    answered_by: str | None
    answered_as: str | None
    via: str | None
    accepted: str | None
    receipt: str | None
    stream: str
    workflow: str | None
    session_title: str | None


@dataclass(frozen=True, slots=True)
class Interaction(Shape):
    """One question to a person, with one id for life."""

    id: str
    session_id: str | None
    type: InteractionType
    prompt: str
    options: list[str] | None
    other: bool
    status: InteractionStatus
    response: Annotated[Any, Narrowed("type", RESPONSES)]
    phase: str | None
    deadline: datetime | None
    claimed_by: str | None
    claimed_until: datetime | None
    answered_by: str | None
    via: str | None
    error: str | None
    config: Any
    transcript: str | None
    duration_ms: int | None
    created_at: datetime
    resolved_at: datetime | None
    answered_as: str | None = None
    """The name that the caller gave; `answered_by` is the authenticated one."""
    accepted: Annotated[Any, Narrowed("type", RESPONSES)] = None
    """The answer for a coding agent. Its outcome is in `status` and `response`."""
    receipt: Receipt | None = None
    assignees: list[str] | None = None
    """The only people who may answer, and groups as `group:NAME`; None means anyone."""
    assigned_to: list[str] | None = None
    """Who is expected to answer; None if unassigned."""
    workflow: str | None = None
    """The workflow of the session that asks."""
    session_title: str | None = None
    """That session's title."""
    run: Unsent[str | None] = None
    stream: Unsent[str] = field(default="", compare=False)
    """The stream with its events: its session's, its own, or a plate's."""

    @property
    def from_hook(self) -> bool:
        """Whether a coding agent's own dialog is also open, and may decide first."""
        return is_from_board(self.type) and not self.awaited

    @property
    def for_agent(self) -> Any:
        """The answer that the agent should get; None if there isn't one, or no longer."""
        if self.accepted is not None:
            return self.accepted if self.receipt in ("pending", "delivered") else None
        return self.response if self.status == "completed" and self.via != "terminal" else None

    def is_due(self, now_ms: int) -> bool:
        """Whether its deadline has passed."""
        return self.deadline is not None and to_ms(self.deadline) <= now_ms

    @property
    def awaited(self) -> bool:
        """Whether a workflow continues with the answer: one of its phases or agents asked."""
        return (self.phase is not None or self.run is not None) and not self.is_detached

    @property
    def is_detached(self) -> bool:
        """Whether the workflow that asked has ended, but this interactive session hasn't."""
        return (
            self.type == KIND
            and self.session_id is not None
            and self.stream not in ("", self.session_id)
        )


_JSON = ("options", "session_config", "response", "accepted")
_LONG = ("prompt", "options", "session_config", "session_transcript", "response", "accepted")


def length_of(row: Mapping[str, Any]) -> int:
    """The number of characters in a row's long columns, to keep lists small."""
    return sum(len(row[column] or "") for column in _LONG)


def in_bytes(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with its JSON as bytes. Encoding a long text is a noticeable part of parsing it."""
    return {**row, **{one: row[one].encode() for one in _JSON if row[one] is not None}}


def interaction(row: HumanInteractionRow | Mapping[str, Any], now_ms: int) -> Interaction:
    """The interaction in a row as of now: a claim that has timed out is left out."""
    until = row["claimed_until"]
    # A clock that was set back must not make a claim last longer than the maximum.
    claimed = until is not None and now_ms < until <= now_ms + LONGEST_MS
    config = load_cell(row["session_config"])
    return Interaction(
        id=row["id"],
        session_id=row["execution_id"],
        type=row["type"],
        prompt=row["prompt"],
        options=load_cell(row["options"]),
        other=bool(row["other"]),
        status=row["status"],
        response=load_cell(row["response"]),
        phase=row["phase"],
        run=row["run"],
        deadline=_moment(row["deadline"]),
        assignees=load_cell(row["assignees"]),
        assigned_to=load_cell(row["assigned_to"]),
        workflow=row["workflow"],
        session_title=row["session_title"],
        claimed_by=row["claimed_by"] if claimed else None,
        claimed_until=_moment(until) if claimed else None,
        answered_by=row["answered_by"],
        answered_as=row["answered_as"],
        via=row["via"],
        accepted=load_cell(row["accepted"]),
        receipt=_receipt(row["receipt"]),
        error=_text(load_cell(row["error"])),
        config=complete_config(config) if row["type"] == KIND else config,
        transcript=row["session_transcript"],
        duration_ms=row["session_duration"],
        created_at=from_ms(row["created_at"]),
        resolved_at=_moment(row["resolved_at"]),
        stream=row["stream"],
    )


def _text(error: object) -> str | None:
    """The error as text, also if it was recorded with a code."""
    if error is None:
        return None
    return str(as_object(error).get("message", error))


def _receipt(word: str | None) -> Receipt | None:
    return next((one for one in RECEIPTS if one == word), None)


def _moment(millis: int | None) -> datetime | None:
    return None if millis is None else from_ms(millis)
