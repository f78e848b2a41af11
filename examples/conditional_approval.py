"""Ask a person only if in doubt: if the classifier's confidence is below 0.8.

`human` is a function of the state and the agent's output. It returns None if there is nothing
to ask.

    callboard run examples/conditional_approval.py --input "I want my money back"
    callboard run examples/conditional_approval.py --input "It blinks"
"""

import asyncio
import os

from pydantic import BaseModel

from callboard import Approval, Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
ENOUGH = 0.8


class Guess(BaseModel):
    label: str
    confidence: float


class Ticket(State):
    text: str = ""
    label: str = ""


def set_up(state: Ticket, text: str) -> None:
    state.text = text


@agent
async def classifier(state: Ticket, ctx: Context) -> Guess:
    await asyncio.sleep(PAUSE)
    sure = "money" in state.text.lower()
    guess = Guess(label="refund" if sure else "defect", confidence=0.97 if sure else 0.55)
    await ctx.emit(Text(f"{guess.label}, {guess.confidence:.0%} sure\n"))
    return guess


def keep_label(state: Ticket, guess: Guess) -> None:
    state.label = guess.label


def verify(state: Ticket, guess: Guess) -> Approval | None:
    if guess.confidence >= ENOUGH:
        return None
    return Approval(f'Is "{state.text}" a {guess.label}?')


@agent
async def sorter(state: Ticket, ctx: Context) -> None:
    await ctx.emit(Text(f"Put into the {state.label} queue.\n"))


@agent
async def clerk(state: Ticket, ctx: Context) -> None:
    await ctx.emit(Text("Left for a person to read.\n"))


conditional_approval = Workflow(
    "conditional-approval",
    state=Ticket,
    start=set_up,
    phases=[
        Phase(
            "classify",
            agent=classifier,
            update=keep_label,
            human=verify,
            # If no question was asked, approved is None, and the guess stands.
            next=lambda s: "by-hand" if s.approved is False else "sort",
        ),
        Phase("sort", agent=sorter, terminal=True),
        Phase("by-hand", agent=clerk, terminal=True),
    ],
)
