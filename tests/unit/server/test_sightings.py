"""What the server believes of what a relay saw."""

from typing import Any

import pytest

from callboard.board.plate import Pending, Plate, Unsettled
from callboard.server.sightings import signal_of

RUNNING = Plate("p1", "claude", "s1", 1, 2, status="running", status_at=7, pid=4, proc_start="9")
ASKED = RUNNING.having(
    pending=(Pending("q1", "Bash", "", "?", 3),), unsettled=(Unsettled("q2", "Bash", "", 3, 4),)
)


def seen(event: str, plate: Plate = RUNNING, **more: Any) -> tuple[str, Any] | None:
    payload = {key: more.pop(key) for key in [*more] if key not in ("pid", "start", "statusAt")}
    told = {"event": event, "payload": payload, "pid": 4, "start": "9", "statusAt": 7, **more}
    found = signal_of(told, plate)
    return None if found is None else (found.name, found.payload)


def test_the_end_of_a_turn():
    told: dict[str, Any] = {"interrupted": True, "seenIn": "transcript"}
    assert seen("turn_idle", **told) == ("turn_idle", told)
    assert seen("turn_idle", seenIn="silence") == ("turn_idle", {"seenIn": "silence"})
    assert seen("stop", seenIn="transcript") == ("stop", {"seenIn": "transcript"})
    assert seen("process_exit") == ("process_exit", {})


@pytest.mark.parametrize("late", [{"statusAt": 6}, {"pid": 5}, {"start": "8"}])
def test_what_was_seen_about_an_earlier_state_is_ignored(late: dict[str, Any]):
    assert seen("turn_idle", seenIn="registry", **late) is None


def test_outcomes_are_about_requests_of_the_plate():
    outcome: dict[str, Any] = {
        "outcome": "denied",
        "source": "transcript",
        "message": "no",
        "final": True,
    }
    for event, request in (("permission_resolved", "q1"), ("permission_settled", "q2")):
        expected = (event, {"request": request, **outcome})
        assert seen(event, ASKED, request=request, **outcome) == expected
        assert seen(event, ASKED, request="q3", **outcome) is None
        assert seen(event, RUNNING, request=request, **outcome) is None
    closed = ASKED.having(status="closed")
    assert seen("permission_settled", closed, request="q2", **outcome) is not None
    assert seen("permission_resolved", closed, request="q1", **outcome) is None


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("session_start", {"source": "startup"}),
        ("turn_idle", {"seenIn": "the stars"}),
        ("stop", {}),
        ("permission_settled", {"request": ["q2"]}),
        ("input:received", {"id": "q1", "value": "yes"}),
    ],
)
def test_anything_else_is_ignored(event: str, payload: dict[str, Any]):
    assert seen(event, ASKED, **payload) is None


def test_unknown_outcomes_are_unknown():
    told = {"outcome": "granted", "source": "board", "via": 3, "message": [], "answers": {"a": 1}}
    found = seen("permission_settled", ASKED, request="q2", **told)
    expected = {"request": "q2", "outcome": "unknown", "source": "silence"}
    assert found == ("permission_settled", expected)
