"""What a session does next: a pure function of its workflow, its view, and the time.

Nothing here calls a user's function or changes anything. `engine/perform.py` turns what was
decided into events; the runner does what only the outside world can.
"""

from dataclasses import dataclass
from typing import Any

from callboard.engine.phase import Definition, Step
from callboard.errors import AgentUncertain, describe
from callboard.state.session import Run, SessionView, Visit, run_key

RUN_AGAIN = "Run it again"
GO_ON = "It is done: go on without its output"
GIVE_UP = "Stop the workflow"


@dataclass(frozen=True, slots=True)
class Enter:
    """Go into a phase."""

    phase: str


@dataclass(frozen=True, slots=True)
class Skip:
    """The guard said no: leave the phase at once."""


@dataclass(frozen=True, slots=True)
class Start:
    """Run the agent: under these run keys."""

    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conclude:
    """All outputs are there: update the state, then ask or route."""


@dataclass(frozen=True, slots=True)
class Proceed:
    """The question is closed: put the answer into the state, then route."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """Nobody knows what this run had done when its process died: ask a person."""

    run: str


@dataclass(frozen=True, slots=True)
class Vouch:
    """A person says that this run's work was done."""

    run: str


@dataclass(frozen=True, slots=True)
class Fail:
    """The phase has failed for good, and the workflow with it."""

    error: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Expire:
    """The deadline of a question has passed."""

    question: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The terminal phase is over and nothing is left open."""

    phase: str


@dataclass(frozen=True, slots=True)
class Halt:
    """A pause was asked for, and nothing runs any more."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The workflow has changed so that the session cannot go on here."""

    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until something happens, or until the time given."""

    until: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Ended or paused."""


Decision = (
    Enter | Skip | Start | Conclude | Proceed | Confirm | Vouch
    | Fail | Expire | Finish | Halt | Hold | Wait | Stop
)  # fmt: skip


def decide(workflow: Definition, view: SessionView, now: int) -> Decision:
    """The next thing to do for a session, at `now` in milliseconds."""
    if view.ended or view.paused:
        return Stop()
    if view.pausing is not None:
        return Wait() if view.in_flight() else Halt()
    for asked in view.pending():
        if asked.deadline is not None and asked.deadline <= now:
            return Expire(asked.id)
    if view.questions and view.halted():
        return Wait(_next_deadline(view))
    if view.visit is None:
        return _between(workflow, view)
    step = workflow.steps.get(view.visit.phase)
    if step is None:
        return _missing(workflow, view.visit.phase)
    return _within(step, view, view.visit, now)


def _between(workflow: Definition, view: SessionView) -> Decision:
    if view.exit_phase is not None:
        return Wait(_next_deadline(view)) if view.tasks else Finish(view.exit_phase)
    phase = view.next_phase or workflow.first
    return Enter(phase) if phase in workflow.steps else _missing(workflow, phase)


def _missing(workflow: Definition, phase: str) -> Hold:
    known = ", ".join(workflow.steps)
    return Hold(
        f"Workflow {workflow.name!r} no longer has the phase {phase!r} (it has {known}). "
        "Bring the phase back, or fork the session at another phase."
    )


def _within(step: Step, view: SessionView, visit: Visit, now: int) -> Decision:
    if visit.guard is False:
        return Skip()
    if step.agent is not None and not visit.updated:
        working = _working(step, view, visit, now)
        if working is not None:
            return working
    asked = view.questions.get(visit.question or "")
    if asked is None:
        return Conclude()
    return Wait(_next_deadline(view)) if asked.status == "pending" else Proceed()


def run_keys(visit: Visit) -> list[str]:
    """The keys of all runs of a visit, in the order of their items."""
    if visit.items is None:
        return [run_key(visit.phase, visit.number)]
    return [run_key(visit.phase, visit.number, index) for index in range(len(visit.items))]


def _working(step: Step, view: SessionView, visit: Visit, now: int) -> Decision | None:
    """What the runs of a visit still need; None when each has come to an end."""
    if visit.items is None:
        # What nearly every look finds, said at once.
        key = run_key(visit.phase, visit.number)
        only = visit.runs.get(key)
        if only is None:
            return Start((key,))
        if only.status == "completed":
            return None
        if only.status == "running":
            return Wait(_next_wake(view, visit))
    return _working_on(run_keys(visit), step, view, visit, now)


def _working_on(
    keys: list[str], step: Step, view: SessionView, visit: Visit, now: int
) -> Decision | None:
    unfinished = [key for key in keys if not _is_over(visit.runs.get(key))]
    if not unfinished:
        failed = [run for key in keys if (run := visit.runs[key]).status == "failed"]
        if failed and (visit.items is None or step.phase.on_item_error == "fail"):
            return Fail(failed[0].error or {})
        return None
    for key in unfinished:
        run = visit.runs.get(key)
        if run is not None and run.status == "lost":
            uncertain = _uncertain(step, view, key, run)
            if uncertain is not None:
                return uncertain
    ready = [key for key in unfinished if _is_ready(visit.runs.get(key), view, key, step, now)]
    free = (step.phase.parallel or 1) - _busy(view, visit)
    if ready and free > 0:
        return Start(tuple(ready[:free]))
    return Wait(_next_wake(view, visit))


def _is_over(run: Run | None) -> bool:
    return run is not None and (
        run.status == "completed" or (run.status == "failed" and run.retry_at is None)
    )


def _is_ready(run: Run | None, view: SessionView, key: str, step: Step, now: int) -> bool:
    if run is None:
        return True
    match run.status:
        case "interrupted":
            return True
        case "lost":
            return step.on_uncertain == "retry" or _verdict(view, key, run) == RUN_AGAIN
        case "suspended":
            pending = {asked.id for asked in view.pending()}
            return not run.blockers or any(id not in pending for id in run.blockers)
        case "failed" | "postponed":
            return run.retry_at is not None and run.retry_at <= now
        case _:
            return False


def uncertain_key(run: Run) -> str:
    """The key of the question about a run that was lost in this attempt."""
    return f"uncertain:{run.attempt}"


def _verdict(view: SessionView, key: str, run: Run) -> Any:
    for asked in view.questions.values():
        if asked.run == key and asked.key == uncertain_key(run) and asked.status == "answered":
            return asked.value
    return None


def _uncertain(step: Step, view: SessionView, key: str, run: Run) -> Decision | None:
    if step.on_uncertain == "retry":
        return None
    if step.on_uncertain == "fail":
        return Fail(_uncertain_error(step, run))
    match _verdict(view, key, run):
        case None:
            open_already = any(
                asked.run == key and asked.key == uncertain_key(run) for asked in view.pending()
            )
            return None if open_already else Confirm(key)
        case verdict if verdict == GO_ON:
            return Vouch(key)
        case verdict if verdict == GIVE_UP:
            return Fail(_uncertain_error(step, run))
        case _:
            return None


def _uncertain_error(step: Step, run: Run) -> dict[str, Any]:
    return describe(
        AgentUncertain(
            f"The process died while {run.agent!r} ran in phase {step.name!r}, "
            "and nobody knows what it had done."
        )
    )


def _busy(view: SessionView, visit: Visit) -> int:
    """Runs that take up a slot: one that waits for a person gives its slot up."""
    waiting = {asked.run for asked in view.pending()} if view.questions else ()
    return sum(run.status == "running" and key not in waiting for key, run in visit.runs.items())


def _next_deadline(view: SessionView) -> int | None:
    if not view.questions:
        return None
    return min((a.deadline for a in view.pending() if a.deadline is not None), default=None)


def _next_wake(view: SessionView, visit: Visit) -> int | None:
    moments = [run.retry_at for run in visit.runs.values() if run.retry_at is not None]
    deadline = _next_deadline(view)
    if deadline is not None:
        moments.append(deadline)
    return min(moments) if moments else None
