"""Writers go in one by one, and whoever waits is next."""

import os
from pathlib import Path

import pytest

from callboard.errors import StoreBusy
from callboard.log.write_lock import Turnstile


@pytest.fixture
def turnstiles(tmp_path: Path):
    made = [Turnstile(tmp_path) for _ in range(3)]
    yield made
    for turnstile in made:
        turnstile.close()


def test_one_at_a_time(turnstiles: list[Turnstile]):
    first, second, _ = turnstiles
    assert first.try_enter()
    assert not second.try_enter()
    first.leave()
    assert second.try_enter()


def test_nobody_slips_past_somebody_who_waits(turnstiles: list[Turnstile]):
    first, waiting, third = turnstiles
    assert first.try_enter()
    assert waiting._next.take()
    first.leave()
    # `main` is free, and yet neither a newcomer nor the last one inside gets it.
    assert not third.try_enter()
    assert not first.try_enter()
    assert waiting._main.take()


def test_trying_in_vain_leaves_nothing_behind(turnstiles: list[Turnstile]):
    first, second, third = turnstiles
    assert first.try_enter()
    assert not second.try_enter()
    first.leave()
    assert third.try_enter()


def test_waiting_ends_with_the_name_of_the_holder(turnstiles: list[Turnstile]):
    first, second, third = turnstiles
    first.enter(1)
    with pytest.raises(StoreBusy, match=f"pid {os.getpid()}") as busy:
        second.enter(0.01)
    assert busy.value.context["holder"] == str(os.getpid())
    first.leave()
    third.enter(1)


def test_who_holds_up_the_queue_is_named_too(turnstiles: list[Turnstile]):
    first, second, third = turnstiles
    assert first.try_enter()
    assert second._next.take()
    second._next.sign()
    with pytest.raises(StoreBusy, match=f"pid {os.getpid()}"):
        third.enter(0)


def test_a_lock_that_nobody_signed_has_an_unknown_holder(turnstiles: list[Turnstile]):
    assert turnstiles[0]._main.signature() == "unknown"


def test_the_lock_files_are_private(turnstiles: list[Turnstile], tmp_path: Path):
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
