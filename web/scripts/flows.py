"""Workflows that fill the dashboard while it is being worked on."""

import asyncio
from collections.abc import AsyncIterator

from callboard import Approval, Choice, Context, Output, Phase, State, Text, Workflow, agent


class Release(State):
    version: str = ""
    changes: list[str] = []
    notes: str = ""
    channel: str = ""
    checks: dict[str, str] = {}


def begin(state: Release, version: str) -> None:
    state.version = version


@agent
async def collector(state: Release) -> AsyncIterator[Text | Output]:
    changes = ["Forks keep their edits", "Answers can be claimed", "A state of 5 MB opens at once"]
    for change in changes:
        yield Text(f"Found: {change}.\n")
        await asyncio.sleep(0.15)
    yield Output(changes, {"requests": 3, "inputTokens": 4210, "outputTokens": 388})


@agent
async def writer(state: Release) -> AsyncIterator[Text | Output]:
    text = f"Version {state.version} brings {len(state.changes)} changes. " + "; ".join(
        state.changes
    )
    for word in text.split(" "):
        yield Text(word + " ")
        await asyncio.sleep(0.02)
    yield Output(text, {"requests": 1, "inputTokens": 1930, "outputTokens": 612})


@agent
async def checker(state: Release) -> dict[str, str]:
    await asyncio.sleep(0.2)
    return {"links": "ok", "spelling": "ok", "tone": "a little dry"}


@agent
async def publisher(state: Release, ctx: Context) -> str:
    await ctx.emit(Text(f"Publishing to {state.channel} …\n"))
    return "published"


release = Workflow(
    "release-notes",
    state=Release,
    start=begin,
    phases=[
        Phase(
            "collect",
            agent=collector,
            update=lambda s, out: setattr(s, "changes", out),
            next="write",
        ),
        Phase(
            "write",
            agent=writer,
            update=lambda s, out: setattr(s, "notes", out),
            human=Approval(lambda s: f"Are these notes ready for {s.version}?\n{s.notes}"),
            next=lambda s: "check" if s.approved else "write",
            to=["check", "write"],
        ),
        Phase(
            "check",
            agent=checker,
            update=lambda s, out: setattr(s, "checks", out),
            next=lambda s: "channel" if "dry" in s.checks["tone"] else "publish",
            to=["channel", "publish"],
        ),
        Phase(
            "channel",
            human=Choice(
                "Where should they appear first?", ["Website", "Mailing list", "Both"], other=True
            ),
            on_answer=lambda s, answer: setattr(s, "channel", answer["value"]),
            next="publish",
        ),
        Phase("publish", agent=publisher, terminal=True),
    ],
)


class Large(State):
    rows: list[dict[str, object]] = []


def fill(state: Large, rows: int = 20000) -> None:
    state.rows = [{"id": n, "name": f"row {n}", "note": "x" * 180} for n in range(rows)]


large = Workflow(
    "large-state",
    state=Large,
    start=fill,
    phases=[Phase("look", human=Approval("Are these rows right?"), terminal=True)],
)
