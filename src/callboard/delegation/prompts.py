"""The agents' prompts: for the planner, and for the agent that does a phase."""

from collections.abc import Iterable
from typing import Final

from callboard.delegation.agent_files import GENERAL, AgentFile
from callboard.delegation.plan import Plan, waves
from callboard.delegation.state import Delegation, PhaseRun, next_turn, planned, the_plan

_LONGEST: Final = 8_000
_SHORT: Final = 300

_PLANNING: Final = """\
You make the plan of a delegated task. You do none of the work yourself, and change nothing.

- Look into the project only as far as the plan needs it.
- Break the task into phases, few rather than many. Each has one outcome that can be seen, and a \
title that says it.
- Pick an agent for each phase from the list below, by its description. Where none fits: {general}.
- Phases are called phase_0, phase_1, … in their order. In depends_on, name the earlier phases \
whose outcome a phase needs. What does not need each other is then worked on at the same time, by \
agents that do not see each other: give such phases different files.
- In instructions, say what an agent needs that knows neither this conversation nor the others.
"""

_REPORTING: Final = """\
When you are done, report in the form that is asked for: deliverables (files that you made or \
changed, or outcomes, each a short text), and context_for_next: what the agents of the next phases \
have to know, in a few sentences. If the phase cannot be done, say why in failure.
"""

_GENERAL_OFFER: Final = f"- {GENERAL}: anything that no other agent is for"


def planning_prompt(state: Delegation) -> str:
    """The planner's prompt."""
    parts = [
        _PLANNING.format(general=GENERAL),
        "Agents:\n" + "\n".join(_offer(agent) for agent in state.agents) + f"\n{_GENERAL_OFFER}",
        f"Task, word for word:\n{state.task}",
    ]
    if state.remarks and state.plan is not None:
        parts.append("The previous plan was:\n" + outline(state.plan))
        feedback = _listed(state.remarks)
        parts.append(f"A person rejected it. Make another plan. Their feedback:\n{feedback}")
    return "\n\n".join(parts)


def phase_prompt(state: Delegation, turn: PhaseRun) -> str:
    """The prompt for the agent of a phase."""
    phase = planned(state, turn.id)
    parts = [
        f"You do one phase of a delegated task.\n\nPhase ID: {turn.id}\nPhase: "
        f"{_on_one_line(phase.title)}",
        f"The whole task, word for word. Do only your phase of it:\n{state.task}",
        "All phases:\n" + outline(the_plan(state)),
    ]
    if phase.instructions:
        parts.append(f"Your phase:\n{phase.instructions}")
    if phase.deliverables:
        parts.append("Expected deliverables:\n" + _listed(phase.deliverables))
    if before := list(_before(state, turn.id)):
        parts.append("What was done before you:\n" + "\n\n".join(before))
    if others := [one.id for one in next_turn(state) if one.id != turn.id]:
        theirs = ", ".join(others)
        parts.append(f"Other agents are working on {theirs} at the same time. Leave that to them.")
    if turn.id in state.retried:
        parts.append("An earlier attempt failed. Look first at what it left behind.")
    return "\n\n".join([*parts, _REPORTING])


def another_attempt(failure: str) -> str:
    """The prompt for an agent that reported why it failed and is to try again."""
    return (
        f"That attempt failed: {_cut(failure, _LONGEST)}\n\nTry once more, in another way where "
        "that helps, and do not repeat what is done. Then report again, in the same form."
    )


def outline(plan: Plan) -> str:
    """A plan as lines of text, for people and for agents."""
    wave_of = {id: number for number, ids in enumerate(waves(plan), 1) for id in ids}
    lines = [
        f"{id}  {_on_one_line(phase.title)}  ({phase.agent}){_together(wave_of, id)}"
        for id, phase in plan.by_id.items()
    ]
    return "\n".join([*lines, *(f"Note: {_on_one_line(note)}" for note in plan.notes)])


def _together(wave_of: dict[str, int], id: str) -> str:
    others = [one for one, wave in wave_of.items() if wave == wave_of[id] and one != id]
    return f"  together with {', '.join(others)}" if others else ""


def _before(state: Delegation, id: str) -> Iterable[str]:
    for done, phase in the_plan(state).by_id.items():
        if done in state.skipped:
            yield f"{done}, {phase.title}: skipped, because it failed: {state.skipped[done]}"
        elif done in state.results and done != id:
            result = state.results[done]
            made = f"\nMade: {', '.join(result.deliverables)}" if result.deliverables else ""
            yield f"{done}, {phase.title}{made}\n{_cut(result.context_for_next, _LONGEST)}".strip()


def _offer(agent: AgentFile) -> str:
    return f"- {agent.name}: {_cut(_on_one_line(agent.description), _SHORT)}"


def _on_one_line(text: str) -> str:
    """Text that can't pass for more lines than it is."""
    return " ".join(text.split())


def _listed(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
