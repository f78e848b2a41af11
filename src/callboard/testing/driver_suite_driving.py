# ruff: noqa: D102 - the name of a test says what it shows
"""The part of a driver's contract about driving: once, at once, and without jobs that wait."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from callboard.drivers.watching import Dispatcher
from callboard.testing import driver_suite_flow as flow
from callboard.testing.driver_suite_material import (
    Fleet,
    SuiteServer,
    check_ended,
    complete,
    has_no_jobs,
    reasons,
    stands,
    until,
)


class DrivingContract:
    """What has work to do is driven once; what waits occupies no job."""

    async def test_sessions_are_driven_and_wait_without_a_job(self, fleet: Fleet) -> None:
        async with fleet.server() as one, fleet.server() as two, fleet.worker():
            sessions = await one.start(flow.reviewed, 5, "a")
            sessions += await two.start(flow.reviewed, 5, "b")
            await stands(one, "waiting", 10)
            await until(lambda: has_no_jobs(fleet))
            await two.answer_all()
            await stands(one, "completed", 10)
            await check_ended(one, sessions)
        assert len(fleet.lines("ran")) == len(fleet.lines("once")) == 20

    async def test_a_question_is_closed_by_its_deadline(self, fleet: Fleet) -> None:
        async with fleet.server(flow.soon) as server, fleet.worker():
            sessions = await server.start(flow.soon, 3)
            await stands(server, "completed", 3)
            await check_ended(server, sessions)

    async def test_a_job_that_is_run_again_does_nothing(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(fleet.server())
            workers = [await _started(fleet, stack) for _ in range(2)]
            await server.start(flow.reviewed, 1)
            await fleet.ran(1)
            # While it is driven, and once more when it waits.
            await asyncio.gather(*(one.drive("s0") for one in (*workers, *workers)))
            fleet.hold.unlink()
            await stands(server, "waiting", 1)
            await asyncio.gather(*(one.drive("s0") for one in (*workers, *workers)))
            await server.answer_all()
            await stands(server, "completed", 1)
            await check_ended(server, ["s0"])
        assert len(fleet.lines("ran")) == len(fleet.lines("once")) == 2

    async def test_an_answer_in_the_last_moment_of_a_drive(self, fleet: Fleet) -> None:
        await _answer_at_once(fleet, 25)

    @pytest.mark.long
    async def test_a_thousand_answers_in_the_last_moment(self, fleet: Fleet) -> None:
        await _answer_at_once(fleet, 1000)

    async def test_a_pause_from_another_server_interrupts_the_agent(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with fleet.server() as one, fleet.server() as two, fleet.worker():
            sessions = await one.start(flow.reviewed, 5)
            await fleet.ran(5)
            for number, session in enumerate(sessions, 1):
                assert await two.operations.pause(session, interrupt=True)
                await stands(one, "paused", number)
                assert len(fleet.lines("cancelled")) == number
            assert fleet.lines("once") == []
            fleet.hold.unlink()
            for session in sessions:
                await two.operations.resume(session)
            await complete(one, 5)
            await check_ended(one, sessions)
            assert await reasons(one, sessions) == {"paused": 5}

    @pytest.mark.long
    async def test_ten_thousand_waiting_sessions_have_no_jobs(self, fleet: Fleet) -> None:
        async with fleet.server(flow.late, flow.later) as server, fleet.worker():
            for part in range(20):
                await server.start(flow.late, 500, f"part{part}-")
                await stands(server, "waiting", 500 * (part + 1))
            due = await server.start(flow.later, 100, "due")
            await stands(server, "waiting", 10_100)
            await until(lambda: has_no_jobs(fleet))
            # They wait for a minute, and nothing happens meanwhile.
            for _ in range(10):
                assert await fleet.jobs() == 0
                assert await server.count("completed") == 0
                await asyncio.sleep(0.2)
            await stands(server, "completed", 100)
            await check_ended(server, due)
            assert len(fleet.lines("ran")) == len(fleet.lines("once")) == 100
            assert await server.count("waiting") == 10_000
            await until(lambda: has_no_jobs(fleet))


async def _answer_at_once(fleet: Fleet, count: int) -> None:
    """Answer each question as soon as it can be read, when its drive is about to end."""
    async with fleet.server() as server, fleet.worker():
        for part in range(0, count, 25):
            sessions = await server.start(flow.reviewed, 25, f"part{part}-")
            answered = 0
            while answered < 25:
                answered += await server.answer_all()
            await stands(server, "completed", part + 25)
            await check_ended(server, sessions)


async def _started(fleet: Fleet, stack: AsyncExitStack) -> Dispatcher:
    """A worker in this process."""
    log = fleet.open_log()
    stack.push_async_callback(log.close)
    driver = fleet.driver(SuiteServer(log, [flow.reviewed]).driven, works=True)
    await driver.start()
    stack.push_async_callback(driver.stop, 0)
    return driver
