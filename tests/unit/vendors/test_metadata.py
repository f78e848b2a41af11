"""What our own client adds to a payload, and what others may have put there."""

from typing import Any

import pytest

from callboard.events.event_name import Entry
from callboard.vendors.metadata import with_sender
from callboard.vendors.reports import Report

BARE = Report("claude", "s1", (Entry("stop", {}),))


def told(callboard: Any) -> Report:
    return with_sender(BARE, {"callboard": callboard})


def test_everything_it_tells_is_in_the_report():
    report = told(
        {
            "pid": 42,
            "proc_start": "100639",
            "tmux_pane": "%3",
            "git_branch": "main",
            "sent_at": 1_769_860_800_000,
            "hold": "h-1",
            "delivery": "d-1",
        }
    )
    assert (report.pid, report.proc_start, report.tmux_target) == (42, "100639", "%3")
    assert (report.git_branch, report.at_ms, report.hold) == ("main", 1_769_860_800_000, "h-1")
    assert (report.gone, report.delivery, report.signals) == (False, "d-1", BARE.signals)


@pytest.mark.parametrize("odd", [None, 5, "text", [], [1], True, {}])
def test_what_is_no_object_tells_nothing(odd: Any):
    assert told(odd) == BARE
    assert with_sender(BARE, {}) == BARE


@pytest.mark.parametrize("odd", [True, False, 0, -1, 1.5, "42", None, 2**31, 10**30, [], "nan"])
def test_a_pid_is_a_positive_number(odd: Any):
    assert told({"pid": odd}).pid is None


@pytest.mark.parametrize("odd", [True, 0, -5, 1.5, "now", None, 10**30, float("nan"), float("inf")])
def test_a_moment_is_a_positive_number(odd: Any):
    assert told({"sent_at": odd}).at_ms is None


def test_a_moment_may_be_written_with_a_point():
    assert told({"sent_at": 1000.0}).at_ms == 1000


def test_the_start_of_a_process_may_be_a_number():
    assert told({"proc_start": 100639}).proc_start == "100639"
    assert told({"proc_start": True}).proc_start is None


@pytest.mark.parametrize("odd", ["", " ", "-x", "../../etc", "a b", "x" * 129, "ü", 5, None, "a\n"])
def test_a_hold_and_a_delivery_are_ids(odd: Any):
    assert told({"hold": odd}).hold is None
    assert told({"delivery": odd}).delivery is None


def test_a_hook_that_is_gone_asks_nothing():
    report = told({"hold": "h1", "gone": True})
    assert (report.gone, report.signals) == (True, ())


@pytest.mark.parametrize("odd", [{"gone": True}, {"hold": "h1", "gone": 1}, {"hold": "h1"}])
def test_only_a_hook_that_was_held_can_be_gone(odd: Any):
    assert not told(odd).gone


@pytest.mark.parametrize("field", ["tmux_pane", "git_branch"])
@pytest.mark.parametrize("odd", ["", 5, None, [], "x" * 1000])
def test_odd_words_are_not_there(field: str, odd: Any):
    assert told({field: odd}) == BARE


def test_halves_of_characters_are_replaced():
    assert told({"git_branch": "a\ud800b"}).git_branch == "a?b"
