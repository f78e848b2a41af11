"""A session as a trace: its phases, in them its agents and its waits for people.

A pure fold over the events. Every id is made from the session's id, and every moment is that of
an event, so whoever folds the same events, today or after a restart, gets the same trace. What
agents said and what people were asked stays in the log: a trace goes to other machines.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from callboard.events import names
from callboard.events.envelope import Event

STOPS: Final = frozenset({names.PHASE_EXITED, *names.TERMINAL})
"""What has ended is told at these events: a session may last for weeks."""

ROOT: Final = "session"
"""The key of the span that is the session."""

Attributes = dict[str, str | int | bool]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time. Its key is unique in the session, and makes its id."""

    key: str
    parent: str | None
    name: str
    start_ms: int
    end_ms: int
    attributes: Attributes = field(default_factory=Attributes)
    error: str | None = None
    forked_from: str | None = None
    """The session that this one forked, at its root."""


def trace_id(session_id: str) -> int:
    """The id of a session's trace: 16 bytes, never nothing."""
    return _number(f"trace {session_id}", 16)


def span_id(session_id: str, key: str) -> int:
    """The id of a span: 8 bytes, never nothing."""
    return _number(f"span {session_id} {key}", 8)


def _number(text: str, size: int) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:size]) or 1


class Trace:
    """What is open in a session at some position, and what has ended since the last stop."""

    def __init__(self) -> None:
        self._open: dict[str, Span] = {}
        self._ended: list[Span] = []
        self._phase: str | None = None
        self._last_error: str | None = None

    def add(self, event: Event) -> list[Span]:
        """Take the next event; at a stop, gives what has ended since the one before."""
        handler = _HANDLERS.get(event.name)
        if handler is None or not (self._open or event.name in _BEGINNINGS):
            return []
        handler(self, event, event.payload)
        if event.name not in STOPS:
            return []
        ended, self._ended = self._ended, []
        return ended

    def _begin(self, span: Span) -> None:
        self._open[span.key] = span

    def _end(self, key: str, at_ms: int, error: str | None = None, **more: Any) -> None:
        span = self._open.pop(key, None)
        if span is None:
            return
        told: Attributes = {_ATTRIBUTES[name]: v for name, v in more.items() if v is not None}
        self._ended.append(
            replace(
                span,
                # Two machines that drove one session may not agree on the time.
                end_ms=max(at_ms, span.start_ms),
                attributes={**span.attributes, **told},
                error=error,
            )
        )

    def started(self, event: Event, payload: Mapping[str, Any]) -> None:
        """The session begins."""
        self._begin(_session(event, payload))

    def forked(self, event: Event, payload: Mapping[str, Any]) -> None:
        """A session begins in the middle of another, whose past is in that one's trace."""
        phase = self._open.get(self._phase) if self._phase else None
        self._open.clear()
        self._ended.clear()
        self._begin(replace(_session(event, payload), forked_from=payload["parentSessionId"]))
        if phase is None:
            self._phase = None
        else:
            self._begin(replace(phase, start_ms=event.at_ms))

    def ended(self, event: Event, payload: Mapping[str, Any]) -> None:
        """The session ends, and with it whatever was open."""
        for key in [key for key in reversed(self._open) if key != ROOT]:
            self._end(key, event.at_ms, unfinished=True)
        self._phase = None
        status = event.name.partition(":")[2]
        self._end(ROOT, event.at_ms, _error(payload), status=status)

    def entered(self, event: Event, payload: Mapping[str, Any]) -> None:
        """A phase begins."""
        self._phase = f"phase {payload['phase']} {payload['visit']}"
        attributes: Attributes = {
            "callboard.phase": payload["phase"],
            "callboard.visit": payload["visit"],
        }
        if "items" in payload:
            attributes["callboard.items"] = len(payload["items"])
        name = f"phase {payload['phase']}"
        self._begin(Span(self._phase, ROOT, name, event.at_ms, event.at_ms, attributes))

    def exited(self, event: Event, payload: Mapping[str, Any]) -> None:
        """A phase ends."""
        key = f"phase {payload['phase']} {payload['visit']}"
        for inner in [key for key, span in self._open.items() if span.parent == self._phase]:
            self._end(inner, event.at_ms, unfinished=True)
        failed = payload["reason"] == "error"
        error = (self._last_error or "The phase failed.") if failed else None
        self._end(key, event.at_ms, error, reason=payload["reason"], next=payload.get("next"))
        self._phase = self._last_error = None

    def failed(self, event: Event, payload: Mapping[str, Any]) -> None:
        """An agent, or a function of the phase, failed."""
        self._last_error = _error(payload)
        if payload.get("run") is not None:
            key = _agent_key(payload)
            self._end(key, event.at_ms, self._last_error, retry_in_ms=payload.get("retryInMs"))

    def agent_started(self, event: Event, payload: Mapping[str, Any]) -> None:
        """An agent begins to work."""
        attributes: Attributes = {
            "callboard.agent": payload["agent"],
            "callboard.phase": payload["phase"],
            "callboard.attempt": payload["attempt"],
        }
        more = {
            "callboard.item": payload.get("item"),
            "gen_ai.provider.name": payload.get("provider"),
            "gen_ai.request.model": payload.get("model"),
        }
        attributes.update({name: value for name, value in more.items() if value is not None})
        name = f"agent {payload['agent']}"
        self._begin(self._inside(_agent_key(payload), name, event, attributes))

    def agent_completed(self, event: Event, payload: Mapping[str, Any]) -> None:
        """An agent is done."""
        self._end(_agent_key(payload), event.at_ms, **_usage(payload.get("usage")))

    def agent_interrupted(self, event: Event, payload: Mapping[str, Any]) -> None:
        """An agent was taken off, or its process died; it is told as no error of its own."""
        self._end(_agent_key(payload), event.at_ms, interrupted=payload.get("reason", "unknown"))

    def asked(self, event: Event, payload: Mapping[str, Any]) -> None:
        """A person is asked."""
        attributes: Attributes = {
            "callboard.question": payload["id"],
            "callboard.question.type": payload["type"],
        }
        self._begin(self._inside(f"wait {payload['id']}", "wait for a person", event, attributes))

    def answered(self, event: Event, payload: Mapping[str, Any]) -> None:
        """The wait is over, whatever ended it."""
        outcome = event.name.partition(":")[2]
        more = {"outcome": outcome, "approved": payload.get("approved"), "via": payload.get("via")}
        self._end(f"wait {payload['id']}", event.at_ms, _error(payload), **more)

    def _inside(self, key: str, name: str, event: Event, attributes: Attributes) -> Span:
        return Span(key, self._phase or ROOT, name, event.at_ms, event.at_ms, attributes)


def _session(event: Event, payload: Mapping[str, Any]) -> Span:
    attributes: Attributes = {
        "callboard.session": event.session_id,
        "callboard.workflow": payload["workflow"],
    }
    name = f"workflow {payload['workflow']}"
    return Span(ROOT, None, name, event.at_ms, event.at_ms, attributes)


def _agent_key(payload: Mapping[str, Any]) -> str:
    return f"agent {payload['run']} {payload['attempt']}"


def _usage(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    """How many tokens it took, as far as the agent says so."""
    counts = usage or {}
    known = {"input": counts.get("inputTokens"), "output": counts.get("outputTokens")}
    return {name: count for name, count in known.items() if type(count) is int}


def _error(payload: Mapping[str, Any]) -> str | None:
    """What went wrong, by its code and type: the message may quote what nobody else may see."""
    error: Mapping[str, Any] | str | None = payload.get("error")
    if error is None:
        return None
    if isinstance(error, str):  # Whoever ran an interactive session says it in words.
        return "error"
    return " ".join(str(error[k]) for k in ("code", "type") if error.get(k)) or "error"


_ATTRIBUTES: Final = {
    "status": "callboard.status",
    "reason": "callboard.reason",
    "next": "callboard.next",
    "retry_in_ms": "callboard.retry_in_ms",
    "interrupted": "callboard.interrupted",
    "unfinished": "callboard.unfinished",
    "outcome": "callboard.question.outcome",
    "approved": "callboard.question.approved",
    "via": "callboard.question.via",
    "input": "gen_ai.usage.input_tokens",
    "output": "gen_ai.usage.output_tokens",
}
"""What is known when something ends → its name outside."""

_BEGINNINGS = (names.STARTED, names.FORKED)
_HANDLERS: Final[Mapping[str, Callable[[Trace, Event, Mapping[str, Any]], None]]] = {
    names.STARTED: Trace.started,
    names.FORKED: Trace.forked,
    names.COMPLETED: Trace.ended,
    names.FAILED: Trace.ended,
    names.CANCELLED: Trace.ended,
    names.PHASE_ENTERED: Trace.entered,
    names.PHASE_EXITED: Trace.exited,
    names.PHASE_FAILED: Trace.failed,
    names.AGENT_STARTED: Trace.agent_started,
    names.AGENT_COMPLETED: Trace.agent_completed,
    names.AGENT_INTERRUPTED: Trace.agent_interrupted,
    names.REQUESTED: Trace.asked,
    names.RECEIVED: Trace.answered,
    names.EXPIRED: Trace.answered,
    names.INPUT_CANCELLED: Trace.answered,
    names.INPUT_FAILED: Trace.answered,
}
