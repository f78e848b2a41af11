"""Logs that earlier releases wrote still fold to what they meant then.

`NAME.jsonl` holds a session's events as they were served, `NAME.json` the view they fold to. A
release adds files here and never edits them.
"""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import pytest

from callboard.events import names
from callboard.events.envelope import Event
from callboard.events.moments import to_ms
from callboard.events.upcast import Upcaster, upcast
from callboard.state.fold import fold

HISTORIES = sorted(Path(__file__).parent.glob("*.jsonl"))


def read(path: Path) -> list[Event]:
    events: list[Event] = []
    for line in path.read_text().splitlines():
        wire = json.loads(line)
        version, payload = upcast(wire["name"], wire["version"], wire["payload"])
        moment = to_ms(datetime.fromisoformat(wire["timestamp"]))
        events.append(
            Event(
                wire["id"],
                wire["sessionId"],
                wire["position"],
                wire["name"],
                version,
                payload,
                moment,
                wire["causedBy"],
            )
        )
    return events


@pytest.mark.parametrize("history", HISTORIES, ids=lambda path: path.stem)
def test_an_old_log_folds_to_what_it_meant(history: Path) -> None:
    expected = json.loads(history.with_suffix(".json").read_text())
    assert asdict(fold(read(history))) == expected


@pytest.mark.parametrize("history", HISTORIES, ids=lambda path: path.stem)
def test_every_prefix_folds_and_can_be_folded_on(history: Path) -> None:
    events = read(history)
    for split in range(len(events) + 1):
        assert fold(events[split:], fold(events[:split])) == fold(events)


def test_there_is_a_history_and_it_is_rich() -> None:
    told = {event.name for history in HISTORIES for event in read(history)}
    assert {names.FORKED, names.PHASE_FAILED, names.ONCE_COMPLETED, names.TEXT_DELTA} <= told


def test_upcasters_lift_step_by_step_and_leave_the_unknown_alone() -> None:
    steps: dict[tuple[str, int], Upcaster] = {
        ("a:b", 1): lambda payload: {"name": payload["title"]},
        ("a:b", 2): lambda payload: {**payload, "tags": []},
    }
    assert upcast("a:b", 1, {"title": "x"}, steps) == (3, {"name": "x", "tags": []})
    assert upcast("a:b", 3, {"name": "x"}, steps) == (3, {"name": "x"})
    assert upcast("not:known", 7, {"x": 1}, steps) == (7, {"x": 1})
