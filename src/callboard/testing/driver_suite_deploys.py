# ruff: noqa: D102 - the name of a test says what it shows
"""The part of a driver's contract about workers that stop, and that are replaced by others."""

import signal
from collections.abc import Sequence

import pytest

from callboard.events import names
from callboard.testing import driver_suite_flow as flow
from callboard.testing.driver_suite_material import (
    Fleet,
    SuiteServer,
    check_ended,
    complete,
    reasons,
    rows_of,
    stands,
    until,
    versioned,
)


class DeployContract:
    """Workers stop, and others with another version continue; nothing is interrupted or lost."""

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
                await complete(server, 5)
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
                await complete(server, 3)
                await check_ended(server, sessions)
                assert await reasons(server, sessions) == {"stopped": 3}

    async def test_a_phase_that_only_some_workers_know(self, fleet: Fleet) -> None:
        old, new = flow.changing("old"), flow.changing("new")
        async with (
            fleet.server(new) as server,
            fleet.worker(**versioned("old")),
            fleet.worker(**versioned("new")),
        ):
            sessions = await server.start(new, 4, "new")
            sessions += await server.start(old, 4, "old")
            await stands(server, "waiting", 8)
            await server.answer_all()
            await stands(server, "completed", 8)
            await check_ended(server, sessions)
            await _check_never_held(server, sessions)

    @pytest.mark.long
    async def test_a_phase_that_no_worker_knows_is_held(self, fleet: Fleet) -> None:
        new = flow.changing("new")
        async with fleet.server(new) as server:
            async with fleet.worker(**versioned("new")):
                await server.start(new, 1)
                await stands(server, "waiting", 1)
            async with fleet.worker(**versioned("old")):
                await server.answer_all()

                async def is_held() -> bool:
                    return (await rows_of(server, "s0"))["held"] is not None

                await until(is_held)

    async def test_a_worker_is_replaced_while_sessions_are_between_phases(
        self, fleet: Fleet
    ) -> None:
        new = flow.replaced("new")
        async with (
            fleet.server(new) as server,
            fleet.worker("--grace", "60", **versioned("old")) as first,
        ):
            waiting, inside = await server.start(new, 6), await server.start(new, 2, "inside")
            await stands(server, "waiting", 8)
            fleet.hold.touch()
            working = await server.start(new, 2, "working")
            for session in inside:
                await server.answer_all(session)
            # The agents of these are at work, in a phase that the new version lacks, and before it.
            await fleet.ran(12)
            async with fleet.worker(**versioned("new")):
                first.send_signal(signal.SIGTERM)
                for session in waiting[:3]:
                    await server.answer_all(session)
                await fleet.ran(15)
                fleet.hold.unlink()
                assert await first.wait() == 0
                await until(lambda: _completed_with_answers(server, 10))
                await check_ended(server, [*waiting, *inside, *working])
                assert await reasons(server, [*waiting, *inside, *working]) == {}
                for session in (*waiting, *working):
                    assert "added" in await _phases(server, session)
                for session in inside:
                    assert "removed" in await _phases(server, session)
                await _check_never_held(server, [*waiting, *inside, *working])


async def _completed_with_answers(server: SuiteServer, count: int) -> bool:
    await server.answer_all()
    return await server.count("completed") == count


async def _check_never_held(server: SuiteServer, sessions: Sequence[str]) -> None:
    for session in sessions:
        assert not list(names.HELD.among(await server.log.read(session)))


async def _phases(server: SuiteServer, session: str) -> list[str]:
    return [one["phase"] for one in names.PHASE_ENTERED.among(await server.log.read(session))]
