"""Crash at every append, recover, and the end is that of the run that was never crashed."""

import asyncio
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from tests.faults.flows import SCENARIOS, Scenario
from tests.faults.playing import MemoryStore, Plan, Played, Player, SqliteStore

from callboard.engine.decide import GIVE_UP, GO_ON, RUN_AGAIN
from callboard.engine.phase import Uncertain
from callboard.errors import StoreBusy
from callboard.events import names
from callboard.events.json_values import as_object, as_text
from callboard.testing.faults import FaultyLog

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
both_ways = pytest.mark.parametrize("handler", [False, True], ids=["inbox", "handler"])


@cache
def uncrashed(name: str, handler: bool = False) -> Played:
    """The run that all others are compared with, once for each scenario."""
    scenario = next(one for one in SCENARIOS if one.name == name)
    return asyncio.run(Player(scenario, MemoryStore(), handler=handler).play())


def before(append: int) -> Plan:
    return lambda log: log.crash(before=append)


def after(append: int) -> Plan:
    return lambda log: log.crash(after=append)


def faults(count: int) -> list[Plan]:
    return [make(append) for append in range(1, count + 1) for make in (before, after)]


def check_same(played: Played, plain: Played) -> None:
    """Nothing is lost, nothing is repeated; what was in flight ran once more for each crash."""
    assert played.ending == plain.ending
    assert max(played.ending.completed.values(), default=1) == 1
    for run, calls in played.world.calls.items():
        assert calls <= plain.world.calls[run] + played.crashes, run
    check_effects(played)


def check_effects(played: Played) -> None:
    """An effect that was recorded happened, and is not repeated after its record."""
    recorded = Counter(
        event.payload["run"] for event in played.events if event.name == names.ONCE_COMPLETED
    )
    done = Counter(key.split(":")[1] for key in played.world.effects)
    assert done == recorded
    assert all(count <= 1 + played.crashes for count in played.world.effects.values())


@every_scenario
@both_ways
def test_a_run_that_is_not_crashed_ends(scenario: Scenario, handler: bool):
    plain = uncrashed(scenario.name, handler)
    assert (plain.ending.status, plain.crashes) == ("completed", 0)
    assert set(plain.world.effects.values()) <= {1}


@every_scenario
@both_ways
def test_crash_at_every_append(scenario: Scenario, handler: bool):
    plain = uncrashed(scenario.name, handler)
    for fault in faults(plain.appends):
        played = asyncio.run(Player(scenario, MemoryStore(), [fault], handler).play())
        assert played.crashes == 1
        check_same(played, plain)


@every_scenario
@pytest.mark.parametrize(
    "handler",
    [False, pytest.param(True, marks=pytest.mark.long)],
    ids=["inbox", "handler"],
)
def test_a_store_that_fails_at_any_append_loses_nothing(scenario: Scenario, handler: bool):
    """The process lives, hears of it, and drives the session again."""
    plain = uncrashed(scenario.name, handler)
    for append in range(1, plain.appends + 1):
        for when in ("before", "after"):

            def fail(log: FaultyLog, at: dict[str, int] = {when: append}) -> None:  # noqa: B006
                log.fail(StoreBusy(), **at)

            played = asyncio.run(Player(scenario, MemoryStore(), [fail], handler).play())
            check_same(played, plain)


def check_file(scenario: Scenario, folder: Path, plans: list[Plan]) -> None:
    plain = uncrashed(scenario.name)
    for number, fault in enumerate(plans):
        store = SqliteStore(folder / f"{number}.db")
        played = asyncio.run(Player(scenario, store, [fault]).play())
        check_same(played, plain)


@every_scenario
def test_crash_at_every_append_to_a_file(scenario: Scenario, tmp_path: Path):
    """Before one append and after the next; the long run tries both for each."""
    plans = faults(uncrashed(scenario.name).appends)
    check_file(scenario, tmp_path, [*plans[::4], *plans[3::4]])


@pytest.mark.long
@every_scenario
def test_crash_around_every_append_to_a_file(scenario: Scenario, tmp_path: Path):
    check_file(scenario, tmp_path, faults(uncrashed(scenario.name).appends))


@pytest.mark.long
@every_scenario
@both_ways
def test_crash_twice(scenario: Scenario, handler: bool):
    """The second process dies too, at each of its own appends."""
    plain = uncrashed(scenario.name, handler)
    for first in faults(plain.appends):
        for second in faults(plain.appends):
            played = asyncio.run(Player(scenario, MemoryStore(), [first, second], handler).play())
            check_same(played, plain)


@every_scenario
def test_crash_again_and_again(scenario: Scenario):
    """No process lives for longer than three appends."""
    plain = uncrashed(scenario.name)
    for make in (before, after):
        plans = [make(3)] * 30
        played = asyncio.run(Player(scenario, MemoryStore(), plans).play())
        assert played.crashes >= 1
        check_same(played, plain)


def uncertain(scenario: Scenario, policy: Uncertain, verdict: str = RUN_AGAIN) -> list[Played]:
    """Every crash that caught an agent in flight; the others end like the plain run."""
    plain = uncrashed(scenario.name)
    caught: list[Played] = []
    for fault in faults(plain.appends):
        player = Player(scenario, MemoryStore(), [fault], uncertain=policy, verdict=verdict)
        played = asyncio.run(player.play())
        if lost(played):
            caught.append(played)
        else:
            check_same(played, plain)
    assert caught
    return caught


def lost(played: Played) -> list[str]:
    """The runs that a crash caught in flight."""
    return [
        as_text(e.payload["run"]) for e in played.events if e.payload.get("reason") == "crashed"
    ]


@every_scenario
def test_a_person_can_be_asked_about_what_was_lost(scenario: Scenario):
    """With on_uncertain="ask", nothing runs again before somebody says so."""
    for played in uncertain(scenario, "ask"):
        check_same(played, uncrashed(scenario.name))
        asked = [e for e in played.events if as_text(e.payload.get("key")).startswith("uncertain:")]
        assert [e.payload["run"] for e in asked] == lost(played)


@every_scenario
@pytest.mark.parametrize(("verdict", "ends"), [(GO_ON, "completed"), (GIVE_UP, "failed")])
def test_what_a_person_says_of_it_is_done(scenario: Scenario, verdict: str, ends: str):
    for played in uncertain(scenario, "ask", verdict):
        assert played.ending.status == ends
        check_never_again(played)


@every_scenario
def test_what_was_lost_may_fail_the_workflow(scenario: Scenario):
    """With on_uncertain="fail", no agent is ever run again after a crash."""
    for played in uncertain(scenario, "fail"):
        assert as_object(played.events[-1].payload["error"])["code"] == "AGENT_UNCERTAIN"
        check_never_again(played)


def check_never_again(played: Played) -> None:
    """After a run was lost, it has not been started again."""
    gone: set[str] = set()
    for event in played.events:
        if event.payload.get("reason") == "crashed":
            gone.add(as_text(event.payload["run"]))
        assert event.name != names.AGENT_STARTED or event.payload["run"] not in gone
