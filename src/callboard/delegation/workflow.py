"""The workflow of a delegated task: plan, approve, work, and what to do about trouble."""

from typing import Final

from callboard.delegation.approval import after_answer, plan_question, take_answer
from callboard.delegation.planner import Planner, keep_plan
from callboard.delegation.progress import WORK, status_phases
from callboard.delegation.state import Delegation, begin, next_turn
from callboard.delegation.trouble import referee, take_ruling
from callboard.delegation.worker import Worker, keep_result
from callboard.engine.phase import Phase, Retry
from callboard.engine.ports import Agent
from callboard.engine.workflow import Workflow
from callboard.interactions.questions import Duration

NAME: Final = "delegate"
AT_ONCE: Final = 4
"""How many phases are worked on at the same time."""
ATTEMPTS: Final = 2
"""How often a phase is tried before a person is asked."""


def _limit(state: Delegation) -> float:
    return state.terms.timeout


def _after_plan(state: Delegation) -> str:
    if state.terms.plan_only:
        return "done"
    return "approve" if state.terms.approve == "ask" else WORK


def _after_work(state: Delegation) -> str:
    if state.failures:
        return "trouble"
    return WORK if next_turn(state) else "done"


def delegating(planner: Agent, worker: Agent, backoff: Duration = 2.0) -> Workflow:
    """The workflow, with whoever plans and whoever works; a failed attempt is repeated once."""
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
                for_each=next_turn,
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
