"""A customer asks for a refund. Small refunds are paid immediately; large ones need approval.

Try it:
    callboard run examples/refund.py --input "Lindqvist AB, 480, Our card was charged twice."
"""

import asyncio
import os
from typing import Annotated

from pydantic import Field

from callboard import Approval, Context, Phase, State, Text, Workflow, agent

PAUSE, LIMIT = float(os.environ.get("EXAMPLE_PAUSE", "0.4")), 100
INPUT = Field(title="Customer, amount and message", examples=["Lindqvist AB, 480, Charged twice."])


class Refund(State):
    customer: str = ""
    amount: float = 0
    message: str = ""
    reply: str = ""
    reference: str = ""


def set_up(state: Refund, given: Annotated[str, INPUT]) -> None:
    customer, amount, message = given.split(", ", 2)
    state.customer, state.amount, state.message = customer, float(amount), message


@agent
async def support(state: Refund, ctx: Context) -> str:
    reply = f"We're sorry about that. We'll refund ${state.amount:,.2f} within three days."
    for word in reply.split(" "):
        await asyncio.sleep(PAUSE / 10)
        await ctx.emit(Text(f"{word} "))
    return reply


def keep_reply(state: Refund, reply: str) -> None:
    state.reply = reply


def approval(state: Refund) -> Approval | None:
    if state.amount <= LIMIT:
        return None
    asked = f"Refund ${state.amount:,.2f} to {state.customer}?"
    return Approval(f"{asked}\n\nThey wrote: {state.message}\n\nReply: {state.reply}")


@agent
async def payments(state: Refund, ctx: Context) -> str:
    if not state.customer:
        raise ValueError("Payment rejected: the customer is missing")
    return await ctx.once("pay", lambda: f"RF-{round(state.amount * 100)}")  # Never paid twice.


def keep_reference(state: Refund, reference: str) -> None:
    state.reference = reference


refund = Workflow(
    "refund",
    state=Refund,
    start=set_up,
    title=lambda s: f"{s.customer or 'Unknown customer'}: ${s.amount:,.2f}",
    phases=[
        Phase(
            "draft-reply",
            agent=support,
            update=keep_reply,
            human=approval,
            next=lambda s: "decline" if s.approved is False else "pay",
            to=["pay", "decline"],
        ),
        Phase("pay", agent=payments, update=keep_reference, terminal=True),
        Phase("decline", terminal=True),
    ],
)
