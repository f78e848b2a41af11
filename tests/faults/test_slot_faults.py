"""The slots of limits among processes that die and freeze, on both databases."""

import asyncio
import signal
from pathlib import Path

import pytest
from tests.faults.processes import OpenLogs, StartProcess, heard

from callboard.testing.log_suite_material import PATIENCE


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "log.db")
    return request.getfixturevalue("postgres_url")


async def test_the_slots_of_a_killed_process_are_free(start: StartProcess, opened: OpenLogs):
    log = opened()
    await log.slots.set("llm", 2)
    other = await start("hold_slots")
    assert await heard(other) == "holding"
    taking = asyncio.create_task(log.slots.take("llm", "mine", "run"))
    while (await log.slots.list())[0].waiting < 2:
        await asyncio.sleep(0.01)
    other.send_signal(signal.SIGKILL)
    async with asyncio.timeout(PATIENCE):
        log.slots.free(await taking)
    assert (await log.slots.list())[0].waiting == 0


async def test_the_slots_of_a_frozen_process_are_free_until_it_continues(
    start: StartProcess, opened: OpenLogs
):
    log = opened(frozen_after=0.8)
    await log.slots.set("llm", 2)
    other = await start("hold_slots")
    assert await heard(other) == "holding"
    other.send_signal(signal.SIGSTOP)
    async with asyncio.timeout(PATIENCE):
        mine = await log.slots.take("llm", "mine", "run")
        [limit] = await log.slots.list()
        assert [slot.session_id for slot in limit.slots] == ["mine"]
        other.send_signal(signal.SIGCONT)
        # Its agents were never told to stop, so they count again.
        while (limit.in_use, limit.waiting) != (3, 1):
            await asyncio.sleep(0.01)
            [limit] = await log.slots.list()
    log.slots.free(mine)
