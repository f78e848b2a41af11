# ruff: noqa: D102 - the name of a test says what it shows
"""The part of a driver's contract about what workers, engines and processes share."""

from collections.abc import Sequence

from callboard.testing import driver_suite_flow as flow
from callboard.testing.driver_suite_material import (
    Fleet,
    SuiteServer,
    check_ended,
    complete,
    named,
    reasons,
    stands,
    until,
)


class SharingContract:
    """Two engines drive the sessions of one log, and workers have one limit in common."""

    async def test_two_engines_at_once_drive_each_session_once(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with fleet.server() as server, fleet.worker(**named("first")) as first:
            sessions = await server.start(flow.reviewed, 3, "a")
            await fleet.ran(3)
            async with fleet.beside() as other:
                sessions += await other.start(flow.reviewed, 3, "b")
                sessions += await server.start(flow.reviewed, 3, "c")
                await fleet.ran(9)
                lost = len(fleet.lines("ran", "first"))
                assert (lost >= 3, len(fleet.lines("ran"))) == (True, 9)
                # The sessions of a dead worker are continued by the other engine.
                first.kill()
                await fleet.ran(9 + lost)
                fleet.hold.unlink()
                await complete(server, 9)
                await check_ended(server, sessions)
                assert await reasons(server, sessions) == {"crashed": lost}
        assert len(fleet.lines("ran")) == 18 + lost
        assert len(fleet.lines("once")) == 18

    async def test_workers_share_the_slots_of_a_limit(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with (
            fleet.server(flow.limited) as server,
            fleet.worker(**named("first")) as first,
            fleet.worker(**named("second")) as second,
        ):
            await server.log.slots.set(flow.LIMIT, 2)
            sessions = await server.start(flow.limited, 6)
            await fleet.ran(2)
            await until(lambda: _is_full(server, waiting=4))
            dying = fleet.lines("ran")[0].split()[-1]
            worker = {"first": first, "second": second}[dying]
            worker.kill()
            await worker.wait()
            flow.write_effect("killed", dying)
            lost = len(fleet.lines("ran", dying))
            await fleet.ran(2 + lost)
            await until(lambda: _is_full(server, waiting=4))
            fleet.hold.unlink()
            await stands(server, "completed", 6)
            await check_ended(server, sessions)
            assert await reasons(server, sessions) == {"crashed": lost}
        assert _most_at_once(fleet.lines()) == 2
        assert len(fleet.lines("once")) == 6


async def _is_full(server: SuiteServer, waiting: int) -> bool:
    """Whether both slots are in use, and so many agents wait for one."""
    [limit] = await server.log.slots.list()
    return (limit.in_use, limit.waiting) == (2, waiting)


def _most_at_once(lines: Sequence[str]) -> int:
    """How many agents worked at once, from what they wrote when they started and ended."""
    working: dict[str, str] = {}
    most = 0
    for word, which, *by in (line.split() for line in lines):
        if word == "ran":
            working[which] = by[0]
        elif word == "killed":
            working = {key: worker for key, worker in working.items() if worker != which}
        else:
            working.pop(which, None)
        most = max(most, len(working))
    return most
