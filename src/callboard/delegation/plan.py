"""A plan: the phases of a task, which agent does each, and which can be done in parallel."""

from collections.abc import Collection
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic import ValidationError as Misfit

from callboard.delegation.agent_files import GENERAL
from callboard.errors import ValidationError
from callboard.events.codec import load_json
from callboard.events.envelope import Json
from callboard.events.json_values import is_list
from callboard.statusfiles.phases import COMPLETED, PENDING, Workflow
from callboard.statusfiles.turns import ready

MOST_PHASES: Final = 50

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class PlannedPhase(BaseModel):
    """One phase of a plan. Its id is `phase_N`, by its place in the plan, from 0."""

    model_config = ConfigDict(extra="forbid")

    title: Words = Field(description="The outcome, in a few words.")
    agent: str = Field(default=GENERAL, description="The name of the agent that does it.")
    instructions: str = Field(
        default="", description="What the agent has to know beyond the title."
    )
    deliverables: list[str] = Field(default=[], description="What has to exist afterwards.")
    depends_on: list[str] | None = Field(
        default=None,
        description="The ids of the earlier phases whose outcome it needs, such as phase_0; "
        "empty for none. If omitted, it waits for all earlier phases.",
    )
    wave: int | None = Field(
        default=None,
        description="Omit, or a number: adjacent phases with the same number run in parallel.",
    )


class Plan(BaseModel):
    """The phases, in their order."""

    model_config = ConfigDict(extra="forbid")

    phases: list[PlannedPhase] = Field(min_length=1, max_length=MOST_PHASES)
    notes: list[str] = Field(
        default=[], description="Anything a person should know before they approve."
    )

    @property
    def by_id(self) -> dict[str, PlannedPhase]:
        """The phases in their order, by their ids."""
        return {phase_id(number): phase for number, phase in enumerate(self.phases)}


def phase_id(number: int) -> str:
    """The id of the phase at this position."""
    return f"phase_{number}"


def turn(plan: Plan, done: Collection[str]) -> list[str]:
    """The ids of the phases that can start once these are done."""
    return [phase["id"] for phase in ready(_as_workflow(plan, done))]


def waves(plan: Plan) -> list[list[str]]:
    """The ids of all phases, grouped by what is done in parallel."""
    found: list[list[str]] = []
    done: list[str] = []
    while len(done) < len(plan.phases):
        found.append(turn(plan, done))
        done += found[-1]
    return found


def settled(plan: Plan, agents: Collection[str]) -> Plan:
    """A plan that can be run: the planner's mistakes are fixed and noted."""
    notes = list(plan.notes)
    phases: list[PlannedPhase] = []
    for number, phase in enumerate(plan.phases):
        id = phase_id(number)
        if phase.agent not in (GENERAL, *agents):
            notes.append(f"{id}: there is no agent {phase.agent!r}, so {GENERAL} is used.")
            phase = phase.model_copy(update={"agent": GENERAL})
        if unmet := _unmet(phase, number):
            notes += [
                f"{id}: {one!r} is not an earlier phase, so the dependency is ignored."
                for one in unmet
            ]
            kept = [one for one in phase.depends_on or () if one not in unmet]
            phase = phase.model_copy(update={"depends_on": kept})
        phases.append(phase)
    return Plan(phases=phases, notes=notes)


def edited(text: str, agents: Collection[str]) -> Plan:
    """The plan that a person wrote as JSON; ValidationError names the field and the fix."""
    try:
        found = load_json(text.encode())
    except ValueError as error:
        raise ValidationError(f"The plan is not valid JSON: {error}.", field="plan") from error
    plan = _checked(found)
    for number, phase in enumerate(plan.phases):
        where = f"phases[{number}]"
        if phase.agent not in (GENERAL, *agents):
            known = ", ".join((GENERAL, *sorted(agents)))
            raise ValidationError(
                f"{where}.agent: there is no agent {phase.agent!r}. Known agents: {known}.",
                field=f"{where}.agent",
            )
        if unmet := _unmet(phase, number):
            before = ", ".join(map(phase_id, range(number))) or "none"
            raise ValidationError(
                f"{where}.depends_on: {unmet[0]!r} is not an earlier phase. "
                f"Earlier phases: {before}.",
                field=f"{where}.depends_on",
            )
    return plan


def _checked(found: Json) -> Plan:
    whole = {"phases": found} if is_list(found) else found
    try:
        return Plan.model_validate(whole)
    except Misfit as error:
        first = error.errors(include_url=False, include_context=False)[0]
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        where = "".join(parts).removeprefix(".") or "plan"
        raise ValidationError(
            f'{where}: {first["msg"]}. A plan is {{"phases": [{{"title": "…", "agent": "…"}}]}}.',
            field=where,
        ) from error


def _unmet(phase: PlannedPhase, number: int) -> list[str]:
    before = {phase_id(one) for one in range(number)}
    return [one for one in phase.depends_on or () if one not in before]


def _as_workflow(plan: Plan, done: Collection[str]) -> Workflow:
    return {
        "phases": [
            {
                "id": id,
                "status": COMPLETED if id in done else PENDING,
                "depends_on": phase.depends_on,
                "wave": phase.wave,
            }
            for id, phase in plan.by_id.items()
        ]
    }
