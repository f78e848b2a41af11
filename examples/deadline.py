"""A question that doesn't wait forever: first the team, then the manager, then a default.

When the first deadline passes, the question goes to the manager as well. When the second one
passes, the question is closed with "reject", and the state says that it timed out. To see this,
don't answer.

    callboard run examples/deadline.py --input "the new price list"
"""

import asyncio
import os

from callboard import Approval, Context, Escalate, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
PATIENCE = float(os.environ.get("EXAMPLE_PATIENCE", "10"))


class Release(State):
    what: str = ""


def set_up(state: Release, what: str) -> None:
    state.what = what


@agent
async def preparer(state: Release, ctx: Context) -> None:
    await ctx.emit(Text(f"{state.what} is ready. You have {PATIENCE:g} s, the manager as long.\n"))
    await asyncio.sleep(PAUSE)


@agent
async def releaser(state: Release, ctx: Context) -> None:
    await ctx.emit(Text(f"{state.what} is out.\n"))


@agent
async def keeper(state: Release, ctx: Context) -> None:
    await ctx.emit(Text(f"{state.what} stays inside.\n"))


def after(state: Release) -> str:
    if state.approved:
        return "release"
    timed_out = state.human_response and state.human_response.timed_out
    return "no-answer" if timed_out else "refused"


deadline = Workflow(
    "deadline",
    state=Release,
    start=set_up,
    phases=[
        Phase(
            "prepare",
            agent=preparer,
            human=Approval(
                lambda s: f"Release {s.what}?",
                timeout=PATIENCE,
                on_timeout=Escalate(to="the manager", after=PATIENCE, then="reject"),
            ),
            next=after,
            to=["release", "refused", "no-answer"],
        ),
        Phase("release", agent=releaser, terminal=True),
        Phase("refused", agent=keeper, terminal=True),
        Phase("no-answer", agent=keeper, terminal=True),
    ],
)
