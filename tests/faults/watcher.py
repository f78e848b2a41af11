"""A process that watches a database and drives what it finds there, until it is told to stop.

    python -m tests.faults.watcher DATABASE EFFECTS [--frozen-after SECONDS] [--grace SECONDS]

Agents are at work for as long as there is a file `hold` beside the database. SIGTERM stops it.
With --answer it answers questions as well, at moments of its own choosing, and drives nothing.
"""

import argparse
import asyncio
import random
import signal
from pathlib import Path

from tests.faults.killed import Effects

from callboard import Approval, Callboard, Context, Phase, State, Workflow, agent
from callboard.drivers.watching import WatchingDriver
from callboard.errors import ConflictError
from callboard.log.sqlite.log import SqliteLog
from callboard.state.rows import project

_LOOK_AGAIN = 0.005


def workflow(effects: Effects, hold: Path) -> Workflow:
    """Two agents, each with an effect that must happen once, and a question between them."""

    @agent
    async def work(state: State, ctx: Context) -> str:
        effects.write("ran", ctx.key)
        while hold.exists():
            await asyncio.sleep(_LOOK_AGAIN)
        return await ctx.once("do", lambda: effects.write("once", ctx.session_id, ctx.phase))

    return Workflow(
        "watched",
        state=State,
        phases=[
            Phase("one", agent=work, human=Approval("Sure?"), next="two"),
            Phase("two", agent=work, terminal=True),
        ],
    )


async def answer(board: Callboard, chance: random.Random) -> None:
    """Say yes to whatever is asked, in any order, until the process ends."""
    while True:
        for question in chance.sample(found := await board.inbox(), len(found)):
            try:
                await board.answer(question.id, "yes")
            except ConflictError:
                continue
            await asyncio.sleep(chance.random() * _LOOK_AGAIN)
        await asyncio.sleep(_LOOK_AGAIN)


async def main(given: argparse.Namespace) -> None:
    database = Path(given.database)
    flow = workflow(Effects(Path(given.effects)), database.with_name("hold"))
    log = SqliteLog.open(database, project, frozen_after=given.frozen_after)
    board = Callboard(log, [flow])
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    driver = WatchingDriver(board.driver, log, board.clock)
    answering: asyncio.Task[None] | None = None
    if given.answer:
        answering = asyncio.create_task(answer(board, random.Random()))
    else:
        await driver.start()
    print("started", flush=True)
    await told.wait()
    if answering is not None:
        answering.cancel()
    await driver.stop(given.grace)
    print("stopped", driver.driving, driver.queued, flush=True)
    await board.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("effects")
    parser.add_argument("--frozen-after", type=float, default=3600.0)
    parser.add_argument("--grace", type=float, default=0.0)
    parser.add_argument("--answer", action="store_true")
    asyncio.run(main(parser.parse_args()))
