"""Workflows for tests of the server; `callboard serve tests/server_flows.py` runs them."""

import asyncio
from pathlib import Path

from callboard import Approval, Choice, Context, Phase, State, Workflow, agent


class Trip(State):
    city: str = ""
    plan: list[str] = []


def begin(state: Trip, city: str) -> None:
    state.city = city


@agent
async def planner(state: Trip) -> list[str]:
    return [f"See {state.city}", "Eat"]


def keep(state: Trip, plan: list[str]) -> None:
    state.plan = plan


@agent
async def booker(state: Trip) -> str:
    return f"booked {state.city}"


trip = Workflow(
    "trip",
    state=Trip,
    start=begin,
    phases=[
        Phase(
            "plan",
            agent=planner,
            update=keep,
            human=Approval(lambda s: f"Go to {s.city}?"),
            next=lambda s: "book" if s.approved else "plan",
            to=["book", "plan"],
        ),
        Phase("book", agent=booker, terminal=True),
    ],
)


class Count(State):
    upto: int = 3
    seen: list[int] = []


def count_from(state: Count, upto: int = 3) -> None:
    state.upto = upto


@agent
async def one_more(state: Count, ctx: Context) -> int:
    await ctx.emit("counting", len(state.seen))
    return len(state.seen) + 1


def see(state: Count, number: int) -> None:
    state.seen.append(number)


count = Workflow(
    "count",
    state=Count,
    start=count_from,
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


class Gate(State):
    file: str = ""


def guard_file(state: Gate, file: str) -> None:
    state.file = file


@agent
async def wait_for_file(state: Gate) -> str:
    """Work until a file appears, so that a test decides how long."""
    while not Path(state.file).exists():
        await asyncio.sleep(0.01)
    return "opened"


gate = Workflow(
    "gate",
    state=Gate,
    start=guard_file,
    phases=[Phase("wait", agent=wait_for_file, terminal=True)],
)


@agent
async def asks_within(state: Gate, ctx: Context) -> str:
    return await ctx.choose("Which?", ["left", "right"])


within = Workflow("within", state=Gate, phases=[Phase("ask", agent=asks_within, terminal=True)])

choice = Workflow(
    "choice",
    state=Gate,
    phases=[Phase("pick", human=Choice("Which way?", ["left", "right"]), terminal=True)],
)


@agent
async def breaks(state: Gate) -> str:
    raise RuntimeError("broken on purpose")


broken = Workflow("broken", state=Gate, phases=[Phase("break", agent=breaks, terminal=True)])


class Parcel(State):
    road: str = "closed"
    packed: int = 0


@agent
async def packer(state: Parcel) -> int:
    return state.packed + 1


def count_packed(state: Parcel, packed: int) -> None:
    state.packed = packed


@agent
async def courier(state: Parcel) -> str:
    if state.road != "open":
        raise RuntimeError(f"The road is {state.road}.")
    return "delivered"


delivery = Workflow(
    "delivery",
    state=Parcel,
    phases=[
        Phase("pack", agent=packer, update=count_packed, next="deliver"),
        Phase("deliver", agent=courier, terminal=True),
    ],
)
