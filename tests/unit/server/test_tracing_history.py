"""Traces after a failover to a server that lacks the newest events."""

import asyncio

from tests.lost_events import lose
from tests.unit.server.test_tracing import BREAKS, Kept

from callboard.app import Callboard
from callboard.log.memory import MemoryLog
from callboard.server.tracing import Follower
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.log_suite_material import several

PATIENCE = 5


async def test_sessions_that_start_after_a_loss_are_sent():
    clock = FakeClock()
    log, sink = MemoryLog(project, clock), Kept()
    await log.append("x", several(50))
    follower = Follower(log, sink.send)
    await follower.start()
    lose(log, "x", 50)
    # Not before it has looked: what is written until then may be missing.
    for _ in range(20):
        await asyncio.sleep(0)
    ran = await Callboard(log, [BREAKS], clock).run(BREAKS)
    async with asyncio.timeout(PATIENCE):
        while "workflow breaks" not in sink.names(ran.session_id):
            await asyncio.sleep(0.01)
    await follower.stop()
    await log.close()
