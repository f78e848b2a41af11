"""How the files are written: in which lines, how often, and what a power failure leaves."""

import json
import os
import posix
import stat
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import StoreCorrupt
from callboard.statusfiles import (
    archive,
    create_workflow_state,
    files,
    get_workflow_state,
    update_phase_status,
)

PHASES = [("Create the module", "general-purpose"), ("Write tests", "verifier")]
AN_HOUR = 3600.0
"""Seconds: whatever the machine does meanwhile, two writes are in one burst."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    return tmp_path


def at(root: Path, name: str = "workflow.json") -> Path:
    return root / ".claude" / "state" / name


def loaded(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text())


def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The files, not the folders, that were forced to the disk from now on."""
    waited: list[int] = []
    fsync = posix.fsync

    def forced(opened: int) -> None:
        if stat.S_ISREG(os.fstat(opened).st_mode):
            waited.append(opened)
        fsync(opened)

    monkeypatch.setattr(posix, "fsync", forced)
    return waited


def test_every_field_has_a_line_of_its_own(root: Path):
    id = create_workflow_state("Zwei plus zwei – „vier“", [PHASES[0]])
    update_phase_status(id, "phase_0", "completed", ["a.py", "b.py"], "It\nadds.")
    assert at(root).read_text() == (
        "{\n"
        f'  "id": "{id}",\n'
        '  "task": "Zwei plus zwei – „vier“",\n'
        '  "status": "completed",\n'
        '  "current_phase": "phase_0",\n'
        '  "current_phases": [],\n'
        '  "phases": [\n'
        "    {\n"
        '      "id": "phase_0",\n'
        '      "title": "Create the module",\n'
        '      "agent": "general-purpose",\n'
        '      "status": "completed",\n'
        '      "deliverables": ["a.py", "b.py"],\n'
        '      "context_for_next": "It\\nadds."\n'
        "    }\n"
        "  ]\n"
        "}\n"
    )


def test_phases_of_a_phase_are_a_field_like_any_other(root: Path):
    id = create_workflow_state("the task", PHASES)
    told = loaded(at(root))
    told["phases"][0]["phases"] = [1, {"two": 3}]
    at(root).write_text(json.dumps(told))
    update_phase_status(id, "phase_0", "active")
    assert loaded(at(root))["phases"][0]["phases"] == [1, {"two": 3}]


def test_no_phases_at_all(root: Path):
    create_workflow_state("the task", [])
    assert loaded(at(root))["phases"] == []


def test_in_a_burst_a_copy_of_what_waited_for_the_disk_is_left(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(files, "_BURST", AN_HOUR)
    id = create_workflow_state("the task", PHASES)
    assert not at(root, "workflow.json.safe").exists()
    for number in range(3):
        update_phase_status(id, "phase_0", "active", [str(number)])
    assert loaded(at(root))["phases"][0]["deliverables"] == ["0", "1", "2"]
    assert loaded(at(root, "workflow.json.safe"))["status"] == "pending"


def test_who_waited_for_the_disk_needs_no_copy(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "_BURST", AN_HOUR)
    id = create_workflow_state("the task", PHASES)
    update_phase_status(id, "phase_0", "active")
    monkeypatch.setattr(files, "_BURST", 0.0)
    update_phase_status(id, "phase_0", "completed")
    assert loaded(at(root))["phases"][0]["status"] == "completed"
    assert not at(root, "workflow.json.safe").exists()


def test_a_write_waits_for_the_disk_unless_one_just_did(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    waited = waits(monkeypatch)
    monkeypatch.setattr(files, "_BURST", AN_HOUR)
    id = create_workflow_state("the task", PHASES)
    update_phase_status(id, "phase_0", "active")
    assert len(waited) == 1
    os.utime(at(root, "workflow.json.safe"), (1, 1))  # It was long ago that one waited.
    update_phase_status(id, "phase_0", "active", ["a.py"])
    assert len(waited) == 2


def test_every_write_waits_where_there_can_be_no_copy(root: Path, monkeypatch: pytest.MonkeyPatch):
    waited = waits(monkeypatch)
    monkeypatch.setattr(files, "_BURST", AN_HOUR)

    def no_links(source: str, name: str, **_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    id = create_workflow_state("the task", PHASES)
    for number in (2, 3):
        update_phase_status(id, "phase_0", "active", [str(number)])
        assert len(waited) == number


def test_what_a_power_failure_emptied_is_told_with_the_copy(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(files, "_BURST", AN_HOUR)
    id = create_workflow_state("the task", PHASES)
    update_phase_status(id, "phase_0", "active")
    at(root).write_bytes(b"\0" * 200)
    with pytest.raises(StoreCorrupt, match=r"An earlier state is in .*workflow\.json\.safe"):
        get_workflow_state()
    at(root, "workflow.json.safe").replace(at(root))  # As the message says.
    update_phase_status(id, "phase_0", "active")
    assert loaded(at(root))["status"] == "active"


def test_the_copy_of_a_broken_file_is_set_aside_with_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(files, "_BURST", AN_HOUR)
    first = create_workflow_state("the first task", PHASES)
    update_phase_status(first, "phase_0", "active")
    at(root).write_text("{")
    with pytest.warns(UserWarning, match="was broken"):
        create_workflow_state("the next task", PHASES)
    assert loaded(at(root, "workflow.json.broken-1.safe"))["id"] == first
    assert not at(root, "workflow.json.safe").exists()


def test_of_what_is_archived_no_copy_stays(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "_BURST", AN_HOUR)
    id = create_workflow_state("the task", PHASES)
    update_phase_status(id, "phase_0", "active")
    archive()
    assert not at(root, "workflow.json.safe").exists()


def test_a_report_that_says_the_same_is_left_alone(root: Path):
    report = root / ".claude" / "workflow_state_system.md"
    id = create_workflow_state("the task", PHASES)
    before = report.stat()
    update_phase_status(id, "phase_0", "pending", context_for_next="Something else.")
    assert report.stat() == before
    update_phase_status(id, "phase_0", "active")
    assert "Current Phase: Create the module" in report.read_text()


def test_a_start_that_is_no_moment_keeps_nobody_from_the_end(root: Path):
    id = create_workflow_state("the task", PHASES, details=True)
    told = loaded(at(root))
    told["phases"][0]["started_at"] = "this morning"
    told["phases"][1]["started_at"] = "2026-11-16T05:00:00"
    at(root).write_text(json.dumps(told))
    for phase in ("phase_0", "phase_1"):
        update_phase_status(id, phase, "completed")
    assert loaded(at(root))["status"] == "completed"
