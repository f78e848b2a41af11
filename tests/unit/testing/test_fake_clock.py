"""A clock that a test moves."""

import asyncio
import time
from contextlib import suppress

import pytest

from callboard.testing.fake_clock import FakeClock


async def sleeper(clock: FakeClock, seconds: float, woken: list[tuple[str, float]], name: str):
    await clock.sleep(seconds)
    woken.append((name, clock.monotonic()))


async def test_it_stands_still_until_it_is_moved():
    clock = FakeClock(start_ms=1000)
    await asyncio.sleep(0)
    assert (clock.now_ms(), clock.monotonic()) == (1000, 0.0)
    await clock.advance(1.5)
    assert (clock.now_ms(), clock.monotonic()) == (2500, 1.5)


async def test_who_is_due_wakes_in_order_and_at_its_own_moment():
    clock, woken = FakeClock(), []
    tasks = [
        asyncio.create_task(sleeper(clock, seconds, woken, name))
        for name, seconds in [("c", 3), ("a", 1), ("b", 2), ("d", 9)]
    ]
    await clock.advance(5)
    assert woken == [("a", 1.0), ("b", 2.0), ("c", 3.0)]
    assert (clock.monotonic(), clock.sleepers) == (5.0, 1)
    await clock.advance(4)
    await asyncio.gather(*tasks)
    assert clock.sleepers == 0


async def test_who_sleeps_again_wakes_again_within_one_advance():
    clock, ticks = FakeClock(), []

    async def tick():
        while True:
            await clock.sleep(10)
            ticks.append(clock.monotonic())

    task = asyncio.create_task(tick())
    await clock.advance(35)
    assert ticks == [10.0, 20.0, 30.0]
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_woken_sleeper_runs_as_far_as_it_can_before_advance_returns():
    clock, steps = FakeClock(), []

    async def work():
        await clock.sleep(1)
        for step in range(50):
            await asyncio.sleep(0)
            steps.append(step)

    task = asyncio.create_task(work())
    await clock.advance(1)
    assert len(steps) == 50
    await task


async def test_sleeping_for_no_time_gives_the_others_a_turn():
    clock, ran = FakeClock(), []
    asyncio.get_running_loop().call_soon(ran.append, True)
    await clock.sleep(0)
    await clock.sleep(-1)
    assert ran == [True]


async def test_autojump_moves_to_the_next_sleeper_when_all_is_idle():
    clock, woken = FakeClock(autojump=True), []
    await asyncio.gather(
        sleeper(clock, 30, woken, "later"),
        sleeper(clock, 0.3, woken, "sooner"),
    )
    assert woken == [("sooner", 0.3), ("later", 30.0)]


async def test_autojump_waits_for_whoever_still_works():
    clock, seen = FakeClock(autojump=True), []

    async def work():
        for _ in range(500):
            await asyncio.sleep(0)
        seen.append(clock.monotonic())

    await asyncio.gather(work(), clock.sleep(10))
    assert seen == [0.0]


async def test_autojump_does_not_move_to_someone_who_was_cancelled():
    clock = FakeClock(autojump=True)
    task = asyncio.create_task(clock.sleep(5))
    await asyncio.sleep(0)
    task.cancel()
    await clock.sleep(60)
    assert clock.monotonic() == 60.0


async def test_autojump_goes_on_by_advance_too():
    clock, woken = FakeClock(autojump=True), []
    task = asyncio.create_task(sleeper(clock, 3, woken, "a"))
    await clock.advance(3.5)
    assert (woken, clock.monotonic()) == ([("a", 3.0)], 3.5)
    await task


async def test_it_leaves_no_task_behind():
    clock = FakeClock(autojump=True)
    await clock.sleep(1)
    await clock.advance(1)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_thread_is_waited_for_when_there_is_to_be_quiet():
    clock = FakeClock(autojump=True, quiet=0.05)
    sleeping = asyncio.create_task(clock.sleep(10))

    def look() -> float:
        return clock.monotonic()

    assert await asyncio.to_thread(look) == 0.0
    await sleeping
    assert clock.monotonic() == 10.0


@pytest.mark.parametrize("quiet", [0.0, 0.001])
async def test_a_clock_that_is_held_does_not_jump(quiet: float):
    clock = FakeClock(autojump=True, quiet=quiet)
    sleeping = asyncio.create_task(clock.sleep(10))
    with clock.held():
        await asyncio.to_thread(time.sleep, 0.02)
        assert clock.monotonic() == 0.0
    await sleeping
    assert clock.monotonic() == 10.0


async def test_the_rest_of_a_rounding_error_passes():
    clock = FakeClock(autojump=True)
    left, begun = 0.3, clock.monotonic()
    for _ in range(3):
        await clock.sleep(0.1)
        left -= clock.monotonic() - begun
        begun = clock.monotonic()
    while left > 0:
        await clock.sleep(left)
        left -= clock.monotonic() - begun
        begun = clock.monotonic()
    assert clock.monotonic() == pytest.approx(0.3, abs=1e-6)


def test_one_clock_serves_one_loop_after_another():
    clock = FakeClock(autojump=True)
    asyncio.run(clock.sleep(1))
    asyncio.run(clock.sleep(1))
    assert clock.monotonic() == 2.0


async def test_a_busy_loop_does_not_hold_the_clock_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("callboard.testing.fake_clock._MOST_TURNS", 100)
    clock = FakeClock()

    async def poll():
        while True:
            await asyncio.sleep(0)

    task = asyncio.create_task(poll())
    await clock.advance(1)
    assert clock.monotonic() == 1.0
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_skipping_wakes_in_the_next_turn_of_the_loop():
    clock, woken = FakeClock(), []
    task = asyncio.create_task(sleeper(clock, 1, woken, "a"))
    await asyncio.sleep(0)
    clock.skip(2)
    assert (woken, clock.monotonic()) == ([], 2.0)
    await task
    assert woken == [("a", 2.0)]


async def test_whoever_looks_at_the_clock_is_given_quiet():
    clock = FakeClock(autojump=True, quiet=0.01)
    sleeping = asyncio.create_task(clock.sleep(10))
    for _ in range(5):
        await asyncio.sleep(0.005)
        assert clock.monotonic() == 0.0
    await sleeping


async def test_another_kind_of_loop_is_refused(monkeypatch: pytest.MonkeyPatch):
    clock = FakeClock()
    monkeypatch.setattr(asyncio, "get_running_loop", object)
    with pytest.raises(NotImplementedError, match="asyncio's own"):
        await clock.advance(1)
