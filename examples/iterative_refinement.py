"""Rounds of feedback: the writer drafts, a person says in their own words what to change.

Choose "It is good", or write something else: any text is an answer, and the next draft is made
from it.

    callboard run examples/iterative_refinement.py --input "a haiku about ferries"
"""

import asyncio
import os

from callboard import Choice, Context, HumanResponse, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
GOOD = "It is good"


class Writing(State):
    task: str = ""
    draft: str = ""
    feedback: list[str] = []


def set_up(state: Writing, task: str) -> None:
    state.task = task


@agent
async def writer(state: Writing, ctx: Context) -> str:
    """Writes with all feedback so far in mind."""
    wishes = "".join(f", {wish}" for wish in state.feedback)
    draft = f"Draft {ctx.visit} of {state.task}{wishes}."
    for word in draft.split():
        await asyncio.sleep(PAUSE / 10)
        await ctx.emit(Text(f"{word} "))
    return draft


def keep_draft(state: Writing, draft: str) -> None:
    state.draft = draft


def keep_feedback(state: Writing, response: HumanResponse) -> None:
    if response.value != GOOD:
        state.feedback.append(response.value)


iterative_refinement = Workflow(
    "iterative-refinement",
    state=Writing,
    start=set_up,
    phases=[
        Phase(
            "write",
            agent=writer,
            update=keep_draft,
            human=Choice(lambda s: f"{s.draft}\nWhat should change?", [GOOD], other=True),
            on_answer=keep_feedback,
            next=lambda s: "publish" if s.human_response.value == GOOD else "write",
            to=["publish", "write"],
        ),
        Phase("publish", terminal=True),
    ],
)
