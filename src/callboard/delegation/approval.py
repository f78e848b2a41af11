"""The plan before a person: they agree, say what to change, write their own, or stop."""

from typing import Any, Final

from callboard.delegation.plan import Plan, edited
from callboard.delegation.state import Delegation, the_plan
from callboard.delegation.wording import outline
from callboard.errors import AgentError, ValidationError
from callboard.events.codec import dump_json
from callboard.interactions.questions import Choice
from callboard.state.model import HumanResponse

APPROVE: Final = "Approve"
STOP: Final = "Stop"


def plan_question(state: Delegation) -> Choice:
    """The plan, and what can be said to it."""
    parts = [
        f"Is this plan good?\n\n{outline(the_plan(state))}",
        "Or say in your own words what to change, and it is planned again. Or give the whole plan "
        f"as JSON, and it is taken as it is:\n{_json(the_plan(state))}",
    ]
    if state.objection:
        parts.insert(0, f"That plan could not be taken. {state.objection}")
    return Choice("\n\n".join(parts), [APPROVE, STOP], other=True)


def take_answer(state: Delegation, response: HumanResponse) -> None:
    """Do what the person said; an error ends the session, which can be retried from here."""
    said = str(response.value).strip()
    state.objection = ""
    if said == STOP:
        raise AgentError("A person stopped it before anything was done: the plan was not approved.")
    if said[:1] in ("{", "["):
        try:
            state.plan = edited(said, state.agent_names)
        except ValidationError as error:
            state.objection = error.message
    elif said != APPROVE:
        state.remarks.append(said)


def after_answer(state: Delegation) -> str:
    """Where an answer leads: to the work, to another plan, or to the same question again."""
    if state.objection:
        return "approve"
    said = str(state.human_response.value).strip() if state.human_response else ""
    agreed = said == APPROVE or said[:1] in ("{", "[")
    return "work" if agreed else "plan"


def _json(plan: Plan) -> str:
    told: dict[str, Any] = plan.model_dump(mode="json", exclude_defaults=True, exclude={"notes"})
    return dump_json(told).decode()
