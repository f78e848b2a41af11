# ruff: noqa: D102 - the name of a test says what it shows
"""The part of a driver's contract about sessions that wait for a slot of a limit."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from callboard.clock import SystemClock
from callboard.engine.workers import look_at_workers
from callboard.testing import driver_suite_flow as flow
from callboard.testing.driver_suite_material import (
    Fleet,
    SuiteServer,
    check_ended,
    has_no_jobs,
    named,
    stands,
    until,
)

_NARROW = ("--concurrency", "2")


class SlotWaitContract:
    """A session that waits for a slot keeps its place, and takes up no room in a worker."""

    async def test_sessions_that_wait_for_a_slot_leave_room_for_others(self, fleet: Fleet) -> None:
        async with _server(fleet) as server, fleet.worker(*_NARROW):
            sessions = await _queued(server, 5)
            await until(lambda: has_no_jobs(fleet))
            [other] = await server.start(flow.reviewed, 1, "other")
            await stands(server, "waiting", 1)
            overview = await look_at_workers(server.log, SystemClock())
            assert (overview.worker_count, overview.stranded) == (1, [])
            await server.operations.cancel(other)
            await server.log.slots.set(flow.LIMIT, 1)
            await stands(server, "completed", 5)
            await check_ended(server, sessions)
            assert _order(fleet, "s") == sessions

    async def test_sessions_that_wait_for_a_slot_outlive_their_worker(self, fleet: Fleet) -> None:
        async with _server(fleet) as server:
            async with fleet.worker(*_NARROW) as dying:
                sessions = await _queued(server, 3)
                await until(lambda: has_no_jobs(fleet))
                dying.kill()
            async with fleet.worker(*_NARROW):
                await server.log.slots.set(flow.LIMIT, 1)
                await stands(server, "completed", 3)
                await check_ended(server, sessions)

    async def test_the_slot_of_a_killed_worker_goes_to_who_waits(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with _server(fleet) as server, fleet.worker(**named("dying")) as dying:
            await server.log.slots.set(flow.LIMIT, 1)
            [first] = await server.start(flow.limited, 1, "first")
            await fleet.ran(1)
            sessions = await _queued(server, 2, limited_to=None)
            await until(lambda: _has_no_more_jobs(fleet, 1))
            async with fleet.worker(*_NARROW, **named("living")):
                dying.kill()
                await fleet.ran(2)
                fleet.hold.unlink()
                await stands(server, "completed", 3)
                await check_ended(server, [first, *sessions])
        assert len(fleet.lines("once")) == 3

    async def test_sessions_that_wait_for_a_slot_are_paused_and_cancelled(
        self, fleet: Fleet
    ) -> None:
        async with _server(fleet) as server, fleet.worker(*_NARROW):
            paused, cancelled, *others = await _queued(server, 4)
            await server.operations.pause(paused)
            await server.operations.cancel(cancelled)
            await stands(server, "paused", 1)
            await until(lambda: _wait(server, 2))
            await server.log.slots.set(flow.LIMIT, 1)
            await stands(server, "completed", 2)
            await server.operations.resume(paused)
            await stands(server, "completed", 3)
            await check_ended(server, [*others, paused])
            assert _order(fleet, "s") == [*others, paused]


@asynccontextmanager
async def _server(fleet: Fleet) -> AsyncGenerator[SuiteServer]:
    async with fleet.server(flow.limited, flow.reviewed) as server:
        yield server


async def _queued(server: SuiteServer, count: int, limited_to: int | None = 0) -> list[str]:
    """Sessions that wait for a slot, in this order."""
    if limited_to is not None:
        await server.log.slots.set(flow.LIMIT, limited_to)
    sessions: list[str] = []
    for number in range(count):
        sessions += await server.start(flow.limited, 1, f"s{number}-")
        await until(partial(_wait, server, number + 1))
    return sessions


async def _wait(server: SuiteServer, count: int) -> bool:
    """Whether so many agents wait for a slot."""
    [limit] = await server.log.slots.list()
    return limit.waiting == count


async def _has_no_more_jobs(fleet: Fleet, count: int) -> bool:
    return await fleet.jobs() <= count


def _order(fleet: Fleet, prefix: str) -> Sequence[str]:
    """The sessions with this prefix in the order in which their agents started."""
    keys = (line.split()[1] for line in fleet.lines("ran"))
    return [key.split(":")[0] for key in keys if key.startswith(prefix)]
