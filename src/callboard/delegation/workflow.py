"""The workflow of a delegated task: plan, approve, work, and decide what to do about failures."""

from typing import Final

from pydantic import BaseModel

from callboard.delegation.plan import edited
from callboard.delegation.planner import Planner, keep_plan
from callboard.delegation.progress import WORK, status_phases
from callboard.delegation.prompts import outline
from callboard.delegation.state import Delegation, begin, next_turn, planned, the_plan
from callboard.delegation.worker import Worker, keep_result
from callboard.drafts.response import HumanResponse
from callboard.engine.context import Context
from callboard.engine.function_agent import agent
from callboard.engine.phase import Phase, Retry
from callboard.engine.ports import Agent
from callboard.engine.workflow import Workflow
from callboard.errors import AgentError, ValidationError
from callboard.interactions.questions import Choice, Duration

APPROVE: Final = "Approve"
STOP: Final = "Stop"
RETRY: Final = "Retry"
SKIP: Final = "Skip and continue"
NAME: Final = "delegate"
AT_ONCE: Final = 4
"""How many phases are worked on in parallel."""
ATTEMPTS: Final = 2
"""How many attempts a phase gets before a person is asked."""


def plan_question(state: Delegation) -> Choice:
    """The plan, and the possible answers."""
    plan = the_plan(state)
    written = plan.model_dump_json(exclude_defaults=True, exclude={"notes"})
    parts = [
        f"Approve this plan?\n\n{outline(plan)}",
        "Or describe what to change, and the task is planned again. Or enter a complete plan as "
        f"JSON, which is used as it is:\n{written}",
    ]
    if state.objection:
        parts.insert(0, f"That plan is not valid. {state.objection}")
    prompt = "\n\n".join(parts)
    return Choice(prompt, [APPROVE, STOP], other=True, assignees=state.terms.assignees)


def take_answer(state: Delegation, response: HumanResponse) -> None:
    """Act on the person's answer; an error ends the session, which can be retried from here."""
    said = str(response.value).strip()
    state.objection = ""
    if said == STOP:
        raise AgentError("Stopped: the plan was not approved.")
    if said[:1] in ("{", "["):
        try:
            state.plan = edited(said, state.agent_names)
        except ValidationError as error:
            state.objection = error.message
    elif said != APPROVE:
        state.remarks.append(said)


def after_answer(state: Delegation) -> str:
    """Where an answer leads: to the work, to a new plan, or back to the same question."""
    if state.objection:
        return "approve"
    said = str(state.human_response.value).strip() if state.human_response else ""
    agreed = said == APPROVE or said[:1] in ("{", "[")
    return "work" if agreed else "plan"


class Ruling(BaseModel):
    """What a person decided about a phase."""

    phase: str
    decision: str


@agent(name="referee", output=Ruling)
async def referee(state: Delegation, ctx: Context) -> Ruling:
    """Ask a person what to do about a failed phase.

    One phase at a time, so that no more questions follow if the person stops the task.
    """
    id = next(id for id in the_plan(state).by_id if id in state.failures)
    phase, why = planned(state, id), state.failures[id]
    prompt = f"{id} failed: {phase.title} ({phase.agent})\n\n{why}\n\nWhat now?"
    # Always picking the first option must not loop forever.
    options = [STOP, RETRY, SKIP] if id in state.retried else [RETRY, SKIP, STOP]
    decision = await ctx.choose(prompt, options, assignees=state.terms.assignees)
    if decision not in (RETRY, SKIP):
        raise AgentError(f"Stopped by a person after {id} failed: {why}", phase_id=id)
    return Ruling(phase=id, decision=decision)


def take_ruling(state: Delegation, ruling: Ruling) -> None:
    """Act on what the person decided."""
    why = state.failures.pop(ruling.phase)
    if ruling.decision == SKIP:
        state.skipped[ruling.phase] = why
    else:
        state.retried[ruling.phase] = state.retried.get(ruling.phase, 0) + 1


def _limit(state: Delegation) -> float:
    return state.terms.timeout


def _after_plan(state: Delegation) -> str:
    if state.terms.plan_only:
        return "done"
    return "approve" if state.terms.approve == "ask" else WORK


def _items(state: Delegation) -> list[dict[str, object]]:
    return [run.model_dump() for run in next_turn(state)]


def _after_work(state: Delegation) -> str:
    if state.failures:
        return "trouble"
    return WORK if next_turn(state) else "done"


def delegating(planner: Agent, worker: Agent, backoff: Duration = 2.0) -> Workflow:
    """The workflow with its planner and its worker; a failed attempt is retried once."""
    retry = Retry(attempts=ATTEMPTS, backoff=backoff)
    return Workflow(
        NAME,
        state=Delegation,
        start=begin,
        phases=[
            Phase(
                "plan",
                agent=planner,
                update=keep_plan,
                retry=retry,
                timeout=_limit,
                next=_after_plan,
                to=["approve", WORK, "done"],
            ),
            Phase(
                "approve",
                human=plan_question,
                on_answer=take_answer,
                next=after_answer,
                to=[WORK, "plan", "approve"],
            ),
            Phase(
                WORK,
                agent=worker,
                for_each=_items,
                parallel=AT_ONCE,
                update=keep_result,
                retry=retry,
                timeout=_limit,
                on_item_error="tell",
                next=_after_work,
                to=[WORK, "trouble", "done"],
            ),
            Phase(
                "trouble",
                agent=referee,
                update=take_ruling,
                next=_after_work,
                to=[WORK, "trouble", "done"],
            ),
            Phase("done", terminal=True),
        ],
        status_phases=status_phases,
    )


delegation = delegating(Planner(), Worker())
