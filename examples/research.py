"""Research with sources: read them in parallel, write a brief, and have a person review it.

Run it:
    callboard run examples/research.py --input "Should we move our queue to PostgreSQL?"
"""

import asyncio
import os

from callboard import Approval, Context, Phase, State, Text, ToolCall, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
SOURCES = {
    "SKIP LOCKED in production": "8,000 jobs a second on one server",
    "Leaving Redis": "one backup instead of two",
    "When vacuum falls behind": "bloat at 40 million jobs a day",
}
ADVICE = "**Yes, below 10 million jobs a day.** Move finished jobs to a table of their own."


class Research(State):
    question: str = ""
    findings: dict[str, str] = {}
    brief: str = ""


def set_up(state: Research, question: str) -> None:
    state.question = question


@agent
async def reader(state: Research, ctx: Context) -> tuple[str, str]:
    title = str(ctx.item)
    await ctx.emit(ToolCall(title, "fetch", {"title": title}))
    await asyncio.sleep(PAUSE)
    await ctx.emit(Text(f"{title}: {SOURCES[title]}.\n"))
    return title, SOURCES[title]


def keep_finding(state: Research, found: tuple[str, str]) -> None:
    state.findings[found[0]] = found[1]


@agent
async def writer(state: Research, ctx: Context) -> str:
    advice = ADVICE if ctx.visit == 1 else f"{ADVICE} Sources disagree, so measure first."
    await ctx.emit(Text(f"{advice}\n"))
    rows = [f"| {title} | {finding} |" for title, finding in state.findings.items()]
    return "\n".join([advice, "", "| Source | Finding |", "|---|---|", *rows])


def keep_brief(state: Research, brief: str) -> None:
    state.brief = brief


research = Workflow(
    "research",
    state=Research,
    start=set_up,
    title=lambda s: s.question,
    phases=[
        Phase(
            "read",
            agent=reader,
            for_each=lambda s: list(SOURCES),
            parallel=3,
            update=keep_finding,
            next="write-brief",
        ),
        Phase(
            "write-brief",
            agent=writer,
            update=keep_brief,
            human=Approval(lambda s: f"Send this brief to the team?\n\n{s.brief}"),
            next=lambda s: "send" if s.approved else "write-brief",
            to=["send", "write-brief"],
        ),
        Phase("send", terminal=True),
    ],
)
