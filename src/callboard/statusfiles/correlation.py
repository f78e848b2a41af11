"""Find the phase an agent works on: the one its prompt names, its agent's, or the current one."""

import re
from collections.abc import Collection
from typing import Final

from callboard.events.json_values import Object
from callboard.statusfiles.phases import ACTIVE, FAILED, PENDING, Phase, Workflow
from callboard.statusfiles.turns import phases_of, ready

ORCHESTRATOR: Final = "delegation-orchestrator"
"""The agent that makes the plan. Its end isn't the end of a phase, unless a phase names it."""

_NAMED = re.compile(r"\bPhase ID:\s*(phase_\d+)\b", re.IGNORECASE)


def phase_for(
    workflow: Workflow, call: Object, taken: Collection[str], *, nested: bool = False
) -> str | None:
    """The id of the phase that an agent tool call works on, if any.

    Args:
        workflow: The workflow's current state.
        call: The tool's input.
        taken: Phases that another agent is working on. They match only by their id.
        nested: Whether a subagent made the call. Then the prompt has to name the phase.
    """
    prompt = str(call.get("prompt") or "")
    for named in _NAMED.findall(prompt):
        if any(phase["id"] == named.lower() for phase in phases_of(workflow)):
            return named.lower()
    if nested:
        return None
    agent = str(call.get("subagent_type") or "")
    free = [phase for phase in phases_of(workflow) if phase["id"] not in taken]
    return _by_agent(workflow, free, agent) or _current(workflow, free, agent)


def _by_agent(workflow: Workflow, free: list[Phase], agent: str) -> str | None:
    """The agent's own phase: an active one first, then ready, failed and pending ones."""
    own = [phase for phase in free if agent and phase.get("agent") == agent]
    turn = [phase["id"] for phase in ready(workflow)]
    ranked = [
        *(phase["id"] for phase in own if phase["status"] == ACTIVE),
        *(phase["id"] for phase in own if phase["id"] in turn),
        *(phase["id"] for phase in own if phase["status"] == FAILED),
        *(phase["id"] for phase in own if phase["status"] == PENDING),
    ]
    return ranked[0] if ranked else None


def _current(workflow: Workflow, free: list[Phase], agent: str) -> str | None:
    """The first active phase; not the current one if that has already ended."""
    active = [phase["id"] for phase in free if phase["status"] == ACTIVE]
    return active[0] if active and agent != ORCHESTRATOR else None


def status_of(workflow: Workflow, phase_id: str | None) -> str | None:
    """A phase's status; None if there is no such phase."""
    found = (phase["status"] for phase in phases_of(workflow) if phase["id"] == phase_id)
    return next(found, None)
