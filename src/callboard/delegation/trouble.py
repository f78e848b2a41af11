"""A phase that failed for good, brought to a person: again, without it, or not at all."""

from typing import Final

from pydantic import BaseModel

from callboard.delegation.plan import phase_number
from callboard.delegation.state import Delegation, planned
from callboard.engine.context import Context
from callboard.engine.function_agent import agent
from callboard.errors import AgentError

RETRY: Final = "Retry"
SKIP: Final = "Skip it and go on"
ABORT: Final = "Abort"


class Ruling(BaseModel):
    """What a person decided about a phase."""

    phase: str
    decision: str


@agent(name="referee", output=Ruling)
async def referee(state: Delegation, ctx: Context) -> Ruling:
    """Ask a person what to do about a phase that failed: one after the other, so that who stops
    it is asked no more.
    """
    id = min(state.failures, key=phase_number)
    phase, why = planned(state, id), state.failures[id]
    prompt = f"{id} failed: {phase.title} ({phase.agent})\n\n{why}\n\nWhat now?"
    decision = await ctx.choose(prompt, _options(state, id))
    if decision == ABORT:
        raise AgentError(f"A person stopped it when {id} had failed: {why}", phase_id=id)
    return Ruling(phase=id, decision=decision)


def _options(state: Delegation, id: str) -> list[str]:
    # Whoever takes every first option must come to an end.
    return [ABORT, RETRY, SKIP] if id in state.retried else [RETRY, SKIP, ABORT]


def take_ruling(state: Delegation, ruling: Ruling) -> None:
    """Do what the person decided."""
    why = state.failures.pop(ruling.phase)
    if ruling.decision == SKIP:
        state.skipped[ruling.phase] = why
    else:
        state.retried[ruling.phase] = state.retried.get(ruling.phase, 0) + 1
