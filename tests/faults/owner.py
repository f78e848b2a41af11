"""A process that drives one session, and does each step when a line on standard input says so.

    python -m tests.faults.owner DATABASE EFFECTS [--frozen-after SECONDS] [--insist]

It tells on standard output what becomes of it: ready, owned, lost, or how the session stands.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from callboard import Callboard, Context, Phase, State, Workflow, agent
from callboard.drivers.local import Manner
from callboard.engine.operations import begin
from callboard.errors import OwnershipLost, SessionOwned
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project

SESSION = "s"
STEPS = 3


class Notes(State):
    seen: list[Any] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


def say(*words: object) -> None:
    print(*words, flush=True)


def workflow(effects: Path) -> Workflow:
    """One agent with a few steps, a question after them, and one agent more."""

    def do(ctx: Context, what: str) -> str:
        with effects.open("a") as file:
            file.write(f"{what} {os.getpid()}\n")
            file.flush()
            os.fsync(file.fileno())
        return what

    @agent
    async def steps(state: Notes, ctx: Context) -> list[Any]:
        done: list[Any] = []
        for number in range(STEPS):
            say("ready", number)
            await asyncio.to_thread(sys.stdin.readline)
            done.append(await ctx.once(f"step {number}", lambda n=number: do(ctx, f"step{n}")))
        return [*done, await ctx.ask("Sure?")]

    @agent
    async def last(state: Notes, ctx: Context) -> str:
        return do(ctx, "last")

    return Workflow(
        "owned",
        state=Notes,
        phases=[
            Phase("steps", agent=steps, update=note, next="last"),
            Phase("last", agent=last, update=note, terminal=True),
        ],
    )


async def drive(board: Callboard, flow: Workflow) -> str:
    """Drive the session until it waits or ends; agents wait in memory for as long as it takes."""
    manner = Manner(linger=3600)
    if await board.log.head(SESSION):
        return (await board.driver.drive(SESSION, manner)).status
    return (await board.driver.begin(flow, SESSION, begin(flow, None), manner)).status


async def main(given: argparse.Namespace) -> None:
    flow = workflow(Path(given.effects))
    log = SqliteLog.open(given.database, project, frozen_after=given.frozen_after)
    board = Callboard(log, [flow])
    while True:
        try:
            say(await drive(board, flow))
            break
        except SessionOwned:
            say("owned")
        except OwnershipLost:
            say("lost")
        if not given.insist:
            break
        await asyncio.sleep(0.05)
    await board.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("effects")
    parser.add_argument("--frozen-after", type=float, default=3600.0)
    parser.add_argument("--insist", action="store_true")
    asyncio.run(main(parser.parse_args()))
