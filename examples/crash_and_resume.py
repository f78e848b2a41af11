"""A process dies while a question is open, and another process continues the session.

The first process packs an order, records its question, and is killed. The second opens the
same database, answers the question, and completes the order. Nothing is packed twice.

    python examples/crash_and_resume.py
"""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from callboard import Approval, Callboard, Event, Phase, State, Workflow, agent, run


class Order(State):
    parcel: str = ""


@agent
async def packer(state: Order) -> str:
    return f"a lamp, packed by process {os.getpid()}"


def keep_parcel(state: Order, parcel: str) -> None:
    state.parcel = parcel


@agent
async def shipper(state: Order) -> None:
    print(f"Shipping: {state.parcel}")


order = Workflow(
    "order",
    state=Order,
    phases=[
        Phase(
            "pack",
            agent=packer,
            update=keep_parcel,
            human=Approval(lambda s: f"Ship {s.parcel}?"),
            next=lambda s: "ship" if s.approved else "pack",
        ),
        Phase("ship", agent=shipper, terminal=True),
    ],
)


async def run_and_die(db: Path) -> None:
    waiting = await run(order, db=db)
    print(f"Process {os.getpid()}: session {waiting.session_id} is {waiting.status}.", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


async def answer_and_resume(db: Path) -> list[Event]:
    async with Callboard.open(db, [order]) as board:
        [question] = await board.inbox()
        print(f"Process {os.getpid()} finds the question: {question.prompt}")
        await board.answer(question.id, "yes", by="Ada")
        info = await board.drive(question.session_id or "")
        print(f"Session {info.session_id} is {info.status}.")
        return await board.events(info.session_id)


def main(folder: Path) -> list[Event]:
    db = folder / "orders.db"
    subprocess.run([sys.executable, __file__, str(db)], check=False)
    return asyncio.run(answer_and_resume(db))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(run_and_die(Path(sys.argv[1])))
    with TemporaryDirectory() as scratch:
        main(Path(scratch))
