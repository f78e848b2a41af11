"""The code patterns of the hybrid workflow state design, word for word, on our status files.

Where the design leaves out a function (`read_json`, `write_json`, `Task`), the test has it. One
pattern cannot run in Python: `workflow["phases"][workflow["current_phase"]]` takes an item of a
list by a text, so the phase is looked up by its id instead.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.statusfiles import (
    advance,
    create_workflow_state,
    generate_markdown,
    get_workflow_state,
    update_phase_status,
)

TASK_ = "Create calculator.py with tests and verify they pass"
PHASES = [
    ("Create calculator module", "general-purpose"),
    ("Write and run tests", "task-completion-verifier"),
]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".claude").mkdir()
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def read_json(path: str) -> Any:
    return json.loads(Path(path).read_text())


def write_json(path: str, data: Any) -> None:
    Path(path).write_text(json.dumps(data, indent=2))


def report() -> str:
    return Path(".claude/workflow_state_system.md").read_text()


def phase_transition(Task: Callable[..., None]) -> None:  # noqa: N803 - the design calls it so
    """Section 6.3, as it is written there."""
    # fmt: off
    workflow = read_json(".claude/state/workflow.json")
    current_idx = int(workflow["current_phase"].split("_")[1])
    next_idx = current_idx + 1

    if next_idx < len(workflow["phases"]):
        workflow["current_phase"] = f"phase_{next_idx}"
        workflow["phases"][next_idx]["status"] = "active"
        workflow["status"] = "active"
        write_json(".claude/state/workflow.json", workflow)

        # Spawn next agent with context
        next_phase = workflow["phases"][next_idx]
        Task(
            agent=next_phase["agent"],
            task=f"{next_phase['title']}\n\nContext: {workflow['phases'][current_idx]['context_for_next']}"  # noqa: E501 - word for word
        )
    else:
        # All phases complete
        workflow["status"] = "completed"
        workflow["current_phase"] = None
    # fmt: on


def work_on(deliverables: list[str]) -> None:
    """Section 6.2: a worker reads its phase, and writes what it made."""
    workflow = read_json(".claude/state/workflow.json")
    my_phase = next(one for one in workflow["phases"] if one["id"] == workflow["current_phase"])
    update_phase_status(
        workflow["id"],
        my_phase["id"],
        status="completed",
        deliverables=deliverables,
        context_for_next="Created calculator.py at /path with 4 functions",
    )


def test_the_phase_transition_of_the_design():
    """Section 6.3 between two phases, and the report after it."""
    spawned: list[dict[str, str]] = []
    id = create_workflow_state(TASK_, PHASES)
    advance(id)
    work_on(["/path/to/calculator.py", "add, subtract, multiply, divide functions"])
    assert read_json(".claude/state/workflow.json")["current_phase"] == "phase_0"

    phase_transition(lambda **given: spawned.append(given))
    assert spawned == [
        {
            "agent": "task-completion-verifier",
            "task": "Write and run tests\n\n"
            "Context: Created calculator.py at /path with 4 functions",
        }
    ]
    workflow = get_workflow_state(id)
    assert workflow is not None
    assert (workflow["current_phase"], workflow["phases"][1]["status"]) == ("phase_1", "active")

    work_on(["tests.py"])
    workflow = get_workflow_state(id)
    assert workflow is not None
    assert (workflow["status"], workflow["current_phase"]) == ("completed", "phase_1")
    assert workflow["current_phases"] == []
    phase_transition(lambda **given: spawned.append(given))
    assert len(spawned) == 1, "all phases are complete"
    assert advance(id) == []
    assert read_json(".claude/state/workflow.json")["current_phase"] is None
    made = "/path/to/calculator.py, add, subtract, multiply, divide functions"
    assert report() == (
        f"# Workflow Status: {TASK_}\n\nStatus: completed | Current Phase: none\n\n## Phases\n\n"
        f"- [x] Phase 0: Create calculator module → {made}\n"
        "- [x] Phase 1: Write and run tests → tests.py\n"
    )


def test_the_orchestrators_pattern_of_the_design():
    """Section 6.1: a workflow that was written by hand is one of ours."""
    timestamp, user_task, phases = lambda: "20250105_143022", TASK_, PHASES
    # fmt: off
    workflow = {
        "id": f"wf_{timestamp()}",
        "task": user_task,
        "status": "pending",
        "current_phase": None,
        "phases": [
            {
                "id": f"phase_{i}",
                "title": phase_title,
                "agent": agent_name,
                "status": "pending",
                "deliverables": [],
                "context_for_next": ""
            }
            for i, (phase_title, agent_name) in enumerate(phases)
        ]
    }
    # fmt: on
    Path(".claude/state").mkdir()
    write_json(".claude/state/workflow.json", workflow)
    assert generate_markdown(workflow).startswith(f"# Workflow Status: {TASK_}\n")
    assert [phase["id"] for phase in advance("wf_20250105_143022")] == ["phase_0"]
    phases_read = read_json(".claude/state/workflow.json")["phases"]
    todos = [
        {
            "content": phase["title"],
            "status": "completed"
            if phase["status"] == "completed"
            else "in_progress"
            if phase["status"] == "active"
            else "pending",
            "activeForm": f"Working on {phase['title']}",
        }
        for phase in phases_read
    ]
    assert [todo["status"] for todo in todos] == ["in_progress", "pending"]


def test_single_phase_workflow():
    """Test 1 of the design's strategy."""
    id = create_workflow_state("Create one file", PHASES[:1])
    advance(id)
    update_phase_status(id, "phase_0", "completed", ["file.txt"])
    assert "Status: completed" in report()


def test_parallel_phases_have_several_current_ones():
    """Of the list of later work: several current phases, and the last that ended when none is."""
    wave = [{"title": title, "agent": "x", "wave": 1} for title in "ab"]
    id = create_workflow_state("t", [*wave, {"title": "c", "agent": "x", "wave": 2}])

    def current() -> tuple[str | None, list[str]]:
        workflow = get_workflow_state(id)
        assert workflow is not None
        return workflow["current_phase"], workflow["current_phases"]

    assert current() == (None, [])
    advance(id)
    assert current() == ("phase_0", ["phase_0", "phase_1"])
    update_phase_status(id, "phase_0", "completed")
    assert current() == ("phase_1", ["phase_1"])
    update_phase_status(id, "phase_1", "failed", error="no")
    assert current() == ("phase_1", [])
    assert "Status: failed | Current Phase: b" in report()
    update_phase_status(id, "phase_1", "active")
    update_phase_status(id, "phase_1", "completed")
    update_phase_status(id, "phase_0", "completed", ["late.txt"])
    assert current() == ("phase_1", []), "what was told again did not end again"
    advance(id)
    assert current() == ("phase_2", ["phase_2"])


def test_percentages_and_an_audit_trail():
    """Of the list of later work: 2 of 5 phases are 40 %, and a log of changes."""
    id = create_workflow_state("t", [(title, "x") for title in "abcde"], details=True)
    advance(id)
    update_phase_status(id, "phase_0", "failed", error="no disk")
    update_phase_status(id, "phase_0", "active")
    update_phase_status(id, "phase_0", "completed", ["a.txt"], "it is a")
    update_phase_status(id, "phase_0", "completed", ["b.txt"])
    update_phase_status(id, "phase_0", "completed", ["b.txt"])
    advance(id)
    update_phase_status(id, "phase_1", "completed")
    workflow = read_json(".claude/state/workflow.json")
    assert workflow["progress_percent"] == 40
    assert all(change.pop("at").endswith("+00:00") for change in workflow["history"])
    assert workflow["history"] == [
        {"phase": "phase_0", "from": "pending", "to": "active"},
        {"phase": "phase_0", "from": "active", "to": "failed", "error": "no disk"},
        {"phase": "phase_0", "from": "failed", "to": "active"},
        {
            "phase": "phase_0",
            "from": "active",
            "to": "completed",
            "deliverables": ["a.txt"],
            "context_for_next": "it is a",
        },
        {"phase": "phase_0", "deliverables": ["b.txt"]},
        {"phase": "phase_1", "from": "pending", "to": "active"},
        {"phase": "phase_1", "from": "active", "to": "completed"},
    ]


def test_without_details_the_file_has_no_more_than_the_schema():
    id = create_workflow_state(TASK_, PHASES)
    assert "history" not in read_json(".claude/state/workflow.json")
    advance(id)
    assert not {"history", "progress_percent"} & read_json(".claude/state/workflow.json").keys()
