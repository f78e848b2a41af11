"""What a session does next: a pure function of its workflow, its view, and the time.

Nothing here calls users' functions or changes anything. `engine/perform.py` turns decisions into
events; the runner does everything that involves the outside world.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from callboard.engine.phase import Definition, Step
from callboard.errors import AgentUncertain
from callboard.events.failures import UNKNOWN_ERROR, ErrorDescription, describe
from callboard.state.session import SessionView
from callboard.state.visits import Run, Visit, run_key

RUN_AGAIN = "Run it again"
GO_ON = "It is done: continue without its output"
GIVE_UP = "Stop the workflow"

RETRY = "Retry"
SKIP = "Skip"
FAIL = "Fail"


@dataclass(frozen=True, slots=True)
class Enter:
    """Enter a phase."""

    phase: str


@dataclass(frozen=True, slots=True)
class Skip:
    """The guard returned false: leave the phase right away."""


@dataclass(frozen=True, slots=True)
class Prepare:
    """Run the phase's `before`."""


@dataclass(frozen=True, slots=True)
class Start:
    """Run the agent, with these run keys."""

    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conclude:
    """All outputs are in: update the state, then ask or route."""


@dataclass(frozen=True, slots=True)
class Proceed:
    """The question is closed: store the answer in the state, then route."""


@dataclass(frozen=True, slots=True)
class Confirm:
    """It isn't known what this run did before its process died: ask a person."""

    run: str


@dataclass(frozen=True, slots=True)
class Vouch:
    """A person has confirmed that this run's work was done."""

    run: str


@dataclass(frozen=True, slots=True)
class OfferRetry:
    """This run has failed and no attempts are left: ask a person what to do."""

    run: str


@dataclass(frozen=True, slots=True)
class Fail:
    """The phase has failed permanently, and so has the workflow."""

    error: ErrorDescription


@dataclass(frozen=True, slots=True)
class Expire:
    """A question's deadline has passed."""

    question: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The terminal phase is done and nothing is left open."""

    phase: str


@dataclass(frozen=True, slots=True)
class Halt:
    """A pause was requested, and nothing is running anymore."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The workflow has changed in a way that the session cannot continue here."""

    reason: str
    phase: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do until something happens, or until the given time."""

    until: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The session has ended or is paused."""


Decision = (
    Enter | Skip | Prepare | Start | Conclude | Proceed | Confirm | Vouch
    | OfferRetry | Fail | Expire | Finish | Halt | Hold | Wait | Stop
)  # fmt: skip

_CONCLUDE: Final = Conclude()
_WAIT: Final = Wait()


def decide(workflow: Definition, view: SessionView, now: int) -> Decision:
    """What to do next for a session, at `now` in milliseconds."""
    if view.ended or view.paused:
        return Stop()
    if view.pausing is not None:
        return Wait() if view.open.running else Halt()
    deadlines = view.open.deadlines
    deadline = deadlines.earliest()
    if deadline is not None and deadline <= now:
        return Expire(deadlines.first())
    if view.open.halting:
        return Wait(deadline)
    if view.visit is None:
        return _between(workflow, view)
    step = workflow.steps.get(view.visit.phase)
    if step is None:
        return _missing(workflow, view.visit.phase)
    return _within(step, view, view.visit, now)


def foresee(workflow: Definition, view: SessionView) -> Iterator[Decision]:
    """The decisions that `decide` would make, as long as they are obvious.

    Most phases have an agent, maybe an update, and a fixed next phase. While no one is asked, the
    end of an agent there means: conclude, enter the next phase, start its agent, wait. Each
    decision has to be performed on the view before the next one is taken.
    """
    if view.ended or view.paused or view.pausing is not None or view.open.questions:
        return
    visit = view.visit
    if visit is not None:
        step = workflow.steps.get(visit.phase)
        if step is None or not step.is_straight or not _is_worked_off(visit):
            return
        yield _CONCLUDE
    if view.ended or view.visit is not None or view.exit_phase is not None:
        return
    phase = view.next_phase or workflow.first
    step = workflow.steps.get(phase)
    if step is None or not step.is_straight:
        return
    yield Enter(phase)
    yield Start((run_key(phase, view.visits[phase]),))
    yield _WAIT


def _is_worked_off(visit: Visit) -> bool:
    """Whether the agent has finished and nothing else has happened in the visit.

    The visit may be one that an older version of the workflow, with other options, has entered.
    """
    if visit.items is not None or visit.guard is False or visit.question is not None:
        return False
    run = visit.runs.get(run_key(visit.phase, visit.number))
    return run is not None and run.status == "completed"


def _between(workflow: Definition, view: SessionView) -> Decision:
    if view.exit_phase is not None:
        return Wait(view.open.deadlines.earliest()) if view.tasks else Finish(view.exit_phase)
    phase = view.next_phase or workflow.first
    return Enter(phase) if phase in workflow.steps else _missing(workflow, phase)


def _missing(workflow: Definition, phase: str) -> Hold:
    known = ", ".join(workflow.steps)
    return Hold(
        f"Workflow {workflow.name!r} no longer has the phase {phase!r} (it has {known}). "
        "Bring the phase back, or fork the session at another phase.",
        phase,
    )


def _within(step: Step, view: SessionView, visit: Visit, now: int) -> Decision:
    if visit.guard is False:
        return Skip()
    if step.before is not None and _is_fresh(visit):
        return Prepare()
    if step.agent is not None and not visit.updated:
        working = _working(step, view, visit, now)
        if working is not None:
            return working
    asked = view.questions.get(visit.question or "")
    if asked is None:
        return Conclude()
    return Wait(view.open.deadlines.earliest()) if asked.status == "pending" else Proceed()


def _is_fresh(visit: Visit) -> bool:
    """Whether nothing has been done in a visit yet; otherwise, `before` was added later."""
    return not (visit.before_done or visit.after_done or visit.runs or visit.question)


def run_keys(visit: Visit) -> list[str]:
    """The keys of all runs of a visit, in the order of its items."""
    if visit.items is None:
        return [run_key(visit.phase, visit.number)]
    return [visit.key_of(index) for index in range(len(visit.items))]


def _working(step: Step, view: SessionView, visit: Visit, now: int) -> Decision | None:
    """What the runs of a visit still need; None if all of them have ended."""
    if visit.items is None:
        # A shortcut for by far the most frequent case.
        key = run_key(visit.phase, visit.number)
        only = visit.runs.get(key)
        if only is None:
            return Start((key,))
        if only.status == "completed":
            return None
        if only.status == "running":
            return Wait(_next_wake(view))
    return _working_on(step, view, visit, now)


def _working_on(step: Step, view: SessionView, visit: Visit, now: int) -> Decision | None:
    total = 1 if visit.items is None else len(visit.items)
    if len(visit.runs) == total and not view.open.has_runs:
        lets_fail = visit.items is None or step.phase.on_item_error == "fail"
        return _about_failures(step, view, visit) if lets_fail else None
    for key in view.open.lost:
        uncertain = _uncertain(step, view, key, visit.runs[key])
        if uncertain is not None:
            return uncertain
    free = (step.phase.parallel or 1) - len(view.open.busy)
    ready = tuple(islice(_ready(step, view, visit, now), max(free, 0)))
    return Start(ready) if ready else Wait(_next_wake(view))


def _about_failures(step: Step, view: SessionView, visit: Visit) -> Decision | None:
    """What to do about runs that have failed and will not be retried."""
    failed = {key: run for key in run_keys(visit) if (run := visit.runs[key]).status == "failed"}
    if not failed:
        return None
    if step.phase.on_error == "fail":
        return Fail(next(iter(failed.values())).error or UNKNOWN_ERROR)
    verdicts = {key: _answer(view, key, failure_key(run)) for key, run in failed.items()}
    for key, run in failed.items():
        if verdicts[key] == FAIL:
            return Fail(run.error or UNKNOWN_ERROR)
        if verdicts[key] is None and not _is_asked(view, key, failure_key(run)):
            return OfferRetry(key)
    again = tuple(key for key, verdict in verdicts.items() if verdict == RETRY)
    if again:
        return Start(again[: step.phase.parallel or 1])
    if None in verdicts.values():
        return Wait(_next_wake(view))
    # A phase is skipped as a whole; with several items, the others were still done.
    return Skip() if visit.items is None else None


def _ready(step: Step, view: SessionView, visit: Visit, now: int) -> Iterator[str]:
    """The runs that can start: those to resume first, then items in order."""
    unfinished = view.open
    yield from unfinished.ready
    for key in unfinished.lost:
        run = visit.runs[key]
        if step.on_uncertain == "retry" or _answer(view, key, uncertain_key(run)) == RUN_AGAIN:
            yield key
    yield from unfinished.retries.due(now)
    for index in range(unfinished.fresh, len(visit.items or ())):
        key = visit.key_of(index)
        if key not in visit.runs:
            yield key


def uncertain_key(run: Run) -> str:
    """The key of the question about a run whose attempt was lost."""
    return f"uncertain:{run.attempt}"


def failure_key(run: Run) -> str:
    """The key of the question about a run that has failed; counts its failures."""
    return f"failed:{run.failures}"


def is_about_failure(key: str | None) -> bool:
    """Whether a question with this key is about a failed run."""
    return key is not None and key.startswith("failed:")


def _answer(view: SessionView, run: str, key: str) -> object:
    for asked in view.open.by_run.get(run, {}).values():
        if asked.key == key and asked.status == "answered":
            return asked.value
    return None


def _is_asked(view: SessionView, run: str, key: str) -> bool:
    return any(asked.key == key for asked in view.open.pending_of(run))


def _uncertain(step: Step, view: SessionView, key: str, run: Run) -> Decision | None:
    if step.on_uncertain == "retry":
        return None
    if step.on_uncertain == "fail":
        return Fail(_uncertain_error(step, run))
    match _answer(view, key, uncertain_key(run)):
        case None:
            return None if _is_asked(view, key, uncertain_key(run)) else Confirm(key)
        case verdict if verdict == GO_ON:
            return Vouch(key)
        case verdict if verdict == GIVE_UP:
            return Fail(_uncertain_error(step, run))
        case _:
            return None


def _uncertain_error(step: Step, run: Run) -> ErrorDescription:
    return describe(
        AgentUncertain(
            f"The process died while {run.agent!r} ran in phase {step.name!r}, "
            "so its outcome is unknown."
        )
    )


def _next_wake(view: SessionView) -> int | None:
    return _earlier(view.open.retries.earliest(), view.open.deadlines.earliest())


def next_wake_after(view: SessionView, now: int) -> int | None:
    """When to decide again, although nothing that is due now can be started."""
    return _earlier(view.open.retries.later_than(now), view.open.deadlines.earliest())


def _earlier(*moments: int | None) -> int | None:
    return min((at for at in moments if at is not None), default=None)
