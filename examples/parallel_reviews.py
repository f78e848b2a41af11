"""One agent works on several items, two at a time, and asks a question from inside.

Each file is reviewed in a separate run. A reviewer that is in doubt asks, gives up its slot to
the next one, and continues when the answer comes.

    callboard run examples/parallel_reviews.py --input "api.py login.py README.md"
"""

import asyncio
import os

from callboard import Context, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))


class Reviews(State):
    files: list[str] = []
    findings: dict[str, str] = {}
    summary: str = ""


def set_up(state: Reviews, files: str) -> None:
    state.files = files.split()


@agent
async def reviewer(state: Reviews, ctx: Context) -> tuple[str, str]:
    file = str(ctx.item)
    await ctx.emit(Text(f"Reading {file}\n"))
    await asyncio.sleep(PAUSE)
    if "login" in file and not await ctx.ask(f"{file} has no test. Accept it all the same?"):
        return file, "needs a test"
    return file, "fine"


def keep_finding(state: Reviews, finding: tuple[str, str]) -> None:
    """Called once per file, in the order of the files, when all are done."""
    file, verdict = finding
    state.findings[file] = verdict


@agent
async def summariser(state: Reviews, ctx: Context) -> str:
    fine = sum(verdict == "fine" for verdict in state.findings.values())
    summary = f"{fine} of {len(state.findings)} files are fine."
    await ctx.emit(Text(f"{summary}\n"))
    return summary


def keep_summary(state: Reviews, summary: str) -> None:
    state.summary = summary


parallel_reviews = Workflow(
    "parallel-reviews",
    state=Reviews,
    start=set_up,
    phases=[
        Phase(
            "review",
            agent=reviewer,
            for_each=lambda s: s.files,
            parallel=2,
            update=keep_finding,
            next="summarise",
        ),
        Phase("summarise", agent=summariser, update=keep_summary, terminal=True),
    ],
)
