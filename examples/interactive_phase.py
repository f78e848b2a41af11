"""A phase decided in an interactive session, and an agent that requests another one.

Without a decision, the workflow ends in "refuse": after leaving the session, a timeout or a crash.
Here the program answers. In production, serve the workflow and decide with: callboard attend

    python examples/interactive_phase.py
"""

import asyncio
from typing import Any

from callboard import Callboard, Context, Interactive, Phase, State, Workflow, agent

KEEP = {
    "type": "object",
    "properties": {"keep": {"type": "integer", "minimum": 0, "maximum": 3}},
    "required": ["keep"],
}


class Migration(State):
    diff: str = ""
    rows: int = 0


@agent
async def planner(state: Migration) -> str:
    return "ALTER TABLE customers ADD COLUMN email TEXT;"


def keep_diff(state: Migration, diff: str) -> None:
    state.diff = diff


@agent
async def migrator(state: Migration, ctx: Context) -> int:
    """Migrates the rows, and asks for help with those it can't interpret."""
    schema = {"type": "structured", "json_schema": KEEP}
    helped = await ctx.interactive("3 rows have no name. Which to keep?", outcome_schema=schema)
    return 97 + (helped.response["keep"] if helped.response else 0)


def keep_rows(state: Migration, rows: int) -> None:
    state.rows = rows


review = Interactive(
    "Review the change to the customers, and approve or reject it.",
    context=lambda s: {"diff": s.diff},
    outcome_schema={"type": "approval"},
    timeout=30 * 60,
)
phases = [
    Phase(
        "plan",
        agent=planner,
        update=keep_diff,
        human=review,
        next=lambda s: "migrate" if s.approved else "refuse",
        to=["migrate", "refuse"],
    ),
    Phase("migrate", agent=migrator, update=keep_rows, terminal=True),
    Phase("refuse", terminal=True),
]
interactive_phase = Workflow("interactive_phase", state=Migration, phases=phases)


async def main(*endings: tuple[str, Any]) -> tuple[str | None, int]:
    async with Callboard.open(None, [interactive_phase]) as board:
        session = (await board.run(interactive_phase)).session_id
        for outcome, response in endings or (("completed", "approved"), ("completed", {"keep": 2})):
            [asked] = await board.human.list_pending(session)
            await board.human.complete_interactive(asked.id, outcome, response, by="Ada")
            await board.drive(session)
        ended = await board.view(session)
        return ended.exit_phase, ended.state["rows"]


if __name__ == "__main__":
    print("Ended in {!r}, with {} rows.".format(*asyncio.run(main())))
