"""A pydantic-ai agent in a phase, with a tool that asks a person.

The model's output and its tool calls become events. The tool asks the person through the
context, which it gets from `deps`. The model here is pydantic-ai's test model, so that this
runs without a network; replace it with a real one.

    pip install "callboard[pydantic-ai]"
    callboard run examples/pydantic_ai_agent.py --input "My lamp arrived broken"
"""

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.models.test import TestModel

from callboard import Approval, Context, Phase, State, Workflow
from callboard.agents.pydantic_ai import PydanticAgent


class Letter(BaseModel):
    subject: str
    body: str


class Complaint(State):
    text: str = ""
    letter: Letter | None = None


MODEL = TestModel(custom_output_args={"subject": "Your lamp", "body": "We are sorry."})
clerk = Agent(MODEL, name="clerk", deps_type=Context, output_type=Letter)


@clerk.tool
async def may_refund(run: RunContext[Context], reason: str) -> str:
    """Ask whether the customer may have the money back."""
    # The model phrases the reason; with a key, it stays one question however it is phrased.
    allowed = await run.deps.ask("May I give the money back?", key="refund")
    return "granted" if allowed else "refused"


def set_up(state: Complaint, text: str) -> None:
    state.text = text


def keep_letter(state: Complaint, letter: Letter) -> None:
    state.letter = letter


pydantic_ai_agent = Workflow(
    "pydantic-ai-agent",
    state=Complaint,
    start=set_up,
    phases=[
        Phase(
            "answer",
            agent=PydanticAgent(
                clerk,
                prompt=lambda s: f"Answer this complaint: {s.text}",
                deps=lambda state, ctx: ctx,
            ),
            update=keep_letter,
            human=Approval(lambda s: f"Send this?\n{s.letter.subject}\n{s.letter.body}"),
            next=lambda s: "send" if s.approved else "answer",
        ),
        Phase("send", terminal=True),
    ],
)
