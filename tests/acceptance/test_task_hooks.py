"""`callboard hooks install --status-files`: what it adds, and that nothing of it stays."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.acceptance.cli_process import CallboardCommand

from callboard.statusfiles import create_workflow_state, get_workflow_state
from callboard.vendors.claude.protocol import BEGIN, MADE

INSTALL = ("hooks", "install", "--agent", "claude", "--scope", "project", "--status-files")
UNINSTALL = ("hooks", "uninstall", "--agent", "claude", "--scope", "project")


@pytest.fixture
def callboard(tmp_path: Path) -> CallboardCommand:
    folder = tmp_path / "it's a project"
    (folder / ".git").mkdir(parents=True)
    return CallboardCommand(folder)


def everything(folder: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, and every folder, but those of the board itself."""
    own = ("t.db.hooks", "share", ".cache")
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.relative_to(folder).parts[0].startswith(own)
    }


@pytest.mark.parametrize(
    "mine", [None, b"", b"# Mine", b"# Mine\n", b"# Mine\r\n\r\nrules\r\n", b"\n\n# Mine\n\n\n"]
)
def test_what_was_installed_is_removed_without_a_trace(
    callboard: CallboardCommand, mine: bytes | None
):
    notes = callboard.folder / "CLAUDE.md"
    if mine is not None:
        notes.write_bytes(mine)
    before = everything(callboard.folder)
    callboard.here(*INSTALL)
    text = notes.read_text(encoding="utf-8")
    assert "## Workflow State Protocol" in text
    agent = callboard.folder / ".claude/agents/delegation-orchestrator.md"
    assert agent.read_text().startswith("---\nname: delegation-orchestrator\n")
    assert callboard.here(*INSTALL, "--json").json[0]["changed"] is False
    assert "current" in callboard.here("hooks", "status").out
    callboard.here(*UNINSTALL)
    assert everything(callboard.folder) == before


@pytest.mark.parametrize("mine", ["# Mine", "# Mine\n", ""])
def test_what_was_written_since_stays(callboard: CallboardCommand, mine: str):
    notes = callboard.folder / "CLAUDE.md"
    notes.write_text(mine)
    callboard.here(*INSTALL)
    notes.write_text(notes.read_text() + "\nwritten since\n")
    callboard.here(*UNINSTALL)
    assert notes.read_text() == f"{mine}\nwritten since\n"


def test_an_agent_that_somebody_else_wrote_stays_as_it_is(callboard: CallboardCommand):
    agent = callboard.folder / ".claude/agents/delegation-orchestrator.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("mine")
    callboard.here(*INSTALL)
    assert agent.read_text() == "mine"
    callboard.here(*UNINSTALL)
    assert agent.read_text() == "mine"


def test_an_older_section_gives_way_to_the_new_one(callboard: CallboardCommand):
    callboard.here(*INSTALL)
    notes = callboard.folder / "CLAUDE.md"
    agent = callboard.folder / ".claude/agents/delegation-orchestrator.md"
    fresh = notes.read_text()
    notes.write_text(fresh.replace("Workflow State Protocol", "Old Protocol"))
    agent.write_text(f"old {MADE}")
    callboard.here(*INSTALL)
    assert notes.read_text() == fresh
    assert notes.read_text().count(BEGIN) == 1
    assert "old" not in agent.read_text()[:10]


def test_a_later_install_leaves_nothing_out(callboard: CallboardCommand):
    callboard.here(*INSTALL)
    callboard.here(*(word for word in INSTALL if word != "--status-files"), "--answers", "off")
    settings = (callboard.folder / ".claude/settings.local.json").read_text()
    assert "/statusfiles/hook.py" in settings


def test_without_the_option_nobody_is_taught(callboard: CallboardCommand):
    callboard.here(*(word for word in INSTALL if word != "--status-files"))
    assert not (callboard.folder / "CLAUDE.md").exists()
    assert "statusfiles" not in (callboard.folder / ".claude/settings.local.json").read_text()


def test_other_agents_have_no_such_hooks(callboard: CallboardCommand):
    said = callboard.here("hooks", "install", "--agent", "codex", "--status-files", code=2)
    assert "Use --agent claude" in said.err


@pytest.mark.parametrize("program", ["sh", "bash"])
def test_the_installed_hook_moves_a_phase(callboard: CallboardCommand, program: str):
    callboard.here(*INSTALL)
    settings = json.loads((callboard.folder / ".claude/settings.local.json").read_text())
    [group] = [one for one in settings["hooks"]["PostToolUse"] if "matcher" in one]
    assert set(group["matcher"].split("|")) >= {"Agent", "Task", "TodoWrite", "TaskUpdate"}
    create_workflow_state("Make it", [("A", "maker")], path=callboard.folder)
    payload = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Task",
        "session_id": "s",
        "tool_input": {"subagent_type": "maker"},
        "tool_response": {"status": "completed", "content": "made"},
    }
    shell = shutil.which(program)
    assert shell is not None
    done = subprocess.run(
        [shell, "-c", group["hooks"][0]["command"]],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        env={"CLAUDE_PROJECT_DIR": str(callboard.folder)},
        check=True,
    )
    assert done.stderr == ""
    workflow = get_workflow_state(path=callboard.folder)
    assert workflow is not None
    assert workflow["status"] == "completed"
