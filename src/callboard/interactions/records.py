"""A question as people's surfaces see it: one row of `human_interactions`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Self, TypedDict, get_args

from callboard.events.codec import load_json
from callboard.events.moments import from_iso, from_ms, iso
from callboard.interactions.kinds import is_from_board

Receipt = Literal["pending", "delivered", "overruled", "lost"]
"""What became of an answer: on its way, taken, decided otherwise in the terminal, or unheard."""
RECEIPTS: Final[tuple[Receipt, ...]] = get_args(Receipt)

LONGEST_MS: Final = 86_400_000
"""As long as a claim may last at most: a day."""


class HumanInteractionRow(TypedDict):
    """A row of `human_interactions` as the table holds it: JSON as text, moments as milliseconds.

    `interaction` makes an `Interaction` of it.
    """

    id: str
    execution_id: str | None
    type: str
    prompt: str
    options: str | None
    other: int
    status: str
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
    assigned_to: str | None
    claimed_by: str | None
    claimed_until: int | None
    answered_by: str | None
    answered_as: str | None
    via: str | None
    accepted: str | None
    receipt: str | None
    stream: str


@dataclass(frozen=True, slots=True)
class Interaction:
    """One question to a person, with one id for life."""

    id: str
    session_id: str | None
    type: str
    prompt: str
    options: list[str] | None
    other: bool
    status: str
    response: Any
    phase: str | None
    run: str | None
    deadline: datetime | None
    assigned_to: list[str] | None
    claimed_by: str | None
    claimed_until: datetime | None
    answered_by: str | None
    via: str | None
    error: Any
    config: Any
    transcript: str | None
    duration_ms: int | None
    created_at: datetime
    resolved_at: datetime | None
    answered_as: str | None = None
    """The name that the caller gave; `answered_by` is the authenticated one."""
    accepted: Any = None
    """The answer that was taken for a coding agent. Its outcome is in `status` and `response`."""
    receipt: Receipt | None = None
    stream: str = field(default="", compare=False)
    """The stream that tells of it: its session's, its own, or a plate's. Not on the wire."""

    @property
    def from_hook(self) -> bool:
        """Whether a coding agent's own dialog is open beside it, and may decide first."""
        return is_from_board(self.type) and not self.awaited

    @property
    def for_agent(self) -> Any:
        """The answer that the agent should get; None when there is none, or no longer."""
        if self.accepted is not None:
            return self.accepted if self.receipt in ("pending", "delivered") else None
        return self.response if self.status == "completed" and self.via != "terminal" else None

    @property
    def awaited(self) -> bool:
        """Whether a workflow goes on with the answer: a phase or an agent of it asked."""
        return self.phase is not None or self.run is not None

    def to_wire(self) -> dict[str, Any]:
        """The interaction as JSON readers see it."""
        return {
            "id": self.id,
            "sessionId": self.session_id,
            "type": self.type,
            "prompt": self.prompt,
            "options": self.options,
            "other": self.other,
            "status": self.status,
            "response": self.response,
            "config": self.config,
            "transcript": self.transcript,
            "durationMs": self.duration_ms,
            "error": self.error,
            "phase": self.phase,
            "deadline": _iso(self.deadline),
            "claimedBy": self.claimed_by,
            "claimedUntil": _iso(self.claimed_until),
            "answeredBy": self.answered_by,
            "answeredAs": self.answered_as,
            "via": self.via,
            "accepted": self.accepted,
            "receipt": self.receipt,
            "createdAt": _iso(self.created_at),
            "resolvedAt": _iso(self.resolved_at),
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """The interaction that `to_wire` wrote; it does not tell `run` and `assigned_to`."""
        return cls(
            id=wire["id"],
            session_id=wire["sessionId"],
            type=wire["type"],
            prompt=wire["prompt"],
            options=wire["options"],
            other=wire["other"],
            status=wire["status"],
            response=wire["response"],
            phase=wire["phase"],
            run=wire.get("run"),
            deadline=_read(wire["deadline"]),
            assigned_to=wire.get("assignedTo"),
            claimed_by=wire["claimedBy"],
            claimed_until=_read(wire["claimedUntil"]),
            answered_by=wire["answeredBy"],
            answered_as=wire.get("answeredAs"),
            via=wire["via"],
            accepted=wire.get("accepted"),
            receipt=wire.get("receipt"),
            error=wire["error"],
            config=wire["config"],
            transcript=wire["transcript"],
            duration_ms=wire["durationMs"],
            created_at=from_iso(wire["createdAt"]),
            resolved_at=_read(wire["resolvedAt"]),
        )


_LONG = ("prompt", "options", "session_config", "session_transcript", "response", "accepted")


def length_of(row: Mapping[str, Any]) -> int:
    """How many characters a row has, of what can be long: for lists that must not be."""
    return sum(len(row[column] or "") for column in _LONG)


def interaction(row: HumanInteractionRow | Mapping[str, Any], now_ms: int) -> Interaction:
    """The interaction that a row holds, as it is now: a claim that has run out is none."""
    until = row["claimed_until"]
    # A clock that was put back must not make a claim last for longer than any claim may.
    claimed = until is not None and now_ms < until <= now_ms + LONGEST_MS
    return Interaction(
        id=row["id"],
        session_id=row["execution_id"],
        type=row["type"],
        prompt=row["prompt"],
        options=_json(row["options"]),
        other=bool(row["other"]),
        status=row["status"],
        response=_json(row["response"]),
        phase=row["phase"],
        run=row["run"],
        deadline=_moment(row["deadline"]),
        assigned_to=_json(row["assigned_to"]),
        claimed_by=row["claimed_by"] if claimed else None,
        claimed_until=_moment(until) if claimed else None,
        answered_by=row["answered_by"],
        answered_as=row["answered_as"],
        via=row["via"],
        accepted=_json(row["accepted"]),
        receipt=_receipt(row["receipt"]),
        error=_json(row["error"]),
        config=_json(row["session_config"]),
        transcript=row["session_transcript"],
        duration_ms=row["session_duration"],
        created_at=from_ms(row["created_at"]),
        resolved_at=_moment(row["resolved_at"]),
        stream=row["stream"],
    )


def _receipt(word: str | None) -> Receipt | None:
    return next((one for one in RECEIPTS if one == word), None)


def _json(text: str | None) -> Any:
    return None if text is None else load_json(text)


def _moment(millis: int | None) -> datetime | None:
    return None if millis is None else from_ms(millis)


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def _read(text: str | None) -> datetime | None:
    return None if text is None else from_iso(text)
