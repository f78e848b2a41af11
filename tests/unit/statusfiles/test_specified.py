"""The code of the document on status files, as it stands there, and what its schema says."""

import json
import re
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
from callboard.statusfiles.hearing import heard
from callboard.statusfiles.location import find_place
from callboard.statusfiles.todos import todos_of

PHASES = [
    ("Create calculator module", "general-purpose"),
    ("Write and run tests", "task-completion-verifier"),
]
TASK = "Create calculator.py with tests and verify they pass"
STATE = ".claude/state/workflow.json"
REPORT = ".claude/workflow_state_system.md"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    return tmp_path


def read_json(file: str) -> dict[str, Any]:
    return json.loads(Path(file).read_text(encoding="utf-8"))


def orchestrated(user_task: str, phases: list[tuple[str, str]]) -> dict[str, Any]:
    """Section 6.1: what the orchestrator writes."""
    return {
        "id": "wf_20250105_143022",
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
                "context_for_next": "",
            }
            for i, (phase_title, agent_name) in enumerate(phases)
        ],
    }


def test_an_id_is_its_moment():
    assert re.fullmatch(r"wf_\d{8}_\d{6}", create_workflow_state(TASK, PHASES))


def test_what_an_orchestrator_writes_by_hand_is_what_we_write():
    """Beside it stands the list of all active phases: several can be."""
    id = create_workflow_state(TASK, PHASES)
    assert read_json(STATE) == {**orchestrated(TASK, PHASES), "id": id, "current_phases": []}


def test_a_phase_worker_reads_its_phase_and_tells_how_it_ended():
    """Section 6.2, with the phase found by its id: `phases` is a list, and the id is a text."""
    Path(STATE).parent.mkdir(parents=True)
    Path(STATE).write_text(json.dumps(orchestrated(TASK, PHASES)), encoding="utf-8")
    advance("wf_20250105_143022")

    workflow = read_json(STATE)
    my_phase = next(p for p in workflow["phases"] if p["id"] == workflow["current_phase"])
    assert my_phase["title"] == "Create calculator module"
    deliverables = ["/path/to/calculator.py", "add, subtract, multiply, divide functions"]
    update_phase_status(
        workflow["id"],
        my_phase["id"],
        status="completed",
        deliverables=deliverables,
        context_for_next="Created calculator.py at /path with 4 functions",
    )

    [turn] = advance(workflow["id"])
    assert (turn["agent"], turn["status"]) == ("task-completion-verifier", "active")
    first = read_json(STATE)["phases"][0]
    assert first["deliverables"] == deliverables
    assert first["context_for_next"] == "Created calculator.py at /path with 4 functions"


def test_a_workflow_of_a_single_phase():
    """The document's first test."""
    id = create_workflow_state("Create one file", [("Create it", "general-purpose")])
    advance(id)
    assert read_json(STATE)["status"] == "active"
    update_phase_status(id, "phase_0", "completed", ["one.txt"])
    found = get_workflow_state(id)
    assert found is not None
    assert found["status"] == "completed"
    assert generate_markdown(found) == Path(REPORT).read_text(encoding="utf-8")
    assert Path(REPORT).read_text(encoding="utf-8") == (
        "# Workflow Status: Create one file\n\nStatus: completed | Current Phase: none\n\n"
        "## Phases\n\n- [x] Phase 0: Create it → one.txt\n"
    )


def test_context_that_a_hook_takes_from_an_answer_is_cut(project: Path):
    """The document sets no limit; an answer can be as long as a file."""
    create_workflow_state(TASK, PHASES)
    answer = {"status": "completed", "content": [{"type": "text", "text": "x" * 100_000}]}
    payload = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Task",
        "tool_input": {"subagent_type": "general-purpose"},
        "tool_response": answer,
    }
    heard(payload, find_place(project))
    first = read_json(STATE)["phases"][0]
    assert first["status"] == "completed"
    assert len(first["context_for_next"]) == 4000


@pytest.mark.parametrize(
    ("status", "todo"),
    [
        ("pending", "pending"),
        ("active", "in_progress"),
        ("completed", "completed"),
        ("failed", "pending"),
    ],
)
def test_the_list_that_the_phases_make(status: str, todo: str):
    """Section 5.3."""
    workflow = orchestrated(TASK, PHASES[:1])
    workflow["phases"][0]["status"] = status
    title = PHASES[0][0]
    expected = {"content": title, "status": todo, "activeForm": f"Working on {title}"}
    assert todos_of(workflow) == [expected]
