"""A process to be killed while it waits for an interactive session that it asked for.

    python -m tests.faults.caller_process PLACE [--attach ID] [--session]

PLACE is a database, or a server's address. Without --attach it asks under a key of its own.
With --session, an agent of a workflow asks and waits, on the database.
Standard output tells the record's id as soon as there is one, then how it ended.
"""

import asyncio
import sys
from typing import Any

from tests.servers import TOKEN

from callboard import (
    Callboard,
    Client,
    Context,
    Event,
    HumanInteractive,
    Phase,
    State,
    Workflow,
    agent,
)
from callboard.drivers.local import Manner

SESSION = "killed"


class Notes(State):
    seen: list[Any] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


@agent
async def asker(state: Notes, ctx: Context) -> list[Any]:
    result = await ctx.interactive("Review the deployment", outcome_schema={"type": "approval"})
    return [result.outcome, result.response, result.approved]


flow = Workflow("flow", state=Notes, phases=[Phase(agent=asker, update=note, terminal=True)])


def opened(place: str) -> Callboard | Client:
    if place.startswith("http"):
        return Client(place, TOKEN)
    return Callboard.open(place, [flow])


def tell(interactive: HumanInteractive[Any]) -> None:
    if interactive.status == "pending" and interactive.session_id is not None:
        print("asked", interactive.session_id, flush=True)


async def ask(place: str, attached: str | None) -> None:
    async with opened(place) as board:
        interactive = HumanInteractive[Any](board, standalone=True)
        interactive.on_change(tell)
        waiting = (
            interactive.attach(attached)
            if attached
            else interactive.request_async("Review the deployment", key="deployment-7")
        )
        result = await waiting
        print("ended", result.outcome, result.response, flush=True)


async def drive(place: str) -> None:
    """Begin the session or go on with it, its agent in memory for as long as it waits."""

    def hear(events: list[Event]) -> None:
        for event in events:
            if event.name == "input:requested":
                print("asked", event.payload["id"], flush=True)
            if event.name == "agent:started":
                print("attempt", event.payload["attempt"], flush=True)

    async with Callboard.open(place, [flow]) as board:
        if not await board.log.head(SESSION):
            await board.operations.start(flow, session_id=SESSION)
        view = await board.driver.drive(SESSION, Manner(linger=3600, listener=hear))
        print("ended", view.status, view.state["seen"], flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    if "--session" in given:
        asyncio.run(drive(given[0]))
    else:
        asyncio.run(ask(given[0], given[2] if "--attach" in given else None))
