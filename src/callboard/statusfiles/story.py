"""What status files tell of a session, folded from its events: pure, and the same everywhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.engine.phase import Step
from callboard.engine.workflow import Workflow
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.moments import from_ms
from callboard.state.fold import apply
from callboard.state.session import SessionView
from callboard.state.visits import Visit, run_item
from callboard.statusfiles.phases import ACTIVE, COMPLETED, FAILED, PENDING

PERSON: Final = "person"
NOBODY: Final = "workflow"
"""Who works in a phase that has no agent: the one who is asked, or nobody at all."""

POSITION: Final = "session_position"
"""The field that says up to where the log is told: what is older never takes its place."""

CANCELLED: Final = "The session was cancelled."

_LONGEST: Final = 4_000
_STATUSES: Final = {"pending": PENDING, "completed": COMPLETED, "failed": FAILED}

Told = dict[str, Any]
"""What stands in the file, or a part of it."""


@dataclass(slots=True)
class Progress:
    """How far a phase has come, or one run of an agent in it."""

    status: str = PENDING
    attempts: int = 0
    started_at: int | None = None
    completed_at: int | None = None
    error: str | None = None
    failed: bool = False
    """Whether its last attempt failed: only then the next start is another."""
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    """What its runs gave in this visit, by their keys."""
    deliverables: list[str] = field(default_factory=list[str])
    context_for_next: str = ""
    items: Told | None = None
    """How many items of the last `for_each` were done."""

    def begin(self, at_ms: int) -> None:
        """It begins, perhaps again."""
        self.status, self.attempts = ACTIVE, self.attempts + 1
        self.started_at, self.completed_at, self.error = at_ms, None, None
        self.outputs = {}

    def end(self, status: str, at_ms: int, error: str | None = None) -> None:
        """It is over."""
        self.status, self.completed_at, self.error = status, at_ms, error
        if self.started_at is None:
            self.started_at = at_ms

    def as_fields(self) -> dict[str, Any]:
        """The fields that a phase in the file has of this."""
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
        }


class Story:
    """A session as its status files tell it.

    view: all that is known of the session. phases: how far each has come, by its name. runs: the
    same of each agent's work, by its key, such as `plan#1`, or `review#2/0` with `for_each`.
    """

    def __init__(self, workflow: Workflow, session_id: str) -> None:
        self.workflow = workflow
        self.view = SessionView(session_id=session_id)
        self.phases: dict[str, Progress] = {name: Progress() for name in workflow.steps}
        self.runs: dict[str, Progress] = {}
        self._input: Any = None

    def hear(self, event: Event) -> None:
        """Take in one event; they come in order, and narration may be left out."""
        handler = _HANDLERS.get(event.name)
        if handler is not None:
            handler(self, event)
        apply(self.view, event)

    def told(self) -> Told:
        """The workflow as it is to stand in the file; it does not tell its id."""
        phases = self.own_phases()
        if self.workflow.status_phases is not None:
            phases = [_completed(one) for one in self.workflow.status_phases(self)]
        for number, phase in enumerate(phases):
            phase["id"] = f"phase_{number}"
        active = [phase["id"] for phase in phases if phase["status"] == ACTIVE]
        return {
            "task": self.task,
            "current_phase": active[0] if active else None,
            "phases": phases,
            **standing(self.view),
        }

    @property
    def task(self) -> str:
        """What somebody asked for: the input where it is words, else the workflow's name."""
        given = self._input
        if isinstance(given, Mapping):
            given = cast("Mapping[str, Any]", given).get("task")
        return given if isinstance(given, str) and given.strip() else self.workflow.name

    def own_phases(self) -> list[Told]:
        """The workflow's phases, each with how far it has come."""
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
        """A phase's progress; a workflow that has changed may no longer have it."""
        return self.phases.setdefault(phase, Progress())

    def begin(self, event: Event) -> None:
        """A session begins."""
        self._input = event.payload.get("input")

    def fork(self, event: Event) -> None:
        """Begin anew from here: what had failed has not, in this session."""
        for progress in (*self.phases.values(), *self.runs.values()):
            if progress.status == FAILED:
                progress.status, progress.completed_at, progress.error = PENDING, None, None

    def stop(self, event: Event) -> None:
        """The session has failed or was cancelled: so has the phase that it was in."""
        error = event.payload.get("error") or {"message": CANCELLED}
        for progress in (*self.phases.values(), *self.runs.values()):
            if progress.status == ACTIVE:
                progress.end(FAILED, event.at_ms, str(error.get("message")))


def standing(view: SessionView) -> Told:
    """How a session stands, whatever its phases are."""
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


def _entered(story: Story, event: Event) -> None:
    story.progress_of(event.payload["phase"]).begin(event.at_ms)


def items_of(visit: Visit) -> Told | None:
    """How many items of a `for_each` are done; None when there are none."""
    if visit.items is None:
        return None
    statuses = [run.status for run in visit.runs.values()]
    done, failed = statuses.count("completed"), statuses.count("failed")
    return {"completed": done, "failed": failed, "total": len(visit.items)}


def _exited(story: Story, event: Event) -> None:
    progress = story.progress_of(event.payload["phase"])
    progress.items = items_of(story.view.visit) if story.view.visit else None
    if event.payload["reason"] == "error":
        progress.end(FAILED, event.at_ms, progress.error)
        return
    progress.end(COMPLETED, event.at_ms)
    in_order = sorted(progress.outputs, key=lambda run: run_item(run) or 0)
    given = [_given(progress.outputs[run]) for run in in_order]
    made = [one for deliverables, _ in given for one in deliverables]
    progress.deliverables += [one for one in made if one not in progress.deliverables]
    contexts = [context for _, context in given if context]
    progress.context_for_next = "\n".join(contexts) or progress.context_for_next


def _failed(story: Story, event: Event) -> None:
    payload = event.payload
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


def _started(story: Story, event: Event) -> None:
    run = story.runs.get(event.payload["run"])
    if run is None:
        story.runs[event.payload["run"]] = run = Progress()
        run.begin(event.at_ms)
    else:
        run.attempts += run.failed
        run.status, run.error, run.failed = ACTIVE, None, False


def _taken_off(story: Story, event: Event) -> None:
    if (error := event.payload.get("error")) is not None:
        run = story.runs.get(event.payload["run"], Progress())
        for progress in (story.progress_of(event.payload["phase"]), run):
            progress.error = str(error.get("message"))


def _completed_run(story: Story, event: Event) -> None:
    payload = event.payload
    story.progress_of(payload["phase"]).error = None
    story.progress_of(payload["phase"]).outputs[payload["run"]] = payload.get("output")
    if payload["run"] in story.runs:
        run = story.runs[payload["run"]]
        run.end(COMPLETED, event.at_ms)
        run.outputs = {payload["run"]: payload.get("output")}


_HANDLERS: Final[Mapping[str, Callable[[Story, Event], None]]] = {
    names.STARTED: Story.begin,
    names.FORKED: Story.fork,
    names.FAILED: Story.stop,
    names.CANCELLED: Story.stop,
    names.PHASE_ENTERED: _entered,
    names.PHASE_EXITED: _exited,
    names.PHASE_FAILED: _failed,
    names.AGENT_STARTED: _started,
    names.AGENT_COMPLETED: _completed_run,
    names.AGENT_INTERRUPTED: _taken_off,
}


def _given(output: Any) -> tuple[list[str], str]:
    """What an output says of itself: what was made, and what the next one has to know."""
    if isinstance(output, str):
        return [], output[:_LONGEST]
    if not isinstance(output, Mapping):
        return [], ""
    told = cast("Mapping[str, Any]", output)
    made = told.get("deliverables")
    listed = cast("Sequence[Any]", made) if isinstance(made, list) else ()
    context = told.get("context_for_next")
    return [str(one) for one in listed], context if isinstance(context, str) else ""


def _agent(step: Step) -> str:
    if step.agent is not None:
        return step.agent.name
    return NOBODY if step.human is None else PERSON


def _completed(phase: Mapping[str, Any]) -> Told:
    """A phase with all fields that one has."""
    return {"id": "", "agent": NOBODY, **Progress().as_fields(), **phase}


def _moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else from_ms(at_ms).isoformat(timespec="milliseconds")
