"""Status files by other hands, by other versions, and on disks that are full."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import ConflictError, StoreCorrupt
from callboard.statusfiles import (
    advance,
    create_workflow_state,
    generate_markdown,
    get_workflow_state,
    update_phase_status,
)

FULL = 600
"""Bytes that still fit on the disk, in any one file."""

UPDATE = """
import sys
from callboard.errors import StoreError
from callboard.statusfiles import create_workflow_state, update_phase_status

try:
    if sys.argv[1] == "create":
        create_workflow_state("x" * 2000, [("a", "b")], path=sys.argv[2])
    else:
        update_phase_status(sys.argv[1], "phase_0", "active", ["x" * 2000], path=sys.argv[2])
except StoreError as error:
    print(error.message)
"""


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, FULL))


def on_a_full_disk(what: str, root: Path) -> str:
    """What a process says whose files cannot grow."""
    command = [sys.executable, "-c", UPDATE, what, str(root)]
    done = subprocess.run(
        command, preexec_fn=limit_files, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


def everything(root: Path) -> dict[str, bytes]:
    """All files but locks, which say nothing, and safe copies, which say what was before."""
    files = [file for file in root.rglob("*") if file.suffix not in (".lock", ".safe")]
    return {str(file.relative_to(root)): file.read_bytes() for file in files if file.is_file()}


def test_on_a_full_disk_an_update_changes_nothing_and_says_so(tmp_path: Path):
    id = create_workflow_state("x", [("a", "b")], path=tmp_path)
    before = everything(tmp_path)

    said = on_a_full_disk(id, tmp_path)

    assert "workflow.json: " in said
    assert said.endswith("Nothing was changed.\n")
    assert everything(tmp_path) == before
    update_phase_status(id, "phase_0", "active", path=tmp_path)


def test_on_a_full_disk_nothing_is_created_by_half(tmp_path: Path):
    assert "Nothing was changed.\n" in on_a_full_disk("create", tmp_path)
    assert get_workflow_state(path=tmp_path) is None
    assert everything(tmp_path) == {}


def written(root: Path, workflow: dict[str, Any]) -> None:
    file = root / ".claude/state/workflow.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(workflow), encoding="utf-8")


def test_a_file_by_hand_with_the_least_that_makes_sense_is_gone_on_with(tmp_path: Path):
    phases = [{"id": "dig", "title": "Dig", "status": "pending"}]
    written(tmp_path, {"id": "mine", "task": "Dig", "status": "pending", "phases": phases})

    assert [phase["id"] for phase in advance("mine", path=tmp_path)] == ["dig"]
    update_phase_status("mine", "dig", "completed", ["a hole"], "It is deep.", path=tmp_path)

    workflow = get_workflow_state(path=tmp_path)
    assert workflow is not None
    assert (workflow["status"], workflow["current_phase"]) == ("completed", "dig")
    assert workflow["phases"] == [
        {
            "id": "dig",
            "title": "Dig",
            "status": "completed",
            "deliverables": ["a hole"],
            "context_for_next": "It is deep.",
        }
    ]


def test_a_file_of_a_newer_version_keeps_what_it_says(tmp_path: Path):
    newer: dict[str, Any] = {
        "version": 9,
        "id": "wf_1",
        "task": "x",
        "status": "active",
        "current_phase": "phase_0",
        "phases": [
            {"id": "phase_0", "title": "a", "agent": "b", "status": "active", "mood": "good"},
            {"id": "phase_1", "title": "c", "agent": "d", "status": "blocked", "by": ["phase_0"]},
        ],
    }
    written(tmp_path, newer)

    update_phase_status("wf_1", "phase_0", "completed", path=tmp_path)

    workflow = get_workflow_state(path=tmp_path)
    assert workflow is not None
    assert workflow["version"] == 9
    assert workflow["phases"][0]["mood"] == "good"
    assert workflow["phases"][1] == newer["phases"][1]
    assert "- [ ] Phase 1: c\n" in generate_markdown(workflow)
    with pytest.raises(ConflictError, match="phase_1 is blocked and cannot become active"):
        update_phase_status("wf_1", "phase_1", "active", path=tmp_path)


BY_HAND: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("it has no 'id'", {"id": 5}, {}),
    ("it has no 'task'", {"task": None}, {}),
    ("it has no 'status'", {"status": []}, {}),
    ("it has no 'phases'", {"phases": {}}, {}),
    ("phase 0 has no 'id'", {"phases": ["dig"]}, {}),
    ("phase 1 has no 'id'", {}, {"id": 0}),
    ("phase 1 has no 'title'", {}, {"title": 5}),
    ("phase 1 has no 'status'", {}, {"status": ["active"]}),
    ("phase 1 has no 'deliverables'", {}, {"deliverables": "calc.py"}),
    ("phase 1 has no 'depends_on'", {}, {"depends_on": "phase_0"}),
    ("phase 1 has no 'depends_on'", {}, {"depends_on": 5}),
    ("phase 1 has no 'attempts'", {}, {"attempts": "1"}),
]


def by_hand(workflow: dict[str, Any], phase: dict[str, Any]) -> dict[str, Any]:
    phases = [
        {"id": "phase_0", "title": "a", "status": "active"},
        {"id": "phase_1", "title": "b", "status": "pending", **phase},
    ]
    return {"id": "wf_1", "task": "x", "status": "active", "phases": phases, **workflow}


@pytest.mark.parametrize(("says", "workflow", "phase"), BY_HAND)
def test_what_somebody_wrote_with_another_type_is_named(
    tmp_path: Path, says: str, workflow: dict[str, Any], phase: dict[str, Any]
):
    written(tmp_path, by_hand(workflow, phase))
    calls: list[Callable[[], Any]] = [
        lambda: get_workflow_state(path=tmp_path),
        lambda: advance("wf_1", path=tmp_path),
        lambda: update_phase_status("wf_1", "phase_1", "active", ["b"], path=tmp_path),
    ]
    for call in calls:
        with pytest.raises(StoreCorrupt, match=says):
            call()
    with pytest.warns(UserWarning, match="was broken"):
        create_workflow_state("x", [("a", "b")], path=tmp_path)


@pytest.mark.parametrize(
    "phase",
    [
        {"deliverables": None, "depends_on": None, "attempts": None},
        {"depends_on": ["phase_0", ["no phase"]]},
        {"started_at": "yesterday", "completed_at": 7},
        {"started_at": "2026-01-01T00:00:00", "duration_ms": None},
        {"wave": [], "error": {}, "context_for_next": 5},
    ],
)
def test_what_can_be_gone_on_with_is(tmp_path: Path, phase: dict[str, Any]):
    written(tmp_path, by_hand({}, phase))
    update_phase_status("wf_1", "phase_0", "completed", path=tmp_path)
    advance("wf_1", path=tmp_path)
    update_phase_status("wf_1", "phase_1", "active", path=tmp_path)
    update_phase_status("wf_1", "phase_1", "completed", ["b"], path=tmp_path)
    workflow = get_workflow_state(path=tmp_path)
    assert workflow is not None
    assert (workflow["status"], workflow["phases"][1]["deliverables"]) == ("completed", ["b"])
