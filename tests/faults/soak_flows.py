"""Workflows whose agents take long enough to be killed: `callboard worker tests/faults/…`."""

import asyncio
import random

from callboard import Approval, Context, Phase, State, Text, Workflow, agent


class Trip(State):
    city: str = ""
    plan: list[str] = []


def set_up(state: Trip, city: str) -> None:
    state.city = city


@agent
async def planner(state: Trip, ctx: Context) -> list[str]:
    for day in range(3):
        await ctx.emit(Text(f"day {day} "))
        await asyncio.sleep(random.random() * 0.2)
    return [f"See {state.city}", "Eat"]


def keep(state: Trip, plan: list[str]) -> None:
    state.plan = plan


@agent
async def booker(state: Trip) -> str:
    await asyncio.sleep(random.random() * 0.5)
    return f"booked {state.city}"


trip = Workflow(
    "trip",
    state=Trip,
    start=set_up,
    phases=[
        Phase("plan", agent=planner, update=keep, human=Approval("Go?"), next="book"),
        Phase("book", agent=booker, terminal=True),
    ],
)


class Count(State):
    upto: int = 3
    seen: list[int] = []


def count_to(state: Count, upto: int = 3) -> None:
    state.upto = upto


@agent
async def one_more(state: Count) -> int:
    await asyncio.sleep(random.random() * 0.3)
    return len(state.seen) + 1


def see(state: Count, number: int) -> None:
    state.seen.append(number)


count = Workflow(
    "count",
    state=Count,
    start=count_to,
    phases=[
        Phase(
            "count",
            agent=one_more,
            update=see,
            next=lambda s: "count" if len(s.seen) < s.upto else "end",
            to=["count", "end"],
        ),
        Phase("end", terminal=True),
    ],
)
