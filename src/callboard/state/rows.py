"""One event → the changes to the rows that people query: sessions, questions, tasks, timers.

Pure and per event, so that `callboard rebuild` can make every view again from the log.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from callboard.events import names, plates
from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.events.rows import Change, Drop, Put, RowChange

Changes = list[RowChange]


def project(event: Event) -> Iterable[RowChange]:
    """The row changes that an event makes; none for names that no view knows."""
    handler = _HANDLERS.get(event.name)
    return handler(event, event.payload) if handler else ()


def _json(value: Any) -> str | None:
    return None if value is None else dump_json(value).decode()


def _session(event: Event, add: Mapping[str, int] | None = None, **values: Any) -> Change:
    return Change("sessions", {"id": event.session_id}, values, add or {})


def _wakeup(event: Event, key: str, at: int) -> Put:
    return Put("wakeups", {"session": event.session_id, "key": key, "at": at})


def _no_wakeup(event: Event, key: str) -> Drop:
    return Drop("wakeups", {"session": event.session_id, "key": key})


def _created(event: Event, payload: Mapping[str, Any], **more: Any) -> Put:
    row = {
        "id": event.session_id,
        "workflow": payload["workflow"],
        "version": payload.get("version"),
        "source": _json(payload.get("source")),
        "created_at": event.at_ms,
        "parent": None,
        "fork_position": None,
        "phase": None,
        "ended": None,
        "ended_at": None,
        "paused": 0,
        "pausing": 0,
        "pending": 0,
        "error": None,
        "held": None,
    }
    return Put("sessions", row | more)


def _started(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [_created(event, payload)]


def _forked(event: Event, payload: Mapping[str, Any]) -> Changes:
    parent, position = payload["parentSessionId"], payload["forkPosition"]
    phase = payload.get("phase")
    return [_created(event, payload, parent=parent, fork_position=position, phase=phase)]


def _held(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [_session(event, held=payload["reason"])]


def _ended(status: str) -> Callable[[Event, Mapping[str, Any]], Changes]:
    def handle(event: Event, payload: Mapping[str, Any]) -> Changes:
        at = event.at_ms
        error = _json(payload.get("error"))
        session = {"session": event.session_id}
        running = {"execution_id": event.session_id, "status": "running"}
        return [
            _session(event, ended=status, ended_at=at, error=error, paused=0, pausing=0),
            Drop("wakeups", session),
            Change("tasks", running, {"status": "cancelled", "completed_at": at}),
        ]

    return handle


def _pausing(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [_session(event, pausing=1)]


def _paused(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [_session(event, pausing=0, paused=1)]


def _resumed(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [_session(event, pausing=0, paused=0)]


def _entered(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [_session(event, phase=payload["phase"], held=None)]


def _agent_started(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [_no_wakeup(event, "run:" + payload["run"])] if payload["attempt"] > 1 else []


def _tried_again(event: Event, payload: Mapping[str, Any]) -> Changes:
    delay = payload.get("retryInMs")
    if delay is None:
        return []
    return [_wakeup(event, "run:" + payload["run"], event.at_ms + delay)]


def _checkpoint(event: Event, payload: Mapping[str, Any]) -> Changes:
    return [Put("checkpoints", {"session": event.session_id, "position": event.position})]


def _execution(event: Event, payload: Mapping[str, Any]) -> str | None:
    """Who asks: a session; the client behind a plate; nobody, when the question stands alone."""
    if payload.get("standalone"):
        return None
    return payload.get("executionId", event.session_id)


def _requested(event: Event, payload: Mapping[str, Any]) -> Changes:
    row = {
        "id": payload["id"],
        "execution_id": _execution(event, payload),
        "stream": event.session_id,
        "type": payload["type"],
        "prompt": payload["prompt"],
        "options": _json(payload.get("options")),
        "other": int(payload.get("other", False)),
        "status": "pending",
        "response": None,
        "created_at": event.at_ms,
        "resolved_at": None,
        "session_config": _json(payload.get("config")),
        "session_transcript": None,
        "session_duration": None,
        "error": None,
        "phase": payload.get("phase"),
        "run": payload.get("run"),
        "deadline": payload.get("deadline"),
        "assigned_to": _json(payload.get("to")),
        "claimed_by": None,
        "claimed_until": None,
        "answered_by": None,
        "answered_as": None,
        "via": None,
        "accepted": None,
        "receipt": None,
    }
    changes: Changes = [Put("human_interactions", row), _session(event, {"pending": 1})]
    if payload.get("deadline"):
        changes.append(_wakeup(event, "question:" + payload["id"], payload["deadline"]))
    return changes


def _response(payload: Mapping[str, Any]) -> Any:
    """What was decided: in an interactive session the response itself, else the answer."""
    if "outcome" in payload:
        return payload.get("value")
    return {
        k: payload[k] for k in ("value", "approved", "message", "timedOut") if k in payload
    } or None


def _closed(status: str) -> Callable[[Event, Mapping[str, Any]], Changes]:
    def handle(event: Event, payload: Mapping[str, Any]) -> Changes:
        values = {
            "status": payload.get("status", status),
            "response": _json(_response(payload)),
            "resolved_at": event.at_ms,
            "session_transcript": payload.get("transcript"),
            "session_duration": payload.get("durationMs"),
            "error": _json(payload.get("error")),
            **_answerer(payload),
            "receipt": payload.get("receipt", _usual_receipt(event, payload)),
            "claimed_by": None,
            "claimed_until": None,
        }
        return [
            Change("human_interactions", {"id": payload["id"]}, values),
            _session(event, {"pending": -1}),
            _no_wakeup(event, "question:" + payload["id"]),
        ]

    return handle


def _answerer(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "answered_by": payload.get("by"),
        "answered_as": payload.get("as"),
        "via": payload.get("via"),
    }


def _usual_receipt(event: Event, payload: Mapping[str, Any]) -> str | None:
    """An answer that nothing stands between: it has arrived with its event."""
    answered = event.name == names.RECEIVED and payload.get("via") != "terminal"
    return "delivered" if answered else None


def _accepted(event: Event, payload: Mapping[str, Any]) -> Changes:
    values = {
        "accepted": _json(payload["response"]),
        **_answerer(payload),
        "receipt": "pending",
        "claimed_by": None,
        "claimed_until": None,
    }
    return [Change("human_interactions", {"id": payload["id"]}, values)]


def _corrected(event: Event, payload: Mapping[str, Any]) -> Changes:
    values = {
        "status": payload["status"],
        "response": _json(payload.get("response")),
        **_answerer(payload),
        "receipt": payload.get("receipt"),
    }
    return [Change("human_interactions", {"id": payload["id"]}, values)]


def _contributed(event: Event, payload: Mapping[str, Any]) -> Changes:
    values = {
        "response": _json(payload["responses"]),
        "session_transcript": payload.get("transcript"),
        "session_duration": payload.get("durationMs"),
        "claimed_by": None,
        "claimed_until": None,
    }
    return [Change("human_interactions", {"id": payload["id"]}, values)]


def _claimed(event: Event, payload: Mapping[str, Any]) -> Changes:
    values = {"claimed_by": payload["by"], "claimed_until": payload["until"]}
    return [Change("human_interactions", {"id": payload["id"]}, values)]


def _released(event: Event, payload: Mapping[str, Any]) -> Changes:
    values = {"claimed_by": None, "claimed_until": None}
    return [Change("human_interactions", {"id": payload["id"]}, values)]


def _reminded(event: Event, payload: Mapping[str, Any]) -> Changes:
    passed = Change("human_interactions", {"id": payload["id"]}, {"deadline": None})
    return [passed, _no_wakeup(event, "question:" + payload["id"])]


def _escalated(event: Event, payload: Mapping[str, Any]) -> Changes:
    key, deadline = "question:" + payload["id"], payload.get("deadline")
    values = {"assigned_to": _json(payload["to"]), "deadline": deadline}
    changed = Change("human_interactions", {"id": payload["id"]}, values)
    return [changed, _wakeup(event, key, deadline) if deadline else _no_wakeup(event, key)]


def _task_started(event: Event, payload: Mapping[str, Any]) -> Changes:
    row = {
        "id": payload["taskId"],
        "execution_id": event.session_id,
        "kind": payload.get("kind", ""),
        "title": payload.get("title", ""),
        "status": "running",
        "started_at": event.at_ms,
        "completed_at": None,
    }
    return [Put("tasks", row)]


def _task_completed(event: Event, payload: Mapping[str, Any]) -> Changes:
    values = {"status": "completed", "completed_at": event.at_ms}
    return [Change("tasks", {"id": payload["taskId"]}, values)]


def _plate(event: Event, payload: Mapping[str, Any]) -> Changes:
    """A plate's events say themselves what they changed: only who knows it all can tell."""
    told: Mapping[str, Any] | None = payload.get("plate")
    if not told:
        return []
    row = {_column(key): _cell(value) for key, value in told.items()}
    if "unsettled" in told:
        row["awaits_outcome"] = int(bool(told["unsettled"]))
    whole = "id" in row
    changes: Changes = [
        Put("plates", row) if whole else Change("plates", {"id": event.session_id}, row)
    ]
    if "session_id" in row:
        sessions = {"session_id": row["session_id"], "plate": event.session_id}
        changes.append(Put("plate_sessions", sessions))
    return changes


@lru_cache(maxsize=256)  # There are a few dozen, and hundreds of events a second name some.
def _column(key: str) -> str:
    if key == "plateId":
        return "id"
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in key)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return _json(value) if isinstance(value, list | dict) else value


_HANDLERS: Mapping[str, Callable[[Event, Mapping[str, Any]], Changes]] = {
    names.STARTED: _started,
    names.FORKED: _forked,
    names.HELD: _held,
    names.COMPLETED: _ended("completed"),
    names.FAILED: _ended("failed"),
    names.CANCELLED: _ended("cancelled"),
    names.PAUSING: _pausing,
    names.PAUSED: _paused,
    names.RESUMED: _resumed,
    names.PHASE_ENTERED: _entered,
    names.PHASE_FAILED: _tried_again,
    names.AGENT_INTERRUPTED: _tried_again,
    names.AGENT_STARTED: _agent_started,
    names.CHECKPOINT: _checkpoint,
    names.REQUESTED: _requested,
    names.ACCEPTED: _accepted,
    names.RECEIVED: _closed("completed"),
    names.CORRECTED: _corrected,
    names.EXPIRED: _closed("timeout"),
    names.INPUT_CANCELLED: _closed("cancelled"),
    names.INPUT_FAILED: _closed("failed"),
    names.CONTRIBUTED: _contributed,
    names.CLAIMED: _claimed,
    names.RELEASED: _released,
    names.REMINDED: _reminded,
    names.ESCALATED: _escalated,
    names.TASK_STARTED: _task_started,
    names.TASK_COMPLETED: _task_completed,
    **dict.fromkeys(plates.ALL, _plate),
}
