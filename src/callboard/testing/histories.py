"""Complete events written in shorthand with what follows from the history."""

from collections.abc import Callable, Mapping

from callboard.engine.workflow import Workflow
from callboard.events import names
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_text
from callboard.ids import event_id
from callboard.interactions.answers import as_verdict, check
from callboard.state.session import SessionView
from callboard.state.visits import run_key

Payload = dict[str, Json]


def complete(workflow: Workflow, view: SessionView, name: str, given: Object) -> Payload:
    """The payload, completed with everything that follows from the workflow and earlier events."""
    known = _KNOWN.get(name)
    filled = {**(known(workflow, view, given) if known else {}), **given}
    return _answered(view, filled) if name == names.RECEIVED else filled


def _entered(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    phase = as_text(given.get("phase")) or view.next_phase or workflow.first
    came = {"fromPhase": view.last_phase} if view.last_phase else {}
    return {"phase": phase, "visit": view.visits.get(phase, 0) + 1, **came}


def _exited(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    step = workflow.steps[str(view.phase)]
    reason = "terminal" if step.phase.terminal else "next"
    return {**_place(view), "reason": given.get("reason", reason)}


def _ran(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    visit, item = view.visit, given.get("item")
    assert visit is not None, "Enter a phase before an agent works in it."
    agent = workflow.steps[visit.phase].agent
    run = run_key(visit.phase, visit.number, item if isinstance(item, int) else None)
    attempt = visit.runs[run].attempt if run in visit.runs else 1
    return {"agent": agent.name if agent else "", **_place(view), "run": run, "attempt": attempt}


def _completed(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    return _ran(workflow, view, given) | {"output": None, "durationMs": 0}


def _failed(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    error = {"code": "AGENT_ERROR", "message": "It failed.", "type": "Exception"}
    return _ran(workflow, view, given) | {"error": error}


def _requested(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    number = len(view.questions) + 1
    kind = "choice" if given.get("options") else "approval"
    asked = {"id": f"question-{number}", "prompt": f"Question {number}?", "type": kind}
    return {**asked, "phase": view.phase, **({} if "run" in given else {"inline": True})}


def _closed(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    pending = view.pending()
    return {"id": pending[0].id} if len(pending) == 1 else {}


def _answered(view: SessionView, filled: Payload) -> Payload:
    """The answer as it is recorded."""
    asked = view.questions[as_text(filled["id"])]
    answer = check(asked, filled.get("value"), as_verdict(filled.get("approved")))
    approved = {} if answer.approved is None else {"approved": answer.approved}
    return {**filled, "value": answer.value, **approved}


def _intent(workflow: Workflow, view: SessionView, given: Object) -> Payload:
    return {"intentId": event_id(), "patches": []}


def _place(view: SessionView) -> Payload:
    visit = view.visit
    return {"phase": visit.phase, "visit": visit.number} if visit else {}


_KNOWN: Mapping[str, Callable[[Workflow, SessionView, Object], Payload]] = {
    names.PHASE_ENTERED: _entered,
    names.PHASE_EXITED: _exited,
    names.PHASE_FAILED: _failed,
    names.AGENT_STARTED: _ran,
    names.AGENT_COMPLETED: _completed,
    names.AGENT_INTERRUPTED: _ran,
    names.ONCE_COMPLETED: _ran,
    names.INTENT: _intent,
    names.REQUESTED: _requested,
    names.RECEIVED: _closed,
    names.EXPIRED: _closed,
    names.INPUT_CANCELLED: _closed,
    names.REMINDED: _closed,
    names.ESCALATED: _closed,
}
