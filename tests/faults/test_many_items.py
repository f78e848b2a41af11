"""A `for_each` over many items: every step is on the disk, and memory grows only with the items."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from pathlib import Path

import pytest
from tests.faults.many_items import FLOW, PARALLEL, SESSION

from callboard import Callboard
from callboard.events import names

ROOT = Path(__file__).parents[2]


async def live(database: Path, items: int, killed_after: int | None) -> tuple[int, list[str]]:
    """Let a process go on with the session; how many items it began, and what it said at the end.

    killed_after: how many items it begins before it is killed.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-u", "-m", "tests.faults.many_items", str(database), str(items)),
        stdout=PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    begun = 0
    async for line in process.stdout:
        if line.startswith(b"done"):
            await process.wait()
            return begun, line.decode().split()[1:]
        begun += 1
        if begun == killed_after:
            break
    process.kill()
    return begun + len((await process.stdout.read()).splitlines()), []


async def go_over(folder: Path, items: int, kills: int) -> int:
    """Go over the items through some kills; how many megabytes of memory the last life needed."""
    database, begun, told = folder / "x.db", 0, list[str]()
    for life in range(kills + 1):
        after = None if life == kills else items // (kills + 1)
        more, told = await live(database, items, after)
        begun += more
    async with Callboard.open(database, [FLOW]) as board:
        state = await board.state(SESSION)
        completed: Counter[str] = Counter()
        for after in range(0, await board.log.head(SESSION), 5_000):
            page = await board.log.read(SESSION, after, limit=5_000)
            completed.update(one["run"] for one in names.AGENT_COMPLETED.among(page))
    status, memory = told
    assert (status, state.total, state.in_order) == ("completed", items * (items - 1), True)
    assert len(completed) == items
    assert set(completed.values()) == {1}, "nothing that was recorded runs again"
    # What was in flight when its process died is run again, and what was recorded is not. An item
    # may also have been begun and recorded by nobody: there were at most two rounds of them.
    assert items <= begun <= items + kills * 2 * PARALLEL
    return int(memory)


async def test_a_killed_process_leaves_the_rest_of_its_items(tmp_path: Path):
    await go_over(tmp_path, 1_500, kills=2)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_a_hundred_thousand_items(tmp_path: Path):
    items = 100_000
    memory = await go_over(tmp_path, items, kills=1)
    assert memory <= 300
    assert (tmp_path / "x.db").stat().st_size <= items * 1_024
