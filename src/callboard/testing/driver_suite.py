# ruff: noqa: D102 - the name of a test says what it shows
"""The contract of a driver as tests, to run against your own engine.

    class TestMyDriver(DriverContract):
        @pytest.fixture
        def fleet(self, tmp_path):
            return MyFleet(tmp_path)

`MyFleet` is a `Fleet`: it opens logs, makes dispatchers with your engine, and knows the command of
a worker. The tests are coroutines: run them with pytest-asyncio in auto mode, or with anyio. Those
that take long have the marker `long`.
"""

import asyncio
import signal
from contextlib import AsyncExitStack

import pytest

from callboard.drivers.watching import Dispatcher
from callboard.events import names
from callboard.testing import driver_suite_flow as flow
from callboard.testing.driver_suite_material import (
    Fleet,
    SuiteServer,
    check_ended,
    freeze,
    reasons,
    rows_of,
    stands,
    thaw,
    until,
)


class DrivingContract:
    """What has work to do is driven once; what waits occupies no job."""

    async def test_sessions_are_driven_and_wait_without_a_job(self, fleet: Fleet) -> None:
        async with fleet.server() as one, fleet.server() as two, fleet.worker():
            sessions = await one.start(flow.reviewed, 5, "a")
            sessions += await two.start(flow.reviewed, 5, "b")
            await stands(one, "waiting", 10)
            await until(lambda: _has_no_jobs(fleet))
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
            sessions = await one.start(flow.reviewed, 1)
            await fleet.ran(1)
            assert await two.operations.pause("s0", interrupt=True)
            await stands(one, "paused", 1)
            assert len(fleet.lines("cancelled")) == 1
            fleet.hold.unlink()
            await two.operations.resume("s0")
            await stands(one, "waiting", 1)
            await one.answer_all()
            await stands(one, "completed", 1)
            await check_ended(one, sessions)
            assert await reasons(one, sessions) == {"paused": 1}

    @pytest.mark.long
    async def test_ten_thousand_waiting_sessions_have_no_jobs(self, fleet: Fleet) -> None:
        async with fleet.server(flow.late, flow.soon) as server, fleet.worker():
            for part in range(20):
                await server.start(flow.late, 500, f"part{part}-")
            await stands(server, "waiting", 10_000)
            await until(lambda: _has_no_jobs(fleet))
            sessions = await server.start(flow.soon, 10, "due")
            await stands(server, "completed", 10)
            await check_ended(server, sessions)
            assert await server.count("waiting") == 10_000
            await until(lambda: _has_no_jobs(fleet))


class FaultContract:
    """Workers die, freeze, stop and change; nothing is lost, and nothing is done twice."""

    async def test_another_worker_takes_over_from_one_that_was_killed(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with fleet.server() as server, fleet.worker() as first:
            sessions = await server.start(flow.reviewed, 5)
            await fleet.ran(5)
            async with fleet.worker():
                first.kill()
                await fleet.ran(10)
                fleet.hold.unlink()
                await _complete(server, 5)
                await check_ended(server, sessions)
                assert await reasons(server, sessions) == {"crashed": 5}

    @pytest.mark.long
    async def test_workers_that_die_at_an_append(self, fleet: Fleet) -> None:
        await _die_and_recover(fleet, ["before 2", "after 3"])

    @pytest.mark.long
    @pytest.mark.parametrize("when", ["before", "after"])
    @pytest.mark.parametrize("append", range(1, 9))
    async def test_a_worker_dies_at_every_append(
        self, fleet: Fleet, when: str, append: int
    ) -> None:
        await _die_and_recover(fleet, [f"{when} {append}"])

    @pytest.mark.long
    async def test_a_frozen_worker_is_replaced_and_writes_nothing(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with fleet.server() as server, fleet.worker() as first:
            sessions = await server.start(flow.reviewed, 3)
            await fleet.ran(3)
            async with fleet.worker():
                freeze(first)
                await fleet.ran(6)
                fleet.hold.unlink()
                await stands(server, "waiting", 3)
                thaw(first)
                await _complete(server, 3)
                first.send_signal(signal.SIGTERM)
                assert await first.wait() == 0
                await check_ended(server, sessions)

    async def test_a_worker_that_is_told_to_stop_lets_agents_finish(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with fleet.server() as server, fleet.worker("--grace", "60") as first:
            sessions = await server.start(flow.reviewed, 3)
            await fleet.ran(3)
            async with fleet.worker():
                first.send_signal(signal.SIGTERM)
                more = await server.start(flow.reviewed, 2, "later")
                await fleet.ran(5)
                fleet.hold.unlink()
                assert await first.wait() == 0
                await _complete(server, 5)
                await check_ended(server, [*sessions, *more])
                assert await reasons(server, [*sessions, *more]) == {}

    @pytest.mark.long
    async def test_a_worker_hands_back_what_takes_too_long(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with fleet.server() as server, fleet.worker("--grace", "0.1") as first:
            sessions = await server.start(flow.reviewed, 3)
            await fleet.ran(3)
            async with fleet.worker():
                first.send_signal(signal.SIGTERM)
                await fleet.ran(6)
                assert await first.wait() == 0
                fleet.hold.unlink()
                await _complete(server, 3)
                await check_ended(server, sessions)
                assert await reasons(server, sessions) == {"stopped": 3}

    async def test_a_phase_that_only_some_workers_know(self, fleet: Fleet) -> None:
        old, new = flow.changing("old"), flow.changing("new")
        async with (
            fleet.server(new) as server,
            fleet.worker(CALLBOARD_SUITE_VERSION="old"),
            fleet.worker(CALLBOARD_SUITE_VERSION="new"),
        ):
            sessions = await server.start(new, 4, "new")
            sessions += await server.start(old, 4, "old")
            await stands(server, "waiting", 8)
            await server.answer_all()
            await stands(server, "completed", 8)
            await check_ended(server, sessions)
            for session in sessions:
                assert not list(names.HELD.among(await server.log.read(session)))

    @pytest.mark.long
    async def test_a_phase_that_no_worker_knows_is_held(self, fleet: Fleet) -> None:
        new = flow.changing("new")
        async with fleet.server(new) as server:
            async with fleet.worker(CALLBOARD_SUITE_VERSION="new"):
                await server.start(new, 1)
                await stands(server, "waiting", 1)
            async with fleet.worker(CALLBOARD_SUITE_VERSION="old"):
                await server.answer_all()

                async def is_held() -> bool:
                    return (await rows_of(server, "s0"))["held"] is not None

                await until(is_held)

    @pytest.mark.long
    async def test_sessions_continue_after_an_outage(self, fleet: Fleet) -> None:
        async with fleet.server() as server, fleet.worker():
            sessions = await server.start(flow.reviewed, 3)
            await stands(server, "waiting", 3)
            async with fleet.outage():
                await asyncio.sleep(0.5)
            await server.answer_all()
            await stands(server, "completed", 3)
            await check_ended(server, sessions)


class DriverContract(DrivingContract, FaultContract):
    """The whole contract. Subclass it and provide a `fleet` fixture."""


async def _has_no_jobs(fleet: Fleet) -> bool:
    return await fleet.jobs() == 0


async def _complete(server: SuiteServer, count: int) -> None:
    await stands(server, "waiting", count)
    await server.answer_all()
    await stands(server, "completed", count)


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


async def _die_and_recover(fleet: Fleet, kills: list[str]) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(fleet.server())
        dying = [
            await stack.enter_async_context(fleet.worker(CALLBOARD_SUITE_KILL=kill))
            for kill in kills
        ]
        sessions = await server.start(flow.reviewed, 6)
        # With a question in between, a few appends are missing until it is answered.
        await until(lambda: _die_or_answer(server, [one.returncode is None for one in dying]))
        await stack.enter_async_context(fleet.worker())
        await until(lambda: _completed_with_answers(server, 6))
        await check_ended(server, sessions)


async def _die_or_answer(server: SuiteServer, living: list[bool]) -> bool:
    await server.answer_all()
    return not any(living)


async def _completed_with_answers(server: SuiteServer, count: int) -> bool:
    await server.answer_all()
    return await server.count("completed") == count


async def _started(fleet: Fleet, stack: AsyncExitStack) -> Dispatcher:
    """A worker in this process."""
    log = fleet.open_log()
    stack.push_async_callback(log.close)
    driver = fleet.driver(SuiteServer(log, [flow.reviewed]).driven, works=True)
    await driver.start()
    stack.push_async_callback(driver.stop, 0)
    return driver
