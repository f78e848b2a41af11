"""The seed's table, word for word, and the events beyond it."""

import pytest

from callboard.board.transition import MOVES, NEEDY, STATUSES, Happening, Status, transition
from callboard.events import plates

STARTS = Happening("session_start")
PROMPT = Happening("prompt_submit")
ASKS = Happening("tool_start", tool="AskUserQuestion")
PLANS = Happening("tool_start", tool="ExitPlanMode")
OTHER = Happening("tool_start", tool="Bash")
CALL = Happening("tool_call", tool="Bash")
FAILS = Happening("stop", has_error=True)
STOPS = Happening("stop", has_error=False)
HEALTH = Happening("health_check_recovery")

# The seed's own words, in its order: any status and this event give that status.
WHATEVER_IT_WAS: list[tuple[Happening, Status]] = [
    (STARTS, "running"),
    (PROMPT, "running"),
    (ASKS, "awaiting_input"),
    (PLANS, "awaiting_approval"),
    (OTHER, "running"),
    (CALL, "running"),
    (FAILS, "error"),
    (STOPS, "idle"),
]
AFTER_HEALTH_CHECK: dict[Status, Status] = {
    "starting": "starting",
    "running": "running",
    "idle": "idle",
    "awaiting_input": "idle",
    "awaiting_approval": "idle",
    "error": "idle",
    "closed": "closed",
}
BEYOND: list[tuple[Happening, Status]] = [
    (Happening("permission_request", tool="AskUserQuestion"), "awaiting_input"),
    (Happening("permission_request", tool="ExitPlanMode"), "awaiting_approval"),
    (Happening("permission_request", tool="Bash"), "awaiting_approval"),
    (Happening("permission_request"), "awaiting_approval"),
    (Happening("permission_resolved"), "running"),
    (Happening("turn_idle"), "idle"),
    (Happening("stop_failure"), "error"),
    (Happening("session_end"), "closed"),
    (Happening("process_exit"), "closed"),
]


def test_the_statuses_are_the_seeds():
    assert STATUSES == (
        "starting",
        "running",
        "idle",
        "awaiting_input",
        "awaiting_approval",
        "error",
        "closed",
    )
    assert {"awaiting_input", "awaiting_approval", "error"} == NEEDY


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("event", "after"), WHATEVER_IT_WAS)
def test_the_table_of_the_seed(status: Status, event: Happening, after: Status):
    assert transition(status, event) == after


@pytest.mark.parametrize("status", STATUSES)
def test_the_health_check_of_the_seed(status: Status):
    assert transition(status, HEALTH) == AFTER_HEALTH_CHECK[status]


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("event", "after"), BEYOND)
def test_the_events_beyond_the_seed(status: Status, event: Happening, after: Status):
    assert transition(status, event) == after


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("name", [*sorted(plates.ALL - MOVES), "of_another_version"])
def test_every_other_event_leaves_the_status(status: Status, name: str):
    assert transition(status, Happening(name)) == status


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("name", sorted(plates.ALL))
def test_what_happens_in_a_subagent_leaves_the_status(status: Status, name: str):
    assert transition(status, Happening(name, tool="AskUserQuestion", subagent=True)) == status
