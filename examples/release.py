"""A release that a person approves and rolls out in steps. Rejected notes come back shorter.

Run it:
    callboard run examples/release.py --input 2.4.0
"""

import asyncio
import os

from callboard import Approval, Choice, Context, HumanResponse, Phase, State, Text, Workflow, agent

PAUSE = float(os.environ.get("EXAMPLE_PAUSE", "0.4"))
ROLLOUTS = {"Everyone": 100, "10% of customers": 10, "Our own team": 1}
CHANGES = {
    "#1412": "Invoices can be exported as CSV",
    "#1420": "Fix: a failed card payment was retried without a limit",
    "#1427": "Search is 3 times as fast for accounts with many projects",
}
AUDIENCE = Choice(lambda s: f"Who gets {s.version} first?", list(ROLLOUTS))
DIFF = "\n\n```diff\n-while not charge(card):\n+for _ in range(MAX_ATTEMPTS):\n```"
NOTES = Approval(lambda s: f"Publish {s.version} with these notes?\n\n{s.notes}{DIFF}")


class Release(State):
    version: str = ""
    changes: dict[str, str] = {}
    notes: str = ""
    rollout: int = 0
    url: str = ""


def set_up(state: Release, version: str) -> None:
    state.version = version


@agent
async def writer(state: Release, ctx: Context) -> str:
    changes = list(CHANGES.items())[: max(1, 4 - ctx.visit)]
    for number, text in changes:
        await asyncio.sleep(PAUSE)
        await ctx.emit(Text(f"- {text} ({number})\n"))
    return "\n".join(f"- {text} ({number})" for number, text in changes)


def keep_notes(state: Release, notes: str) -> None:
    state.changes, state.notes = dict(CHANGES), notes


def keep_rollout(state: Release, response: HumanResponse) -> None:
    state.rollout = ROLLOUTS[response.value]


@agent
async def publisher(state: Release, ctx: Context) -> str:
    await ctx.emit(Text(f"Tagging v{state.version}, rolling out to {state.rollout}% …\n"))
    return await ctx.once("publish", lambda: f"https://example.com/releases/v{state.version}")


def keep_url(state: Release, url: str) -> None:
    state.url = url


release = Workflow(
    "release",
    state=Release,
    start=set_up,
    title=lambda s: f"Release {s.version}",
    phases=[
        Phase(
            "write-notes",
            agent=writer,
            update=keep_notes,
            human=NOTES,
            next=lambda s: "choose-rollout" if s.approved else "write-notes",
            to=["choose-rollout", "write-notes"],
        ),
        Phase("choose-rollout", human=AUDIENCE, on_answer=keep_rollout, next="publish"),
        Phase("publish", agent=publisher, update=keep_url, terminal=True),
    ],
)
