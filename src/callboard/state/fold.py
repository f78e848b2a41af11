"""Events in, what is true out: one small function per name.

`fold(a + b) == fold(b, fold(a))` for any split. Names that are not listed change nothing but
the position, so narration and events of later versions pass through.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from callboard.events import names
from callboard.events.envelope import Event
from callboard.state import patch
from callboard.state.control import restore
from callboard.state.session import SessionView
from callboard.state.visits import Asked, QuestionStatus, Run, Visit

Payload = Mapping[str, Any]


def fold(events: Iterable[Event], view: SessionView | None = None) -> SessionView:
    """The view after these events; the given view stays as it was."""
    result = view.copy() if view else SessionView()
    for event in events:
        apply(result, event)
    return result


def apply(view: SessionView, event: Event) -> None:
    """Fold one event into the view in place; for the one who owns the view."""
    handler = _HANDLERS.get(event.name)
    if handler:
        handler(view, event.payload, event)
        if view.held is not None and event.name not in (names.HELD, names.CHECKPOINT):
            view.held = None
        if view.untouched and event.name not in (names.FORKED, names.CHECKPOINT):
            view.untouched = False
    view.session_id = event.session_id
    view.position = event.position
    view.updated_at = event.at_ms
    if not view.created_at:
        view.created_at = event.at_ms


def _started(view: SessionView, payload: Payload, event: Event) -> None:
    view.workflow = payload["workflow"]
    view.version = payload.get("version")
    view.source = payload.get("source")
    view.state = payload.get("initialState")


def _forked(view: SessionView, payload: Payload, event: Event) -> None:
    """Begin anew from here: what was open in the parent stays the parent's."""
    view.parent = payload["parentSessionId"]
    view.fork_position = payload["forkPosition"]
    view.created_at, view.untouched = event.at_ms, True
    view.state = patch.apply(view.state, payload.get("edits") or [])
    view.pausing, view.paused, view.ended, view.error = None, False, None, None
    view.tasks.clear()
    visit = view.visit
    if visit:
        visit.runs = {k: run for k, run in visit.runs.items() if run.status == "completed"}
    kept = visit.runs if visit else {}
    view.questions = {
        id: asked
        for id, asked in view.questions.items()
        if asked.status != "pending" and (asked.run is None or asked.run in kept)
    }
    if visit and visit.question not in view.questions:
        visit.question = None
    view.open.rebuild(view.questions, view.visit)


def _held(view: SessionView, payload: Payload, event: Event) -> None:
    view.held = payload["reason"]


def _ended(status: str) -> Callable[[SessionView, Payload, Event], None]:
    def handle(view: SessionView, payload: Payload, event: Event) -> None:
        view.ended = status
        view.error = payload.get("error")
        view.pausing, view.paused = None, False
        view.tasks.clear()

    return handle


def _pausing(view: SessionView, payload: Payload, event: Event) -> None:
    view.pausing = dict(payload)


def _paused(view: SessionView, payload: Payload, event: Event) -> None:
    view.pausing, view.paused = None, True


def _resumed(view: SessionView, payload: Payload, event: Event) -> None:
    view.pausing, view.paused = None, False


def _entered(view: SessionView, payload: Payload, event: Event) -> None:
    phase, number = payload["phase"], payload["visit"]
    view.visits[phase] = number
    view.last_phase, view.next_phase, view.exit_phase = phase, None, None
    items = payload.get("items")
    view.visit = Visit(
        phase, number, payload.get("guard"), list(items) if items is not None else None
    )
    view.open.forget_runs()


def _exited(view: SessionView, payload: Payload, event: Event) -> None:
    phase, reason = payload["phase"], payload["reason"]
    view.visit = None
    view.exit_phase = phase if reason == "terminal" or payload.get("terminal") else None
    # A fork of a failed session begins the failed phase again.
    view.next_phase = phase if reason == "error" else payload.get("next")
    if view.questions:
        view.questions = {asked.id: asked for asked in view.pending()}
    view.open.rebuild(view.questions, view.visit)


def _run(view: SessionView, payload: Payload) -> Run | None:
    return view.visit.runs.get(payload["run"]) if view.visit else None


def _run_changed(view: SessionView, payload: Payload) -> None:
    assert view.visit is not None
    view.open.run_changed(view.visit, payload["run"])


def _agent_started(view: SessionView, payload: Payload, event: Event) -> None:
    if not view.visit:
        return
    key = payload["run"]
    run = view.visit.runs.get(key)
    if run is None:
        run = view.visit.runs[key] = Run(payload["agent"])
    run.status, run.attempt, run.retry_at = "running", payload["attempt"], None
    run.blockers = []
    view.open.run_changed(view.visit, key)


def _agent_completed(view: SessionView, payload: Payload, event: Event) -> None:
    run = _run(view, payload)
    if run:
        run.status, run.output, run.output_at = "completed", payload.get("output"), event.position
        run.error, run.once = None, {}
        _run_changed(view, payload)


_INTERRUPTED = {"waiting": "suspended", "crashed": "lost", "postponed": "postponed"}


def _agent_interrupted(view: SessionView, payload: Payload, event: Event) -> None:
    run = _run(view, payload)
    if run:
        run.status = _INTERRUPTED.get(payload["reason"], "interrupted")  # pyright: ignore[reportAttributeAccessIssue]
        run.blockers = [asked.id for asked in view.open.pending_of(payload["run"])]
        if run.status == "postponed":
            run.retry_at, run.error = event.at_ms + payload["retryInMs"], payload["error"]
        _run_changed(view, payload)


def _phase_failed(view: SessionView, payload: Payload, event: Event) -> None:
    run = _run(view, payload)
    if run:
        delay = payload.get("retryInMs")
        run.status, run.error = "failed", payload["error"]
        run.failures += 1
        run.retry_at = None if delay is None else event.at_ms + delay
        _run_changed(view, payload)


def _once(view: SessionView, payload: Payload, event: Event) -> None:
    run = _run(view, payload)
    if run:
        run.once[payload["key"]] = payload.get("value")


def _intent(view: SessionView, payload: Payload, event: Event) -> None:
    view.state = patch.apply(view.state, payload["patches"])
    if view.visit and payload.get("reason") == "update":
        view.visit.updated = True
    if view.visit and payload.get("reason") == "human":
        view.visit.responded = True


def _checkpoint(view: SessionView, payload: Payload, event: Event) -> None:
    restore(view, payload["state"], payload["control"])


_BY_CODING_AGENTS = ("permission", "question", "plan")


def _requested(view: SessionView, payload: Payload, event: Event) -> None:
    asked = Asked(
        id=payload["id"],
        type=payload["type"],
        prompt=payload["prompt"],
        options=payload.get("options"),
        other=payload.get("other", False),
        phase=payload.get("phase"),
        run=payload.get("run"),
        key=payload.get("key"),
        nth=payload.get("nth", 1),
        deadline=payload.get("deadline"),
        on_timeout=payload.get("onTimeout"),
        halts=_halts(payload.get("config")),
        config=payload.get("config") if payload["type"] in _BY_CODING_AGENTS else None,
    )
    view.questions[asked.id] = asked
    view.open.asked(asked)
    if view.visit and payload.get("inline"):
        view.visit.question = asked.id


def _halts(config: Payload | None) -> bool:
    return bool(config and config.get("haltExecution"))


def _received(view: SessionView, payload: Payload, event: Event) -> None:
    _close(view, payload, "answered", "completed")


def _expired(view: SessionView, payload: Payload, event: Event) -> None:
    _close(view, payload, "failed" if payload.get("fail") else "expired", "timeout")


def _input_cancelled(view: SessionView, payload: Payload, event: Event) -> None:
    _close(view, payload, "cancelled", "cancelled")
    # An interactive session that was left has come to an end; other questions are put again.
    if view.visit and view.visit.question == payload["id"] and "outcome" not in payload:
        view.visit.question = None


def _input_failed(view: SessionView, payload: Payload, event: Event) -> None:
    _close(view, payload, "failed", "failed")


def _close(view: SessionView, payload: Payload, status: QuestionStatus, outcome: str) -> None:
    asked = view.questions.get(payload["id"])
    if asked:
        asked.status, asked.deadline = status, None
        asked.value, asked.approved = payload.get("value"), payload.get("approved")
        asked.outcome = outcome if "outcome" in payload else None
        # Whoever declines an interactive session says why as its error.
        declined = None if status == "failed" else payload.get("error")
        asked.message = payload.get("message") or declined
        view.open.closed(asked, view.visit)


def _reminded(view: SessionView, payload: Payload, event: Event) -> None:
    asked = view.questions.get(payload["id"])
    if asked:
        asked.deadline = None
        view.open.deadline_changed(asked)


def _escalated(view: SessionView, payload: Payload, event: Event) -> None:
    asked = view.questions.get(payload["id"])
    if asked:
        asked.deadline, asked.on_timeout = payload.get("deadline"), payload.get("onTimeout")
        view.open.deadline_changed(asked)


def _task_started(view: SessionView, payload: Payload, event: Event) -> None:
    view.tasks[payload["taskId"]] = payload.get("title", "")


def _task_completed(view: SessionView, payload: Payload, event: Event) -> None:
    view.tasks.pop(payload["taskId"], None)


_HANDLERS: Mapping[str, Callable[[SessionView, Payload, Event], None]] = {
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
    names.PHASE_EXITED: _exited,
    names.PHASE_FAILED: _phase_failed,
    names.AGENT_STARTED: _agent_started,
    names.AGENT_COMPLETED: _agent_completed,
    names.AGENT_INTERRUPTED: _agent_interrupted,
    names.ONCE_COMPLETED: _once,
    names.INTENT: _intent,
    names.CHECKPOINT: _checkpoint,
    names.REQUESTED: _requested,
    names.RECEIVED: _received,
    names.EXPIRED: _expired,
    names.INPUT_CANCELLED: _input_cancelled,
    names.INPUT_FAILED: _input_failed,
    names.REMINDED: _reminded,
    names.ESCALATED: _escalated,
    names.TASK_STARTED: _task_started,
    names.TASK_COMPLETED: _task_completed,
}
