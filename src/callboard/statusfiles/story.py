"""What status files report about a session, folded from its events. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from callboard.engine.phase import Step
from callboard.engine.workflow import Workflow
from callboard.events import names
from callboard.events.envelope import Event, Json
from callboard.events.json_values import as_list, as_object, as_text, is_mapping
from callboard.events.moments import from_ms
from callboard.events.payloads.agents import (
    AgentCompletedPayload,
    AgentInterruptedPayload,
    AgentStartedPayload,
)
from callboard.events.payloads.workflow import (
    PhaseEnteredPayload,
    PhaseExitedPayload,
    PhaseFailedPayload,
    SessionForkedPayload,
    WorkflowCancelledPayload,
    WorkflowFailedPayload,
    WorkflowStartedPayload,
)
from callboard.state.fold import apply
from callboard.state.session import SessionView
from callboard.state.visits import Visit, run_item
from callboard.statusfiles.history import PERCENT, percent
from callboard.statusfiles.phases import ACTIVE, COMPLETED, FAILED, PENDING, Told

PERSON: Final = "person"
NOBODY: Final = "workflow"
"""The agent of a phase without one: a person if there is a question, otherwise the workflow."""

POSITION: Final = "session_position"
"""The field with the log position that the file reflects. Older content never replaces newer."""

_ENDED: Final = {"failed": "The session failed.", "cancelled": "The session was cancelled."}
_LONGEST: Final = 4_000
_STATUSES: Final = {"pending": PENDING, "completed": COMPLETED, "failed": FAILED}


@dataclass(slots=True)
class Progress:
    """The progress of a phase, or of one run in it."""

    status: str = PENDING
    attempts: int = 0
    started_at: int | None = None
    completed_at: int | None = None
    error: str | None = None
    failed: bool = False
    """Whether its last attempt failed. Only then does the next start count as another attempt."""
    skipped: bool = False
    """Whether it ended without any work."""
    output: Json = None
    """The run's output."""
    deliverables: list[str] = field(default_factory=list[str])
    context_for_next: str = ""
    items: Told | None = None
    """The number of items done in the last `for_each`."""

    def begin(self, at_ms: int) -> None:
        """Start, possibly again."""
        self.status, self.attempts, self.skipped = ACTIVE, self.attempts + 1, False
        self.started_at, self.completed_at, self.error = at_ms, None, None

    def end(self, status: str, at_ms: int, error: str | None = None) -> None:
        """End."""
        self.status, self.completed_at, self.error = status, at_ms, error
        if self.started_at is None:
            self.started_at = at_ms

    def as_fields(self) -> Told:
        """The fields of a phase in the file."""
        took = None
        if self.started_at is not None and self.completed_at is not None:
            took = self.completed_at - self.started_at
        return {
            "status": self.status,
            "deliverables": list(self.deliverables),
            "context_for_next": self.context_for_next,
            "started_at": _moment(self.started_at),
            "completed_at": _moment(self.completed_at),
            "duration_ms": took,
            "error": self.error,
            "attempts": self.attempts,
            "skipped": self.skipped,
        }


class Story:
    """A session as its status files show it.

    view: the session's view. phases: each phase's progress, by name. runs: each run's progress, by
    key, such as `plan#1`, or `review#2/0` in a `for_each`. input: the session's input.
    """

    def __init__(self, workflow: Workflow, session_id: str) -> None:
        self.workflow = workflow
        self.view = SessionView(session_id=session_id)
        self.phases: dict[str, Progress] = {name: Progress() for name in workflow.steps}
        self.runs: dict[str, Progress] = {}
        self.input: Json = None

    def hear(self, event: Event) -> None:
        """Apply one event. Events come in order; narration may be left out."""
        handler = _HANDLERS.get(event.name)
        if handler is not None:
            handler(event.payload, self, event)
        apply(self.view, event)

    def told(self) -> Told:
        """The workflow as written to the file, without its id."""
        phases = self.own_phases()
        if self.workflow.status_phases is not None:
            phases = [_completed(one) for one in self.workflow.status_phases(self)]
        for number, phase in enumerate(phases):
            phase["id"] = f"phase_{number}"
        return {
            "task": self.task,
            **current_of(phases, is_over=self.view.ended is not None),
            "phases": phases,
            PERCENT: percent({"phases": phases}),
            **standing(self.view),
        }

    @property
    def task(self) -> str:
        """What was asked for: the input if it is text, otherwise the workflow's name."""
        given = self.input
        if is_mapping(given):
            given = given.get("task")
        return given if isinstance(given, str) and given.strip() else self.workflow.name

    def own_phases(self) -> list[Told]:
        """The workflow's phases, each with its progress."""
        return [
            {"id": "", "title": step.name, "agent": _agent(step)}
            | self.phases[step.name].as_fields()
            | ({"items": self._items(step.name)} if step.phase.for_each else {})
            for step in self.workflow.steps.values()
        ]

    def _items(self, phase: str) -> Told | None:
        visit = self.view.visit
        if visit is not None and visit.phase == phase:
            return items_of(visit)
        return self.phases[phase].items

    def progress_of(self, phase: str) -> Progress:
        """A phase's progress; also for a phase that the workflow no longer has."""
        return self.phases.setdefault(phase, Progress())

    def every(self) -> list[Progress]:
        """The progress of every phase and every run."""
        return [*self.phases.values(), *self.runs.values()]


def current_of(phases: list[Told], *, is_over: bool) -> Told:
    """The active phases; between two phases, the one that ended last."""
    active = [phase["id"] for phase in phases if phase["status"] == ACTIVE]
    ended = [phase for phase in phases if phase["completed_at"] is not None and not is_over]
    last = max(ended, key=lambda phase: phase["completed_at"], default=None)
    current = active[0] if active else last["id"] if last else None
    return {"current_phase": current, "current_phases": active}


def standing(view: SessionView) -> Told:
    """A session's status, apart from its phases."""
    over = view.ended is not None
    return {
        "status": _STATUSES.get(view.status, FAILED if over else ACTIVE),
        "session_id": view.session_id,
        "session_status": view.status,
        POSITION: view.position,
        "questions": [
            {"id": asked.id, "type": asked.type, "prompt": asked.prompt, "phase": asked.phase}
            for asked in view.pending()
        ],
    }


def _begun(payload: WorkflowStartedPayload, story: Story, event: Event) -> None:
    story.input = payload.get("input")


def _forked(payload: SessionForkedPayload, story: Story, event: Event) -> None:
    """Reset failed phases: a fork tries them again."""
    for progress in story.every():
        if progress.status == FAILED:
            progress.status, progress.completed_at, progress.error = PENDING, None, None


def _stopped(
    payload: WorkflowFailedPayload | WorkflowCancelledPayload, story: Story, event: Event
) -> None:
    """The session failed or was cancelled, so its current phase failed."""
    ended = "failed" if event.name == names.FAILED else "cancelled"
    why = why_stopped(ended, payload.get("error"))
    for progress in story.every():
        if progress.status == ACTIVE:
            progress.end(FAILED, event.at_ms, why)


def why_stopped(ended: str, error: Mapping[str, object] | None) -> str:
    """The error that ended a session, or else that it failed or was cancelled."""
    told = (error or {}).get("message")
    return str(told) if told else _ENDED[ended]


def _entered(payload: PhaseEnteredPayload, story: Story, event: Event) -> None:
    story.progress_of(payload["phase"]).begin(event.at_ms)


def items_of(visit: Visit) -> Told | None:
    """The number of items done in a `for_each`; None outside of one."""
    if visit.items is None:
        return None
    statuses = [run.status for run in visit.runs.values()]
    done, failed = statuses.count("completed"), statuses.count("failed")
    return {"completed": done, "failed": failed, "total": len(visit.items)}


def _exited(payload: PhaseExitedPayload, story: Story, event: Event) -> None:
    progress, visit = story.progress_of(payload["phase"]), story.view.visit
    progress.items = items_of(visit) if visit else None
    if payload["reason"] == "error":
        progress.end(FAILED, event.at_ms, progress.error)
        return
    progress.skipped = payload["reason"] == "skipped"
    # If the agent failed and a person skipped the phase, keep the reason.
    progress.end(COMPLETED, event.at_ms, progress.error if progress.skipped else None)
    runs = visit.runs if visit else {}
    in_order = sorted(runs, key=lambda run: run_item(run) or 0)
    given = [_given(runs[run].output) for run in in_order if runs[run].status == "completed"]
    made = [one for deliverables, _ in given for one in deliverables]
    progress.deliverables += [one for one in made if one not in progress.deliverables]
    contexts = [context for _, context in given if context]
    progress.context_for_next = "\n".join(contexts) or progress.context_for_next


def _failed(payload: PhaseFailedPayload, story: Story, event: Event) -> None:
    error, run = str(payload["error"].get("message")), payload.get("run")
    again = payload.get("retryInMs") is not None
    progress = story.progress_of(payload["phase"])
    progress.error = error
    if again and run_item(run or "") is None:
        progress.attempts += 1
    if run is not None and run in story.runs:
        story.runs[run].error, story.runs[run].failed = error, True
        if not again:
            story.runs[run].end(FAILED, event.at_ms, error)


def _started(payload: AgentStartedPayload, story: Story, event: Event) -> None:
    run = story.runs.get(payload["run"])
    if run is None:
        story.runs[payload["run"]] = run = Progress()
        run.begin(event.at_ms)
    else:
        run.attempts += run.failed
        run.status, run.error, run.failed = ACTIVE, None, False


def _taken_off(payload: AgentInterruptedPayload, story: Story, event: Event) -> None:
    if (error := payload.get("error")) is not None:
        run = story.runs.get(payload["run"], Progress())
        for progress in (story.progress_of(payload["phase"]), run):
            progress.error = str(error.get("message"))


def _completed_run(payload: AgentCompletedPayload, story: Story, event: Event) -> None:
    story.progress_of(payload["phase"]).error = None
    if payload["run"] in story.runs:
        run = story.runs[payload["run"]]
        run.end(COMPLETED, event.at_ms)
        run.output = payload.get("output")


_HANDLERS: Final = dict(
    (
        names.STARTED.to(_begun),
        names.FORKED.to(_forked),
        names.FAILED.to(_stopped),
        names.CANCELLED.to(_stopped),
        names.PHASE_ENTERED.to(_entered),
        names.PHASE_EXITED.to(_exited),
        names.PHASE_FAILED.to(_failed),
        names.AGENT_STARTED.to(_started),
        names.AGENT_COMPLETED.to(_completed_run),
        names.AGENT_INTERRUPTED.to(_taken_off),
    )
)


def _given(output: Json) -> tuple[list[str], str]:
    """An output's own deliverables, and its context for the next phase."""
    if isinstance(output, str):
        return [], output[:_LONGEST]
    told = as_object(output)
    made = [str(one) for one in as_list(told.get("deliverables"))]
    return made, as_text(told.get("context_for_next"))


def _agent(step: Step) -> str:
    if step.agent is not None:
        return step.agent.name
    return NOBODY if step.human is None else PERSON


def _completed(phase: Mapping[str, Json]) -> Told:
    """A phase with all of its fields."""
    return {"id": "", "agent": NOBODY, **Progress().as_fields(), **phase}


def _moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else from_ms(at_ms).isoformat(timespec="milliseconds")
