"""Fold events into a view: one small function per event name.

`fold(a + b) == fold(b, fold(a))` for any split. Unknown names change only the position, so
narration and events of later versions pass through.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from callboard.drafts import patch
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.json_values import as_text
from callboard.events.payloads import agents, people, workflow
from callboard.state.control import restore
from callboard.state.session import SessionView
from callboard.state.visits import Asked, QuestionStatus, Run, RunStatus, Visit

_End = (
    workflow.WorkflowCompletedPayload
    | workflow.WorkflowFailedPayload
    | workflow.WorkflowCancelledPayload
)


def fold(events: Iterable[Event], view: SessionView | None = None) -> SessionView:
    """The view after these events. The given view isn't changed."""
    result = view.copy() if view else SessionView()
    for event in events:
        apply(result, event)
    return result


def before_events(session_id: str, first: Event) -> SessionView:
    """The view at position 0: a session has its initial state before its first event."""
    state, workflow = first.payload.get("initialState"), as_text(first.payload["workflow"])
    return SessionView(session_id=session_id, state=state, workflow=workflow)


def apply(view: SessionView, event: Event) -> None:
    """Fold one event into the view in place. Only for the view's owner."""
    handler = _HANDLERS.get(event.name)
    if handler:
        handler(event.payload, view, event)
        if view.held is not None and event.name not in (names.HELD, names.CHECKPOINT):
            view.held = None
        if view.untouched and event.name not in (names.FORKED, names.CHECKPOINT):
            view.untouched = False
    view.session_id = event.session_id
    view.position = event.position
    view.updated_at = event.at_ms
    if not view.created_at:
        view.created_at = event.at_ms


def _started(payload: workflow.WorkflowStartedPayload, view: SessionView, event: Event) -> None:
    view.workflow = payload["workflow"]
    view.version = payload.get("version")
    view.source = payload.get("source")
    view.state = payload.get("initialState")


def _forked(payload: workflow.SessionForkedPayload, view: SessionView, event: Event) -> None:
    """Start over from here: what was open in the parent stays with the parent."""
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


def _held(payload: workflow.SessionHeldPayload, view: SessionView, event: Event) -> None:
    view.held = payload["reason"]


def _ended(status: str) -> Callable[[_End, SessionView, Event], None]:
    def handle(payload: _End, view: SessionView, event: Event) -> None:
        view.ended = status
        view.error = payload.get("error")
        view.pausing, view.paused = None, False
        view.tasks.clear()

    return handle


def _pausing(payload: workflow.WorkflowPausingPayload, view: SessionView, event: Event) -> None:
    view.pausing = payload


def _paused(payload: workflow.WorkflowPausedPayload, view: SessionView, event: Event) -> None:
    view.pausing, view.paused = None, True


def _resumed(payload: workflow.WorkflowResumedPayload, view: SessionView, event: Event) -> None:
    view.pausing, view.paused = None, False


def _entered(payload: workflow.PhaseEnteredPayload, view: SessionView, event: Event) -> None:
    phase, number = payload["phase"], payload["visit"]
    view.visits[phase] = number
    view.last_phase, view.next_phase, view.exit_phase = phase, None, None
    items = payload.get("items")
    view.visit = Visit(
        phase, number, payload.get("guard"), list(items) if items is not None else None
    )
    view.open.forget_runs()


def _exited(payload: workflow.PhaseExitedPayload, view: SessionView, event: Event) -> None:
    phase, reason = payload["phase"], payload["reason"]
    view.visit = None
    view.exit_phase = phase if reason == "terminal" or payload.get("terminal") else None
    # A fork of a failed session restarts the failed phase.
    view.next_phase = phase if reason == "error" else payload.get("next")
    if view.questions:
        view.questions = {asked.id: asked for asked in view.pending()}
        view.open.rebuild(view.questions, view.visit)
    else:
        view.open.forget_runs()


def _run(view: SessionView, payload: agents.InRun | workflow.PhaseFailedPayload) -> Run | None:
    return view.visit.runs.get(payload["run"] or "") if view.visit else None


def _run_changed(view: SessionView, payload: agents.InRun | workflow.PhaseFailedPayload) -> None:
    assert view.visit is not None
    view.open.run_changed(view.visit, payload["run"] or "")


def _agent_started(payload: agents.AgentStartedPayload, view: SessionView, event: Event) -> None:
    if not view.visit:
        return
    key = payload["run"]
    run = view.visit.runs.get(key)
    if run is None:
        run = view.visit.runs[key] = Run(payload["agent"])
    run.status, run.attempt, run.retry_at = "running", payload["attempt"], None
    run.blockers = []
    view.open.run_changed(view.visit, key)


def _agent_completed(
    payload: agents.AgentCompletedPayload, view: SessionView, event: Event
) -> None:
    run = _run(view, payload)
    if run:
        run.status, run.output, run.output_at = "completed", payload.get("output"), event.position
        run.error, run.once = None, {}
        _run_changed(view, payload)


_INTERRUPTED: Mapping[str, RunStatus] = {
    "waiting": "suspended",
    "crashed": "lost",
    "postponed": "postponed",
}


def _agent_interrupted(
    payload: agents.AgentInterruptedPayload, view: SessionView, event: Event
) -> None:
    run = _run(view, payload)
    if run:
        run.status = _INTERRUPTED.get(payload["reason"], "interrupted")
        run.blockers = [asked.id for asked in view.open.pending_of(payload["run"])]
        if run.status == "postponed":
            run.retry_at = event.at_ms + payload.get("retryInMs", 0)
            run.error = payload.get("error")
        _run_changed(view, payload)


def _phase_failed(payload: workflow.PhaseFailedPayload, view: SessionView, event: Event) -> None:
    run = _run(view, payload)
    if run:
        delay = payload.get("retryInMs")
        run.status, run.error = "failed", payload["error"]
        run.failures += 1
        run.retry_at = None if delay is None else event.at_ms + delay
        _run_changed(view, payload)


def _once(payload: agents.OnceCompletedPayload, view: SessionView, event: Event) -> None:
    run = _run(view, payload)
    if run:
        run.once[payload["key"]] = payload.get("value")


_DONE_BY: Mapping[str, str] = {
    "update": "updated",
    "human": "responded",
    "before": "before_done",
    "after": "after_done",
}
"""Why the state changed → which step of the visit is then done."""


def _intent(payload: workflow.StateIntentPayload, view: SessionView, event: Event) -> None:
    view.state = patch.apply(view.state, payload["patches"])
    done = _DONE_BY.get(payload.get("reason", ""))
    if view.visit and done is not None:
        setattr(view.visit, done, True)


def _checkpoint(payload: workflow.StateCheckpointPayload, view: SessionView, event: Event) -> None:
    restore(view, payload["state"], payload["control"])


_BY_CODING_AGENTS = ("permission", "question", "plan")


def _requested(payload: people.InputRequestedPayload, view: SessionView, event: Event) -> None:
    config = payload.get("config")
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
        halts=bool(config and config.get("haltExecution")),
        config=config if payload["type"] in _BY_CODING_AGENTS else None,
        assignees=payload.get("assignees"),
    )
    view.questions[asked.id] = asked
    view.open.asked(asked)
    if view.visit and payload.get("inline"):
        view.visit.question = asked.id


def _detached(payload: people.InputDetachedPayload, view: SessionView, event: Event) -> None:
    """It is no longer this session's question: a fork from here on asks its own."""
    asked = view.questions.pop(payload["id"], None)
    if asked:
        view.open.question_changed(asked, is_there=False)


def _expired(payload: people.InputExpiredPayload, view: SessionView, event: Event) -> None:
    _close(payload, view, event, "failed" if payload.get("fail") else "expired", "timeout")


def _input_cancelled(
    payload: people.InputCancelledPayload, view: SessionView, event: Event
) -> None:
    _close(payload, view, event, "cancelled", "cancelled")
    # An interactive session that was left has ended; other questions are asked again.
    if view.visit and view.visit.question == payload["id"] and "outcome" not in payload:
        view.visit.question = None


def _close(
    payload: people.QuestionEnd,
    view: SessionView,
    event: Event,
    status: QuestionStatus,
    outcome: str,
) -> None:
    asked = view.questions.get(payload["id"])
    if asked:
        asked.status, asked.deadline = status, None
        asked.value, asked.approved = payload.get("value"), payload.get("approved")
        asked.outcome = outcome if "outcome" in payload else None
        # The reason for declining an interactive session is in its error.
        declined = None if status == "failed" else payload.get("error")
        asked.message = payload.get("message") or declined
        view.open.closed(asked, view.visit)


def _reminded(payload: people.InputRemindedPayload, view: SessionView, event: Event) -> None:
    asked = view.questions.get(payload["id"])
    if asked:
        asked.deadline = None
        view.open.deadline_changed(asked)


def _escalated(payload: people.InputEscalatedPayload, view: SessionView, event: Event) -> None:
    asked = view.questions.get(payload["id"])
    if asked:
        asked.deadline, asked.on_timeout = payload.get("deadline"), payload.get("onTimeout")
        asked.assignees = payload.get("assignees", asked.assignees)
        view.open.deadline_changed(asked)


def _task_started(payload: workflow.TaskStartedPayload, view: SessionView, event: Event) -> None:
    view.tasks[payload["taskId"]] = payload.get("title", "")


def _task_completed(
    payload: workflow.TaskCompletedPayload, view: SessionView, event: Event
) -> None:
    view.tasks.pop(payload["taskId"], None)


_HANDLERS: Final = dict(
    (
        names.STARTED.to(_started),
        names.FORKED.to(_forked),
        names.HELD.to(_held),
        names.COMPLETED.to(_ended("completed")),
        names.FAILED.to(_ended("failed")),
        names.CANCELLED.to(_ended("cancelled")),
        names.PAUSING.to(_pausing),
        names.PAUSED.to(_paused),
        names.RESUMED.to(_resumed),
        names.PHASE_ENTERED.to(_entered),
        names.PHASE_EXITED.to(_exited),
        names.PHASE_FAILED.to(_phase_failed),
        names.AGENT_STARTED.to(_agent_started),
        names.AGENT_COMPLETED.to(_agent_completed),
        names.AGENT_INTERRUPTED.to(_agent_interrupted),
        names.ONCE_COMPLETED.to(_once),
        names.INTENT.to(_intent),
        names.CHECKPOINT.to(_checkpoint),
        names.REQUESTED.to(_requested),
        names.DETACHED.to(_detached),
        names.RECEIVED.to(partial(_close, status="answered", outcome="completed")),
        names.EXPIRED.to(_expired),
        names.INPUT_CANCELLED.to(_input_cancelled),
        names.INPUT_FAILED.to(partial(_close, status="failed", outcome="failed")),
        names.REMINDED.to(_reminded),
        names.ESCALATED.to(_escalated),
        names.TASK_STARTED.to(_task_started),
        names.TASK_COMPLETED.to(_task_completed),
    )
)
