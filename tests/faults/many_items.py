"""A process to be killed: one session that goes over many items.

    python -m tests.faults.many_items DATABASE ITEMS

Every item it works on is a line of standard output. At the end it says `done`, and how many
megabytes of memory it has needed beyond those that it began with.
"""

import asyncio
import resource
import sys
from pathlib import Path

from callboard import Callboard, Context, Phase, State, Workflow, agent

SESSION = "many"
PARALLEL = 64


class Sum(State):
    items: int = 0
    total: int = 0
    last: int = -1
    in_order: bool = True


def begin(state: Sum, items: int) -> None:
    state.items = items


@agent
async def double(state: Sum, ctx: Context) -> int:
    sys.stdout.write(f"{ctx.item}\n")
    return ctx.item * 2


def add(state: Sum, output: int) -> None:
    state.in_order = state.in_order and output > state.last
    state.total, state.last = state.total + output, output


FLOW = Workflow(
    "sum",
    state=Sum,
    start=begin,
    phases=[
        Phase(
            agent=double,
            for_each=lambda state: range(state.items),
            parallel=PARALLEL,
            update=add,
            terminal=True,
        )
    ],
)


def peak() -> int:
    """The most memory that this process has had, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def main(path: Path, items: int) -> None:
    before = peak()
    async with Callboard.open(path, [FLOW]) as board:
        if await board.log.head(SESSION) == 0:
            await board.start("sum", items, session_id=SESSION)
        info = await board.drive(SESSION)
        sys.stdout.write(f"done {info.status} {(peak() - before) // 1024}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
