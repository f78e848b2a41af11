"""A planned approval: nothing is migrated until a person has approved the plan.

The question is part of the phase. If you answer no, the workflow ends with the plan shelved.

    callboard run examples/planned_checkpoint.py --input customers
"""

import asyncio
import os

from callboard import Approval, Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))


class Migration(State):
    table: str = ""
    steps: list[str] = []
    done: list[str] = []


def set_up(state: Migration, table: str) -> None:
    state.table = table


@agent
async def planner(state: Migration) -> list[str]:
    await asyncio.sleep(PAUSE)
    return [
        f"copy {state.table} to {state.table}_backup",
        f"add the column email to {state.table}",
        "fill the column from the old contact field",
    ]


def keep_steps(state: Migration, steps: list[str]) -> None:
    state.steps = steps


@agent
async def executor(state: Migration, ctx: Context) -> list[str]:
    for step in state.steps:
        await asyncio.sleep(PAUSE)
        await ctx.emit(Text(f"✓ {step}\n"))
    return list(state.steps)


def keep_done(state: Migration, done: list[str]) -> None:
    state.done = done


def question(state: Migration) -> str:
    return "Run this migration?\n" + "\n".join(f"  - {step}" for step in state.steps)


planned_checkpoint = Workflow(
    "planned-checkpoint",
    state=Migration,
    start=set_up,
    phases={
        "plan": Phase(
            agent=planner,
            update=keep_steps,
            human=Approval(question),
            next=lambda s: "migrate" if s.approved else "shelve",
            to=["migrate", "shelve"],
        ),
        "migrate": Phase(agent=executor, update=keep_done, terminal=True),
        "shelve": Phase(terminal=True),
    },
)
