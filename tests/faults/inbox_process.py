"""What the other processes in `test_first_answer` do: run as a script, told by lines on stdin."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from callboard import Callboard
from callboard.errors import CallboardError

End = Callable[[Callboard, str, str], Awaitable[Any]]


async def answer(board: Callboard, id: str, by: str) -> None:
    await board.answer(id, by, by=by)


async def complete(board: Callboard, id: str, by: str) -> None:
    await board.people.complete(id, "completed", response=by, by=by)


async def cancel(board: Callboard, id: str, by: str) -> None:
    await board.people.cancel(id, by=by)


async def claim(board: Callboard, id: str, by: str) -> None:
    await board.people.claim(id, by=by)


ENDS: dict[str, End] = {end.__name__: end for end in (answer, complete, cancel, claim)}


async def attempt(board: Callboard, end: str, id: str, by: str) -> str:
    """What became of it: `done`, or the code of the refusal."""
    try:
        await ENDS[end](board, id, by)
    except CallboardError as refusal:
        return refusal.code
    return "done"


async def attempts(board: Callboard, ends: list[str], ids: list[str], name: str) -> list[str]:
    """Everything at once: each end on each question; a line for each, with what became of it."""

    async def one(end: str, id: str) -> str:
        by = f"{name}-{end}"
        return f"{id} {by} {await attempt(board, end, id, by)}"

    return list(await asyncio.gather(*(one(end, id) for id in ids for end in ends)))


async def main(path: str, name: str, ends: str, *ids: str) -> None:
    async with Callboard.open(path) as board:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for line in await attempts(board, ends.split(","), list(ids), name):
            print(line, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
