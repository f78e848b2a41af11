"""When a plate is stuck, and when to look."""

from itertools import pairwise

from callboard.board.watchdog import (
    HEALTH_CHECK_INTERVAL_SECS,
    MAX_RECOVERY_TIME_SECS,
    STALENESS_THRESHOLD_SECS,
    Checks,
    is_stale,
)


def test_the_constants_of_the_seed():
    assert HEALTH_CHECK_INTERVAL_SECS == 10
    assert STALENESS_THRESHOLD_SECS == 2
    assert MAX_RECOVERY_TIME_SECS == 12


def test_a_transcript_has_to_be_more_than_two_seconds_newer():
    assert not is_stale(1002, 1000)
    assert is_stale(1003, 1000)
    assert is_stale(1002.001, 1000)
    assert not is_stale(990, 1000)


def test_the_first_check_is_at_once_and_then_every_ten_seconds():
    checks = Checks()
    assert [second for second in range(100, 141) if checks.due(second)] == [100, 110, 120, 130, 140]


def test_after_sleep_there_is_a_grace_period():
    checks = Checks()
    assert checks.due(100)
    assert not checks.due(131), "thirty-one seconds without a look: we slept"
    assert not checks.due(140.9)
    assert checks.due(141)


def test_a_check_that_is_late_but_awake_is_made():
    checks = Checks()
    assert checks.due(100)
    assert checks.due(130)


def test_a_clock_that_was_set_back_does_not_keep_us_from_looking():
    checks = Checks()
    assert checks.due(10_000)
    assert checks.due(4000)
    assert not checks.due(4009)
    assert checks.due(4010)


def test_who_looks_only_now_and_then_looks_early_rather_than_late():
    checks, made = Checks(looks_every=0.25), list[float]()
    for look in range(200):
        now = 100 + look * 0.26  # Each look takes a little time itself.
        if checks.due(now):
            made.append(now)
    gaps = [b - a for a, b in pairwise(made)]
    assert gaps
    assert all(9.7 < gap <= 10 for gap in gaps)


def test_what_floating_numbers_cannot_hold_makes_no_check_late():
    checks = Checks()
    assert checks.due(1014.003)
    assert checks.due(1024.003)
