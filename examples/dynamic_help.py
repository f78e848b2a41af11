"""Help at run time: the reviewer decides on its own that it needs a person.

The reviewer's output decides whether a question is asked, which question, and where the work
continues. A small task needs no person; a task that touches the login does.

    callboard run examples/dynamic_help.py --input "rename a button"
    callboard run examples/dynamic_help.py --input "change the login"
"""

import asyncio
import os

from pydantic import BaseModel

from callboard import Choice, Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))


class Review(BaseModel):
    approved: bool
    doubt: str | None = None


class Task(State):
    goal: str = ""
    design: str = "the obvious one"
    code: str = ""


def set_up(state: Task, goal: str) -> None:
    state.goal = goal


@agent
async def planner(state: Task) -> str:
    await asyncio.sleep(PAUSE)
    return "a careful one"


@agent
async def coder(state: Task, ctx: Context) -> str:
    await ctx.emit(Text(f"Writing draft {ctx.visit} of: {state.goal} ({state.design})\n"))
    await asyncio.sleep(PAUSE)
    return f"draft {ctx.visit} by design: {state.design}"


@agent
async def reviewer(state: Task, ctx: Context) -> Review:
    await asyncio.sleep(PAUSE)
    if "login" in state.goal and ctx.visit == 1:
        return Review(approved=False, doubt="This touches the login, which I cannot judge.")
    return Review(approved=True)


def ask_for_help(state: Task, review: Review) -> Choice | None:
    if review.doubt is None:
        return None
    return Choice(f"{review.doubt} What now?", ["Accept", "Fix", "Redesign"])


def after_review(state: Task, review: Review) -> str:
    answer = state.human_response.value if state.human_response else None
    if review.approved or answer == "Accept":
        return "done"
    return "plan" if answer == "Redesign" else "code"


dynamic_help = Workflow(
    "dynamic-help",
    state=Task,
    start=set_up,
    phases=[
        Phase("code", agent=coder, update=lambda s, code: setattr(s, "code", code), next="review"),
        Phase("review", agent=reviewer, human=ask_for_help, next=after_review),
        Phase("plan", agent=planner, update=lambda s, d: setattr(s, "design", d), next="code"),
        Phase("done", terminal=True),
    ],
)
