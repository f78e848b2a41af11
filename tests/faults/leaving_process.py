"""A process to be killed: its workflow leaves an interactive session open, which it then ends.

    python -m tests.faults.leaving_process DATABASE

It halts before and after each append until it is told to go on, or is killed there.
"""

import asyncio
import sys

from tests.faults.killed import SteppedLog

from callboard import Callboard, Context, Phase, State, Workflow, agent
from callboard.board.human import Human
from callboard.log.protocol import EventLog
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project

SESSION = "s"
RESPONSE = "It looks fine."


def leaving(human: Human) -> Workflow:
    @agent
    async def ask(state: State, ctx: Context) -> None:
        await human.request_interactive("Tell us later", key="once", block_orchestration=False)

    return Workflow("leaving", state=State, phases=[Phase("ask", agent=ask, terminal=True)])


async def live(log: EventLog) -> None:
    """Begin or go on: the session, then what it left open."""
    asking = Callboard(log)
    board = Callboard(log, [leaving(asking.human)])
    if await log.head(SESSION):
        await board.recover()
    else:
        await board.run("leaving", session_id=SESSION)
    for left in await board.human.list_pending(SESSION):
        await board.people.claim(left.id, by="ann")
        await board.human.complete_interactive(left.id, "completed", RESPONSE, by="ann")


async def main(database: str) -> None:
    log = SqliteLog.open(database, project)
    await live(SteppedLog(log))
    await log.close()
    print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
