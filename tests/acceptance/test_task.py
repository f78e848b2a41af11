"""`callboard task` as people call it, and what is on the disk afterwards."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli_process import CallboardCommand

PHASES = ("--phase", "Create it:maker", "--phase", "Test:verifier@2", "--phase", "Doc:writer@2")


@pytest.fixture
def callboard(tmp_path: Path) -> CallboardCommand:
    command = CallboardCommand(tmp_path)
    command.env.pop("CLAUDE_PROJECT_DIR", None)
    (tmp_path / ".claude").mkdir()
    return command


def state(callboard: CallboardCommand) -> dict[str, Any]:
    return json.loads((callboard.folder / ".claude/state/workflow.json").read_text())


def test_a_workflow_from_its_beginning_to_its_end(callboard: CallboardCommand):
    assert "0 of 3 phases" in callboard.here("task", "create", "Make it", *PHASES).out
    callboard.here("task", "start")
    assert state(callboard)["current_phase"] == "phase_0"
    shown = callboard.here("task", "done", "--deliverable", "it.py", "--context", "it adds").out
    assert "✓ phase_0  Create it  maker" in shown
    assert "→ it.py" in shown
    assert "● phase_1" in shown
    assert "● phase_2" in shown, "both are of the second wave"
    assert "✗ phase_1" in callboard.here("task", "fail", "--error", "no disk").out
    callboard.here("task", "done", "phase_2")
    assert state(callboard)["status"] == "failed"
    again = callboard.here("task", "start", "phase_1").out
    assert "attempt 2" in again
    done = callboard.here("task", "done").out
    assert "3 of 3 phases, 100 %" in done
    changes = callboard.here("task", "history").out
    assert "Create it  active → completed; made it.py; left context for the next phase" in changes
    assert "Test  active → failed; no disk" in changes
    assert len(callboard.here("task", "history", "--json").json) == 8
    report = (callboard.folder / ".claude/workflow_state_system.md").read_text()
    assert "Status: completed | Current Phase: none" in report
    assert "- [x] Phase 0: Create it → it.py" in report
    id = state(callboard)["id"]
    assert callboard.here("task", "archive", "--json").json[0]["id"] == id
    assert callboard.here("task", "show", id, "--json").json[0]["status"] == "completed"
    [listed] = callboard.here("task", "list", "--json").json
    assert (listed["id"], listed["current"], listed["completed"]) == (id, False, 3)


def test_a_plain_workflow_has_only_the_fields_of_the_schema(callboard: CallboardCommand):
    callboard.here("task", "create", "Make it", "--phase", "A: b:maker", "--plain")
    assert state(callboard)["phases"] == [
        {
            "id": "phase_0",
            "title": "A: b",
            "agent": "maker",
            "status": "pending",
            "deliverables": [],
            "context_for_next": "",
        }
    ]


@pytest.mark.parametrize("inside", [True, False])
def test_phases_come_from_a_template(callboard: CallboardCommand, inside: bool):
    folder = callboard.folder / ".claude/workflow_templates"
    folder.mkdir()
    phases = [{"title": "A", "agent": "x"}, {"title": "B", "agent": "y", "depends_on": []}]
    (folder / "two.json").write_text(json.dumps({"phases": phases} if inside else phases))
    callboard.here("task", "create", "Make it", "--template", "two")
    callboard.here("task", "start")
    assert [phase["status"] for phase in state(callboard)["phases"]] == ["active", "active"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("create", "x"), 2, "--phase"),
        (("create", "x", "--phase", "no agent"), 2, "does not name an agent"),
        (("create", " ", "--phase", "a:b"), 2, "task"),
        (("create", "x", "--template", "none"), 2, "There is no template 'none'"),
        (("create", "x", "--template", "../up"), 2, "There is no template"),
        (("create", "x", "--template", "broken"), 2, "can't be read"),
        (("create", "x", "--template", "empty"), 2, "has no phases"),
        (("show",), 2, "callboard task create"),
        (("done",), 2, "There is no task"),
        (("archive",), 2, "There is no task"),
        (("show", "wf_1"), 2, "wf_1"),
    ],
)
def test_what_makes_no_sense_is_told(
    callboard: CallboardCommand, arguments: tuple[str, ...], code: int, says: str
):
    folder = callboard.folder / ".claude/workflow_templates"
    folder.mkdir()
    (folder / "broken.json").write_text("{")
    (folder / "empty.json").write_text("{}")
    said = callboard.here("task", *arguments, code=code)
    assert says in said.err
    assert not (callboard.folder / ".claude/state/workflow.json").exists()


def test_a_phase_has_to_be_active_or_named(callboard: CallboardCommand):
    callboard.here("task", "create", "Make it", *PHASES)
    said = callboard.here("task", "done", code=2).err
    assert "No phase" in said
    assert "phase_0, phase_1, phase_2" in said
    assert "It has phase_0" in callboard.here("task", "done", "phase_7", code=2).err


def test_what_hides_in_titles_is_shown(callboard: CallboardCommand):
    callboard.here("task", "create", "Make\x1b[31m it", "--phase", "A \u202e b:maker")
    shown = callboard.here("task", "show").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b" in shown


def test_the_list_names_what_is_broken(callboard: CallboardCommand):
    callboard.here("task", "create", "one", *PHASES)
    callboard.here("task", "create", "two", *PHASES)
    (callboard.folder / ".claude/state/workflow.json").write_text("{")
    listed = callboard.here("task", "list").out
    assert "broken" in listed
    assert "one" in listed


def test_what_went_wrong_beside_is_one_line(callboard: CallboardCommand):
    callboard.here("task", "create", "Make it", *PHASES)
    (callboard.folder / ".claude/workflow_state_system.md").chmod(0o400)
    (line,) = callboard("task", "start", "phase_0").err.splitlines()
    assert line.startswith("warning: ")
    assert "workflow_state_system.md is out of date: it is read-only" in line


def test_watching_tells_each_change_until_it_is_over(callboard: CallboardCommand):
    callboard.here("task", "create", "Make it", "--phase", "A:x", "--phase", "B:y")
    with callboard.start("task", "watch", "--json") as watching:
        assert watching.stdout is not None
        seen = [json.loads(watching.stdout.readline())["status"]]
        for step in ("start", "done", "done"):
            callboard.here("task", step)
            told = json.loads(watching.stdout.readline())
            seen.append([phase["status"] for phase in told["phases"]])
            # `done` writes twice: what is over, then what begins. Watching ends with the first
            # of the two when nothing begins.
            while told["status"] != "completed" and told != state(callboard):
                told = json.loads(watching.stdout.readline())
        assert watching.wait(20) == 0
    assert seen[0] == "pending"
    assert seen[-1] == ["completed", "completed"]


def test_watching_in_a_terminal_draws_over_itself(callboard: CallboardCommand):
    callboard.here("task", "create", "Make it", "--phase", "A:x")
    child = callboard.terminal("task", "watch")
    child.expect("0 of 1 phases")
    callboard.here("task", "fail", "phase_0", "--error", "no disk")
    child.expect("no disk")
    child.expect_exact("\r\n")
    child.wait()
    assert child.exitstatus == 1
