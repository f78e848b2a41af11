"""Status files as the real Claude Code moves them: by hooks alone, with no server running."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.real_clients.claude import Claude
from tests.real_clients.home import installed
from tests.real_clients.model import Model
from tests.real_clients.script import Call, Say, Script

from callboard.statusfiles import create_workflow_state

WAVE = [
    {"title": "Create", "agent": "general-purpose", "wave": 1},
    {"title": "Describe", "agent": "general-purpose", "wave": 1},
    {"title": "Verify", "agent": "general-purpose", "wave": 2},
]


def agent(phase: int, script: str) -> Call:
    prompt = f"play:{script}\nPhase ID: phase_{phase}"
    return Call(
        "Agent",
        {"description": "Work", "prompt": prompt, "subagent_type": "general-purpose"},
    )


def phases(project: Path) -> list[dict[str, Any]]:
    return json.loads((project / ".claude/state/workflow.json").read_text())["phases"]


async def test_agents_at_once_move_their_own_phases_and_the_next_begins(
    claude: Claude, model: Model
):
    await claude.home.install_hooks("claude", "--status-files")
    create_workflow_state("Make it", WAVE, path=claude.home.project)
    model.scripts["delegate"] = [
        [agent(0, "one"), agent(1, "two")],
        [Say("They work.")],
        [Say("They are back.")],
    ]
    model.scripts["one"] = [[Say("Deliverables: one.py\nContext for next: it adds")]]
    model.scripts["two"] = [[Say("Deliverables: two.md")]]
    done = await claude.run("play:delegate", "--dangerously-skip-permissions")
    assert (done.code, done.err) == (0, "")
    first, second, third = phases(claude.home.project)
    assert (first["status"], first["deliverables"]) == ("completed", ["one.py"])
    assert first["context_for_next"] == "it adds"
    assert (second["status"], second["deliverables"]) == ("completed", ["two.md"])
    assert third["status"] == "active"
    report = (claude.home.project / ".claude/workflow_state_system.md").read_text()
    assert "Status: active | Current Phase: Verify" in report
    state = claude.home.project / ".claude/state"
    assert not (state / "workflow_hooks_error.txt").exists()
    assert model.was_told("Phase ID: phase_2"), "whom to call next"


CREATED = {"subject": "Create", "description": "Create it", "metadata": {"phase": "phase_0"}}
WRITTEN = {"content": "Create", "status": "completed", "activeForm": "Creating"}


@pytest.mark.parametrize(
    ("tasks", "tools", "script"),
    [
        (
            "1",
            "TaskCreate,TaskUpdate",
            [
                [Call("TaskCreate", CREATED)],
                [Call("TaskUpdate", {"taskId": "1", "status": "completed"})],
                [Say("So much for that.")],
            ],
        ),
        ("0", "TodoWrite", [[Call("TodoWrite", {"todos": [WRITTEN]})], [Say("So much for that.")]]),
    ],
)
async def test_a_list_of_the_model_moves_phases(
    claude: Claude, model: Model, tasks: str, tools: str, script: Script
):
    await claude.home.install_hooks("claude", "--status-files")
    create_workflow_state("Make it", WAVE[:1], path=claude.home.project)
    model.scripts["list"] = script
    env = {**claude.env, "CLAUDE_CODE_ENABLE_TASKS": tasks}
    command = (
        installed("claude"),
        "--dangerously-skip-permissions",
        "--tools",
        tools,
        "-p",
        "play:list",
    )
    done = await claude.home.run(*command, env=env)
    assert (done.code, done.out, done.err) == (0, "So much for that.\n", "")
    assert [phase["status"] for phase in phases(claude.home.project)] == ["completed"]
    assert model.was_told("Your to-do list differs from it")
