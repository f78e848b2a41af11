"""What status files show of a delegated task: the phases of its plan, as recorded in the log."""

from collections.abc import Iterator
from typing import Final

from callboard.delegation.plan import waves
from callboard.delegation.planner import NAME as PLANNER
from callboard.delegation.state import Delegation, PhaseResult, PhaseRun
from callboard.delegation.worker import PhaseDone
from callboard.events.envelope import Json
from callboard.state.visits import run_key
from callboard.statusfiles.phases import COMPLETED
from callboard.statusfiles.story import Progress, Story

WORK: Final = "work"
"""The workflow's phase in which the plan's phases are done."""


def status_phases(story: Story) -> list[dict[str, Json]]:
    """The phases of the plan; before there is a plan, the planning."""
    state = Delegation.model_validate(story.view.state or {})
    if state.plan is None:
        planning = story.phases["plan"].as_fields()
        return [{"title": "Plan the work", "agent": PLANNER, **planning}]
    wave_of = {id: number for number, ids in enumerate(waves(state.plan)) for id in ids}
    return [
        {"title": phase.title, "agent": phase.agent}
        | _progress(story, state, id)
        | {"skipped": id in state.skipped, "depends_on": phase.depends_on, "wave": wave_of[id]}
        for id, phase in state.plan.by_id.items()
    ]


def _progress(story: Story, state: Delegation, id: str) -> dict[str, Json]:
    runs = [story.runs[key] for key in _run_keys(story, state, id) if key in story.runs]
    fields = (runs[-1] if runs else Progress()).as_fields()
    fields["attempts"] = sum(run.attempts for run in runs)
    if (result := _result(state, id, runs)) is not None:
        fields |= result.model_dump()
    if id in state.skipped:
        # The files have no status for this, and the task continues as if it were done.
        why = state.skipped[id]
        fields |= {"status": COMPLETED, "deliverables": ["skipped by a person"], "error": why}
    return fields


def _result(state: Delegation, id: str, runs: list[Progress]) -> PhaseResult | None:
    """A phase's result; it is in the state only after all phases of the same turn have ended."""
    given = runs[-1].output if runs else None
    if id in state.results or given is None:
        return state.results.get(id)
    return PhaseDone.model_validate(given).result


def _run_keys(story: Story, state: Delegation, id: str) -> Iterator[str]:
    """The runs that worked on a phase, in order."""
    for number, ids in enumerate(state.turns, 1):
        if id in ids:
            yield run_key(WORK, number, ids.index(id))
    visit = story.view.visit
    if visit is not None and visit.phase == WORK and visit.number > len(state.turns):
        ids = [PhaseRun.model_validate(item).id for item in visit.items or ()]
        if id in ids:
            yield run_key(WORK, visit.number, ids.index(id))
