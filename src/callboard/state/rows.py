"""One event → changes to the rows that people query: sessions, questions, tasks, timers.

Pure and per event, so that `callboard rebuild` can rebuild every view from the log. Columns that a
new row doesn't name get their defaults.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event, Json
from callboard.events.payloads import agents, people, workflow
from callboard.events.rows import Cell, Change, Drop, Put, RowChange
from callboard.state import board_rows, usage_rows
from callboard.state.usage_rows import count_of, of_run

Changes = list[RowChange]

_USED: Final = {"input_tokens": "inputTokens", "output_tokens": "outputTokens"}
_UNCLAIMED: Final[Mapping[str, Cell]] = {"claimed_by": None, "claimed_until": None}


def project(event: Event) -> Iterable[RowChange]:
    """The row changes for an event; none for names that no view uses."""
    handler = _HANDLERS.get(event.name)
    return handler(event.payload, event) if handler else ()


def _json(value: Json) -> str | None:
    return None if value is None else dump_json(value).decode()


def _session(event: Event, add: Mapping[str, int] | None = None, **values: Cell) -> Change:
    return Change("sessions", {"id": event.session_id}, values, add or {})


def _question(id: str, values: Mapping[str, Cell]) -> Change:
    return Change("human_interactions", {"id": id}, values)


def _wakeup(event: Event, key: str, at: int) -> Put:
    return Put("wakeups", {"session": event.session_id, "key": key, "at": at})


def _no_wakeup(event: Event, key: str) -> Drop:
    return Drop("wakeups", {"session": event.session_id, "key": key})


def _created(
    event: Event,
    payload: workflow.WorkflowStartedPayload | workflow.SessionForkedPayload,
    **more: Cell,
) -> Put:
    row: dict[str, Cell] = {
        "id": event.session_id,
        "workflow": payload["workflow"],
        "version": payload.get("version"),
        "source": _json(payload.get("source")),
        "title": payload.get("title"),
        "created_at": event.at_ms,
        "pending": 0,  # Set here, so that a question in the same statement can add to it.
    }
    return Put("sessions", row | more)


def _started(payload: workflow.WorkflowStartedPayload, event: Event) -> Changes:
    return [_created(event, payload)]


def _forked(payload: workflow.SessionForkedPayload, event: Event) -> Changes:
    parent, position = payload["parentSessionId"], payload["forkPosition"]
    phase = payload.get("phase")
    since = None if phase is None else event.at_ms
    more: dict[str, Cell] = {"parent": parent, "fork_position": position}
    return [_created(event, payload, **more, phase=phase, phase_since=since)]


def _titled(payload: workflow.SessionTitledPayload, event: Event) -> Changes:
    return [Change("sessions", {"id": payload["sessionId"]}, {"title": payload["title"]})]


def _held(payload: workflow.SessionHeldPayload, event: Event) -> Changes:
    return [_session(event, held=payload["reason"])]


def _ended(status: str) -> Callable[[Mapping[str, Json], Event], Changes]:
    def handle(payload: Mapping[str, Json], event: Event) -> Changes:
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


def _marked(**values: Cell) -> Callable[[object, Event], Changes]:
    return lambda _, event: [Change("sessions", {"id": event.session_id}, values)]


def _entered(payload: workflow.PhaseEnteredPayload, event: Event) -> Changes:
    return [_session(event, phase=payload["phase"], phase_since=event.at_ms, held=None)]


def _agent_started(payload: agents.AgentStartedPayload, event: Event) -> Changes:
    return [_no_wakeup(event, "run:" + payload["run"])] if payload["attempt"] > 1 else []


def _agent_completed(payload: agents.AgentCompletedPayload, event: Event) -> Changes:
    usage = payload.get("usage")
    if not usage:
        return []
    used = {column: count_of(usage.get(key)) for column, key in _USED.items()}
    spent: Changes = [*of_run(usage, event)]
    return [_session(event, used), *spent] if any(used.values()) else spent


def _tried_again(
    payload: workflow.PhaseFailedPayload | agents.AgentInterruptedPayload, event: Event
) -> Changes:
    run, delay = payload["run"], payload.get("retryInMs")
    if run is None or delay is None:
        return []
    return [_wakeup(event, "run:" + run, event.at_ms + delay)]


def _checkpoint(_: object, event: Event) -> Changes:
    return [Put("checkpoints", {"session": event.session_id, "position": event.position})]


def _execution(payload: people.InputRequestedPayload, event: Event) -> str | None:
    """Who asks: a session, or the client of a plate; None for a standalone question."""
    if payload.get("standalone"):
        return None
    return payload.get("executionId", event.session_id)


def _requested(payload: people.InputRequestedPayload, event: Event) -> Changes:
    deadline = payload.get("deadline")
    row: dict[str, Cell] = {
        "id": payload["id"],
        "execution_id": _execution(payload, event),
        "stream": event.session_id,
        "type": payload["type"],
        "prompt": payload["prompt"],
        "options": _json(payload.get("options")),
        "other": int(payload.get("other", False)),
        "created_at": event.at_ms,
        "session_config": _json(payload.get("config")),
        "phase": payload.get("phase"),
        "run": payload.get("run"),
        "deadline": deadline,
        "assignees": _json(payload.get("assignees")),
        "assigned_to": _json(payload.get("assignees")),
    }
    changes: Changes = [Put("human_interactions", row), _session(event, {"pending": 1})]
    if deadline:
        changes.append(_wakeup(event, "question:" + payload["id"], deadline))
    return changes


def _response(payload: Mapping[str, Json]) -> Json:
    """The decision: in an interactive session the response itself, otherwise the answer."""
    if "outcome" in payload:
        return payload.get("value")
    return {
        k: payload[k] for k in ("value", "approved", "message", "timedOut") if k in payload
    } or None


def _closed(status: str) -> Callable[[people.QuestionEnd, Event], Changes]:
    def handle(payload: people.QuestionEnd, event: Event) -> Changes:
        values: dict[str, Cell] = {
            "status": payload.get("status", status),
            "response": _json(_response(payload)),
            "resolved_at": event.at_ms,
            "session_transcript": payload.get("transcript"),
            "session_duration": payload.get("durationMs"),
            "error": _json(payload.get("error")),
            **_answerer(payload),
            "receipt": payload.get("receipt", _usual_receipt(payload, event)),
            **_UNCLAIMED,
        }
        return [
            _question(payload["id"], values),
            _session(event, {"pending": -1}),
            _no_wakeup(event, "question:" + payload["id"]),
        ]

    return handle


def _answerer(payload: people.Answered) -> dict[str, Cell]:
    return {
        "answered_by": payload.get("by"),
        "answered_as": payload.get("as"),
        "via": payload.get("via"),
    }


def _usual_receipt(payload: people.Answered, event: Event) -> str | None:
    """The receipt of an answer that needs no confirmation: delivered with its event."""
    answered = event.name == names.RECEIVED and payload.get("via") != "terminal"
    return "delivered" if answered else None


def _accepted(payload: people.InputAcceptedPayload, event: Event) -> Changes:
    values: dict[str, Cell] = {"accepted": _json(payload["response"]), "receipt": "pending"}
    return [_question(payload["id"], values | _answerer(payload) | _UNCLAIMED)]


def _corrected(payload: people.InputCorrectedPayload, event: Event) -> Changes:
    values: dict[str, Cell] = {
        "status": payload["status"],
        "response": _json(payload.get("response")),
        "receipt": payload.get("receipt"),
    }
    return [_question(payload["id"], values | _answerer(payload))]


def _contributed(payload: people.InputContributedPayload, event: Event) -> Changes:
    values: dict[str, Cell] = {
        "response": _json(payload["responses"]),
        "session_transcript": payload.get("transcript"),
        "session_duration": payload.get("durationMs"),
        **_UNCLAIMED,
    }
    return [_question(payload["id"], values)]


def _detached(payload: people.InputDetachedPayload, event: Event) -> Changes:
    key, deadline = "question:" + payload["id"], payload.get("deadline")
    changes: Changes = [
        _question(payload["id"], {"stream": payload["stream"]}),
        _session(event, {"pending": -1}),
        _no_wakeup(event, key),
    ]
    if deadline:
        wakeup = {"session": payload["stream"], "key": key, "at": deadline}
        changes.append(Put("wakeups", wakeup))
    return changes


def _claimed(payload: people.InputClaimedPayload, event: Event) -> Changes:
    values = {"claimed_by": payload["by"], "claimed_until": payload["until"]}
    return [_question(payload["id"], values)]


def _released(payload: people.InputReleasedPayload, event: Event) -> Changes:
    return [_question(payload["id"], _UNCLAIMED)]


def _assigned(payload: people.InputAssignedPayload, event: Event) -> Changes:
    return [_question(payload["id"], {"assigned_to": _json(payload["to"] or None)})]


def _reminded(payload: people.InputRemindedPayload, event: Event) -> Changes:
    passed = _question(payload["id"], {"deadline": None})
    return [passed, _no_wakeup(event, "question:" + payload["id"])]


def _escalated(payload: people.InputEscalatedPayload, event: Event) -> Changes:
    key, deadline = "question:" + payload["id"], payload.get("deadline")
    values: dict[str, Cell] = {"assigned_to": _json(payload["to"]), "deadline": deadline}
    if "assignees" in payload:
        values["assignees"] = _json(payload["assignees"])
    changed = _question(payload["id"], values)
    return [changed, _wakeup(event, key, deadline) if deadline else _no_wakeup(event, key)]


def _task_started(payload: workflow.TaskStartedPayload, event: Event) -> Changes:
    row: dict[str, Cell] = {
        "id": payload["taskId"],
        "execution_id": event.session_id,
        "kind": payload.get("kind", ""),
        "title": payload.get("title", ""),
        "status": "running",
        "started_at": event.at_ms,
    }
    return [Put("tasks", row)]


def _task_completed(payload: workflow.TaskCompletedPayload, event: Event) -> Changes:
    values = {"status": "completed", "completed_at": event.at_ms}
    return [Change("tasks", {"id": payload["taskId"]}, values)]


_HANDLERS: Final = (
    dict(
        (
            names.STARTED.to(_started),
            names.FORKED.to(_forked),
            names.TITLED.to(_titled),
            names.HELD.to(_held),
            names.COMPLETED.to(_ended("completed")),
            names.FAILED.to(_ended("failed")),
            names.CANCELLED.to(_ended("cancelled")),
            names.PAUSING.to(_marked(pausing=1)),
            names.PAUSED.to(_marked(pausing=0, paused=1)),
            names.RESUMED.to(_marked(pausing=0, paused=0)),
            names.PHASE_ENTERED.to(_entered),
            names.PHASE_FAILED.to(_tried_again),
            names.AGENT_INTERRUPTED.to(_tried_again),
            names.AGENT_STARTED.to(_agent_started),
            names.AGENT_COMPLETED.to(_agent_completed),
            names.CHECKPOINT.to(_checkpoint),
            names.REQUESTED.to(_requested),
            names.ACCEPTED.to(_accepted),
            names.RECEIVED.to(_closed("completed")),
            names.CORRECTED.to(_corrected),
            names.EXPIRED.to(_closed("timeout")),
            names.INPUT_CANCELLED.to(_closed("cancelled")),
            names.INPUT_FAILED.to(_closed("failed")),
            names.CONTRIBUTED.to(_contributed),
            names.DETACHED.to(_detached),
            names.CLAIMED.to(_claimed),
            names.RELEASED.to(_released),
            names.ASSIGNED.to(_assigned),
            names.REMINDED.to(_reminded),
            names.ESCALATED.to(_escalated),
            names.TASK_STARTED.to(_task_started),
            names.TASK_COMPLETED.to(_task_completed),
        )
    )
    | board_rows.HANDLERS
    | usage_rows.HANDLERS
)
