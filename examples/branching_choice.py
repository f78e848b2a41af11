"""A choice that decides how the work continues: Fast, Thorough or Custom.

The custom approach asks another question from inside its agent.

    callboard run examples/branching_choice.py --input "clean the attic"
"""

import asyncio
import os

from callboard import Choice, Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
WAYS = {"Fast": "fast", "Thorough": "thorough", "Custom": "custom"}


class Job(State):
    goal: str = ""
    result: str = ""


def set_up(state: Job, goal: str) -> None:
    state.goal = goal


@agent
async def planner(state: Job, ctx: Context) -> None:
    await ctx.emit(Text(f"There are {len(WAYS)} ways to {state.goal}.\n"))
    await asyncio.sleep(PAUSE)


@agent
async def fast(state: Job) -> str:
    await asyncio.sleep(PAUSE)
    return f"{state.goal}: done in an hour"


@agent
async def thorough(state: Job, ctx: Context) -> str:
    for part in ("top", "middle", "bottom"):
        await asyncio.sleep(PAUSE)
        await ctx.emit(Text(f"{part} … "))
    return f"{state.goal}: done, every corner of it"


@agent
async def custom(state: Job, ctx: Context) -> str:
    """Asks for the details that the choice leaves open."""
    limit = await ctx.choose("How long may it take?", ["A morning", "A day"], other=True)
    await asyncio.sleep(PAUSE)
    return f"{state.goal}: done within {limit.lower()}"


def keep(state: Job, result: str) -> None:
    state.result = result


branching_choice = Workflow(
    "branching-choice",
    state=Job,
    start=set_up,
    phases=[
        Phase(
            "plan",
            agent=planner,
            human=Choice("Choose an approach:", list(WAYS)),
            next=lambda s: WAYS[s.human_response.value],
            to=list(WAYS.values()),
        ),
        Phase("fast", agent=fast, update=keep, terminal=True),
        Phase("thorough", agent=thorough, update=keep, terminal=True),
        Phase("custom", agent=custom, update=keep, terminal=True),
    ],
)
