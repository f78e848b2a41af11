# ruff: noqa: D102 - the name of a test says what it shows
"""The part of a driver's contract about workers that die and freeze, and servers that are away."""

import asyncio
import signal
from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import Any

import pytest

from callboard.errors import AlreadyAnswered, StoreError
from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.event_name import EventName
from callboard.testing import driver_suite_flow as flow
from callboard.testing.driver_suite_material import (
    MARGIN,
    PATIENCE,
    Fleet,
    SuiteServer,
    check_ended,
    complete,
    freeze,
    named,
    reasons,
    stands,
    thaw,
    until,
)

_FROZEN_SOON = 4.0
_AWAY_FOR = 1.0
_RESUMED_WITHIN = 2.0
_TAKEN_OVER_WITHIN = 4.0
"""With an engine that detects dead workers itself; others need a second less."""


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
                await complete(server, 5)
                await check_ended(server, sessions)
                assert await reasons(server, sessions) == {"crashed": 5}

    @pytest.mark.long
    async def test_a_worker_that_was_killed_is_replaced_in_time(self, fleet: Fleet) -> None:
        fleet.hold.touch()
        async with fleet.server() as server, fleet.worker() as first:
            sessions = await server.start(flow.reviewed, 5)
            await fleet.ran(5)
            async with fleet.worker():
                first.kill()
                killed = server.clock.monotonic()
                await fleet.ran(10)
                slowest = max(fleet.moments("ran").values()) - killed
                fleet.hold.unlink()
                await complete(server, 5)
                await check_ended(server, sessions)
                assert slowest < _TAKEN_OVER_WITHIN + MARGIN

    async def test_a_worker_dies_at_an_append(self, fleet: Fleet) -> None:
        await _die_and_recover(fleet, ["after 3"])

    @pytest.mark.long
    async def test_workers_that_die_at_an_append(self, fleet: Fleet) -> None:
        await _die_and_recover(fleet, ["before 2", "after 3"])

    @pytest.mark.long
    @pytest.mark.parametrize("when", ["before", "after"])
    async def test_a_worker_dies_at_every_append(self, fleet: Fleet, when: str) -> None:
        async with fleet.server() as server:
            for append in range(1, await _count_appends(fleet, server) + 1):
                await _die_once(fleet, server, f"{when} {append}")

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
                await complete(server, 3)
                first.send_signal(signal.SIGTERM)
                assert await first.wait() == 0
                await check_ended(server, sessions)

    @pytest.mark.long
    async def test_a_worker_that_was_there_first_is_replaced_when_it_freezes(
        self, fleet: Fleet
    ) -> None:
        fleet.frozen_after = _FROZEN_SOON
        fleet.hold.touch()
        # No one else is there to be elected, and so to look for what dead workers left.
        async with fleet.worker(**named("first")) as first, fleet.onlooker() as server:
            sessions = await server.start(flow.reviewed, 3)
            await fleet.ran(3)
            async with fleet.worker(**named("second")):
                freeze(first)
                await until(lambda: len(fleet.lines("ran", "second")) == 3)
                thaw(first)
                await until(lambda: len(fleet.lines("cancelled", "first")) == 3)
                fleet.hold.unlink()
                await complete(server, 3)
                first.send_signal(signal.SIGTERM)
                assert await first.wait() == 0
                await check_ended(server, sessions)
                assert await reasons(server, sessions) == {"crashed": 3}
        assert len(fleet.lines("once")) == 6

    async def test_a_frozen_worker_that_continues_changes_nothing(self, fleet: Fleet) -> None:
        fleet.frozen_after = _FROZEN_SOON
        fleet.hold.touch()
        async with fleet.server() as server, fleet.worker(**named("first")) as first:
            sessions = await server.start(flow.reviewed, 3)
            await fleet.ran(3)
            async with fleet.worker(**named("second")):
                freeze(first)
                await until(lambda: len(fleet.lines("ran", "second")) == 3)
                jobs, heads = await fleet.jobs(), await _heads(server, sessions)
                thaw(first)
                await until(lambda: len(fleet.lines("cancelled", "first")) == 3)
                first.send_signal(signal.SIGTERM)
                assert await first.wait() == 0
                # Its jobs have ended, and those of the other worker are still there.
                assert await _heads(server, sessions) == heads
                assert await fleet.jobs() >= min(jobs, 3)
                fleet.hold.unlink()
                await complete(server, 3)
                await check_ended(server, sessions)
                assert await reasons(server, sessions) == {"crashed": 3}
        assert len(fleet.lines("once")) == 6


class OutageContract:
    """The engine or the log is away for a while; what was answered meanwhile is not lost."""

    @pytest.mark.long
    async def test_an_answer_while_the_engine_is_away(self, fleet: Fleet) -> None:
        waited = await _answer_during(fleet, fleet.outage(), is_up=fleet.has_own_server)
        assert waited < _RESUMED_WITHIN + MARGIN

    @pytest.mark.long
    async def test_an_answer_while_the_log_is_away(self, fleet: Fleet) -> None:
        waited = await _answer_during(fleet, fleet.log_outage(), is_up=False)
        assert waited < _RESUMED_WITHIN + MARGIN


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


async def _count_appends(fleet: Fleet, server: SuiteServer) -> int:
    """How often a worker appends to a session, from its start to its end."""
    async with fleet.worker(CALLBOARD_SUITE_KILL="never 0") as worker:
        await server.start(flow.reviewed, 1, "counted")
        await until(lambda: _completed_with_answers(server, 1))
        worker.send_signal(signal.SIGTERM)
        await worker.wait()
    found = len(fleet.lines("committed"))
    # Each of its two agents starts, has an effect, and ends.
    assert found >= 6
    return found


async def _die_once(fleet: Fleet, server: SuiteServer, kill: str) -> None:
    """Kill the worker of one session at an append; another one does the rest, and only that."""
    before = await server.count("completed")
    async with fleet.worker(CALLBOARD_SUITE_KILL=kill) as dying:
        [session] = await server.start(flow.reviewed, 1, kill.replace(" ", "-") + "-")
        await until(lambda: _die_or_answer(server, [dying.returncode is None]))
    events = await server.log.read(session)
    completed = _keys(names.AGENT_COMPLETED, events)
    had_effect = _keys(names.ONCE_COMPLETED, events)
    in_flight = _keys(names.AGENT_STARTED, events) - completed
    written = _of(fleet.lines(), completed), _of(fleet.lines("once"), had_effect)
    assert {line.split()[1] for line in written[0]} == completed
    async with fleet.worker():
        await until(lambda: _completed_with_answers(server, before + 1))
        await check_ended(server, [session])
    assert (_of(fleet.lines(), completed), _of(fleet.lines("once"), had_effect)) == written
    assert (await reasons(server, [session])).total() == len(in_flight)


def _keys(name: EventName[Any], events: Sequence[Event]) -> set[str]:
    """The keys of the agents' runs that these events are about."""
    found = [event for event in events if event.name == name]
    return {f"{event.session_id}:{event.payload['run']}" for event in found}


def _of(lines: Sequence[str], keys: Collection[str]) -> list[str]:
    """What the agents with these keys wrote."""
    return [line for line in lines if line.split()[1] in keys]


async def _die_or_answer(server: SuiteServer, living: list[bool]) -> bool:
    await server.answer_all()
    return not any(living)


async def _completed_with_answers(server: SuiteServer, count: int) -> bool:
    await server.answer_all()
    return await server.count("completed") == count


async def _heads(server: SuiteServer, sessions: Sequence[str]) -> list[int]:
    return [await server.log.head(session) for session in sessions]


async def _answer_during(
    fleet: Fleet, outage: AbstractAsyncContextManager[None], *, is_up: bool
) -> float:
    """Answer one session of three during an outage, and the others afterwards.

    is_up: whether the log is there, so that an answer is accepted.
    Returns how many seconds after the outage, or after the answer, the next agent started.
    """
    async with fleet.server() as server, fleet.worker():
        sessions = await server.start(flow.reviewed, 3)
        await stands(server, "waiting", 3)
        [question] = await server.inbox.find(session_id=sessions[0])
        async with outage:
            answering = asyncio.create_task(server.operations.answer(question.id, "yes", by="ada"))
            await asyncio.wait({answering}, timeout=PATIENCE if is_up else _AWAY_FOR)
            assert answering.done() or not is_up
        over = server.clock.monotonic()
        try:
            await answering
        except StoreError:
            assert not is_up
            # Whether it arrived is not known, and people are told to answer again.
            with suppress(AlreadyAnswered):
                await server.operations.answer(question.id, "yes", by="ada")
            over = server.clock.monotonic()
        await stands(server, "completed", 1)
        waited = fleet.moments("ran")[sessions[0]] - over
        assert await server.answer_all() == 2
        await stands(server, "completed", 3)
        await check_ended(server, sessions)
        for session in sessions:
            assert len(list(names.RECEIVED.among(await server.log.read(session)))) == 1
        return waited
