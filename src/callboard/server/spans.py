"""A session as a trace: its phases, and in them agents and waits for people.

A pure fold over the events. Every id is derived from the session's id, and every time is an
event's, so folding the same events again, such as after a restart, gives the same trace. Agents'
output and people's questions stay in the log, because a trace goes to other machines.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final

from callboard.events import names
from callboard.events.envelope import Event, Json
from callboard.events.json_values import as_object, as_text
from callboard.state.timeline import Interval, Timeline

STOPS: Final = frozenset({names.PHASE_EXITED, *names.TERMINAL})
"""The events at which finished spans are sent, because a session may last for weeks."""

ROOT: Final = "session"
"""The key of the session's own span."""

Attributes = dict[str, str | int | bool]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time. Its key is unique in the session and determines its id."""

    key: str
    parent: str | None
    name: str
    start_ms: int
    end_ms: int
    attributes: Attributes = field(default_factory=Attributes)
    error: str | None = None
    forked_from: str | None = None
    """For the root span, the session that this one was forked from."""


def trace_id(session_id: str) -> int:
    """The id of a session's trace: 16 bytes, never zero."""
    return _number(f"trace {session_id}", 16)


def span_id(session_id: str, key: str) -> int:
    """The id of a span: 8 bytes, never zero."""
    return _number(f"span {session_id} {key}", 8)


def _number(text: str, size: int) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:size]) or 1


class Trace:
    """What is open in a session at some position, and what has ended since the last stop."""

    def __init__(self) -> None:
        self._timeline = Timeline()
        self._ended: list[Span] = []
        self._workers: dict[str, Attributes] = {}

    def add(self, event: Event, worker: Attributes | None = None) -> list[Span]:
        """Add the next event; at a stop, returns what has ended since the stop before.

        worker: attributes of the process that started an agent with this event, if it is known.
        """
        if self._timeline.session is None and event.name not in _BEGINNINGS:
            return []
        if worker is not None:
            self._workers[event.id] = worker
        self._ended += [self._span(one, event) for one in self._timeline.add(event).ended]
        if event.name == names.FORKED:
            self._ended.clear()  # What ended in the parent is in the parent's trace.
        if event.name not in STOPS:
            return []
        ended, self._ended = self._ended, []
        return ended

    def _span(self, one: Interval, ended: Event) -> Span:
        span, worker = _span(one, ended), self._workers.pop(one.began.id, {})
        return replace(span, attributes={**span.attributes, **worker}) if worker else span


def _span(one: Interval, ended: Event) -> Span:
    """The span of a finished interval."""
    begun = _BEGUN[one.kind](one)
    error, more = (
        (None, {"callboard.unfinished": True}) if one.cut_off else _ENDED[one.kind](one, ended)
    )
    told = {name: value for name, value in more.items() if value is not None}
    # The clocks of two machines that drove the session may differ.
    end_ms = max(ended.at_ms, one.start_ms)
    return replace(begun, end_ms=end_ms, attributes={**begun.attributes, **told}, error=error)


def _session(one: Interval) -> Span:
    workflow, forked = as_text(one.began.payload["workflow"]), names.FORKED.of(one.began)
    attributes: Attributes = {
        "callboard.session": one.began.session_id,
        "callboard.workflow": workflow,
    }
    forked_from = forked and forked["parentSessionId"]
    name = f"workflow {workflow}"
    return Span(ROOT, None, name, one.start_ms, 0, attributes, forked_from=forked_from)


def _phase(one: Interval) -> Span:
    entered = names.PHASE_ENTERED.read(one.began)
    phase = entered["phase"]
    attributes: Attributes = {"callboard.phase": phase, "callboard.visit": entered["visit"]}
    if "items" in entered:
        attributes["callboard.items"] = len(entered["items"])
    return Span(_phase_key(one), ROOT, f"phase {phase}", one.start_ms, 0, attributes)


def _attempt(one: Interval) -> Span:
    payload = names.AGENT_STARTED.read(one.began)
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
    key = f"agent {payload['run']} {payload['attempt']}"
    return Span(key, _parent(one), f"agent {payload['agent']}", one.start_ms, 0, attributes)


def _wait(one: Interval) -> Span:
    asked = names.REQUESTED.read(one.began)
    attributes: Attributes = {
        "callboard.question": asked["id"],
        "callboard.question.type": asked["type"],
    }
    return Span(
        f"wait {asked['id']}", _parent(one), "wait for a person", one.start_ms, 0, attributes
    )


def _parent(one: Interval) -> str:
    return ROOT if one.phase is None else _phase_key(one.phase)


def _phase_key(one: Interval) -> str:
    entered = names.PHASE_ENTERED.read(one.began)
    return f"phase {entered['phase']} {entered['visit']}"


Ending = tuple[str | None, Mapping[str, Json]]
"""An error, if there was one, and more attributes, of which None values are left out."""


def _session_ended(one: Interval, ended: Event) -> Ending:
    return _error(ended.payload), {"callboard.status": ended.name.partition(":")[2]}


def _phase_ended(one: Interval, ended: Event) -> Ending:
    reason, error = ended.payload["reason"], None
    if reason == "error":
        error = (one.failure and _error(one.failure.payload)) or "The phase failed."
    return error, {"callboard.reason": reason, "callboard.next": ended.payload.get("next")}


def _attempt_ended(one: Interval, ended: Event) -> Ending:
    payload = ended.payload
    if ended.name == names.AGENT_COMPLETED:
        return None, _usage(payload.get("usage"))
    if ended.name == names.AGENT_INTERRUPTED:  # Not the agent's error.
        return None, {"callboard.interrupted": payload.get("reason", "unknown")}
    return _error(payload), {"callboard.retry_in_ms": payload.get("retryInMs")}


def _wait_ended(one: Interval, ended: Event) -> Ending:
    payload = ended.payload
    return _error(payload), {
        "callboard.question.outcome": ended.name.partition(":")[2],
        "callboard.question.approved": payload.get("approved"),
        "callboard.question.via": payload.get("via"),
    }


def _usage(usage: Json) -> dict[str, int]:
    """The tokens used, as far as the agent reports them."""
    counts = as_object(usage)
    known = {
        "gen_ai.usage.input_tokens": counts.get("inputTokens"),
        "gen_ai.usage.output_tokens": counts.get("outputTokens"),
    }
    return {name: count for name, count in known.items() if type(count) is int}


def _error(payload: Mapping[str, Json]) -> str | None:
    """The error's code and type. Its message may contain private data."""
    error = payload.get("error")
    if error is None:
        return None
    # Errors of interactive sessions are plain text, without either.
    told = as_object(error)
    return " ".join(str(told[k]) for k in ("code", "type") if told.get(k)) or "error"


_BEGINNINGS = (names.STARTED, names.FORKED)
_BEGUN: Final[Mapping[str, Callable[[Interval], Span]]] = {
    "session": _session,
    "phase": _phase,
    "attempt": _attempt,
    "wait": _wait,
}
_ENDED: Final[Mapping[str, Callable[[Interval, Event], Ending]]] = {
    "session": _session_ended,
    "phase": _phase_ended,
    "attempt": _attempt_ended,
    "wait": _wait_ended,
}
