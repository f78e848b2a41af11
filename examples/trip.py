"""A trip that a person approves before it is booked.

The planner shows its plan day by day. Answer no, and it makes another plan; answer yes, and the
trip is booked.

    callboard run examples/trip.py --input Lisbon
"""

import asyncio
import os

from callboard import Approval, Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))

IDEAS = [
    ["the old town on foot", "a boat trip at noon", "the museum without the queues"],
    ["a long breakfast market", "a train to the sea", "music in a small bar"],
    ["a walk up to the castle", "a cooking class", "nothing at all until dinner"],
]


class Trip(State):
    city: str = ""
    plan: list[str] = []
    booking: str = ""


def set_up(state: Trip, city: str) -> None:
    state.city = city


@agent
async def planner(state: Trip, ctx: Context) -> list[str]:
    """Plans three days, different ones at each visit, and shows each day when it is ready."""
    ideas = IDEAS[(ctx.visit - 1) % len(IDEAS)]
    plan = [f"Day {day} in {state.city}: {idea}" for day, idea in enumerate(ideas, 1)]
    for day in plan:
        await asyncio.sleep(PAUSE)
        await ctx.emit(Text(f"{day}\n"))
    return plan


def keep_plan(state: Trip, plan: list[str]) -> None:
    state.plan = plan


@agent
async def booker(state: Trip, ctx: Context) -> str:
    """Books the plan and records the booking, so that a restart doesn't book it again."""
    await ctx.emit(Text(f"Booking {len(state.plan)} days in {state.city} … "))
    await asyncio.sleep(PAUSE)
    booking = await ctx.once("book", lambda: f"{state.city[:3].upper()}-{len(state.plan)}")
    await ctx.emit(Text(f"done, reference {booking}.\n"))
    return booking


def keep_booking(state: Trip, booking: str) -> None:
    state.booking = booking


trip = Workflow(
    "trip",
    state=Trip,
    start=set_up,
    phases=[
        Phase(
            "plan",
            agent=planner,
            update=keep_plan,
            human=Approval(lambda s: "Approve this plan?\n" + "\n".join(s.plan)),
            next=lambda s: "book" if s.approved else "plan",
            to=["book", "plan"],
        ),
        Phase("book", agent=booker, update=keep_booking, terminal=True),
    ],
)
