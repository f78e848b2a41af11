"""The hook that keeps status files up, as the client runs it: a process for each payload."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from callboard.statusfiles import (
    create_workflow_state,
    get_workflow_state,
    hook,
    update_phase_status,
)
from callboard.statusfiles.workflows import GivenPhase

RECORDED = Path(__file__).parents[2] / "payloads" / "claude"
COMMAND = [os.path.realpath(sys.executable), "-I", "-S", hook.__file__]


class Project:
    """A project whose hooks run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def begin(self, *phases: GivenPhase) -> str:
        return create_workflow_state("the task", phases, path=self.root)

    def start(self, payload: dict[str, Any] | bytes) -> subprocess.Popen[bytes]:
        env = {"CLAUDE_PROJECT_DIR": str(self.root)}
        started = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
        )
        assert started.stdin is not None
        started.stdin.write(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        started.stdin.close()
        started.stdin = None
        return started

    def hook(self, payload: dict[str, Any] | bytes) -> str:
        """Run the hook; gives the context that it has for the model."""
        return self.end(self.start(payload))

    def end(self, started: subprocess.Popen[bytes]) -> str:
        printed, errors = started.communicate()
        assert (started.returncode, errors) == (0, b"")
        if not printed:
            return ""
        output = json.loads(printed)["hookSpecificOutput"]
        return output["additionalContext"]

    def replay(self, scenario: str, **changed: Any) -> list[str]:
        files = sorted((RECORDED / scenario).glob("*.json"))
        return [self.hook({**json.loads(file.read_text()), **changed}) for file in files]

    @property
    def workflow(self) -> dict[str, Any]:
        found = get_workflow_state(path=self.root)
        assert found is not None
        return found

    @property
    def statuses(self) -> list[str]:
        return [phase["status"] for phase in self.workflow["phases"]]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def call(event: str, number: int, prompt: str = "", agent: str = "", **more: Any) -> dict[str, Any]:
    """A payload of the agent tool."""
    tool = {"prompt": prompt, "subagent_type": agent, "description": "work"}
    return {
        "session_id": "s1",
        "hook_event_name": event,
        "tool_name": "Agent",
        "tool_use_id": f"toolu_{number}",
        "tool_input": tool,
        **more,
    }


def launched(number: int, prompt: str = "", agent: str = "") -> dict[str, Any]:
    response = {"status": "async_launched", "agentId": f"a{number}"}
    return call("PostToolUse", number, prompt, agent, tool_response=response)


def stopped(number: int, said: str = "done", **more: Any) -> dict[str, Any]:
    return {
        "session_id": "s1",
        "hook_event_name": "SubagentStop",
        "agent_id": f"a{number}",
        "agent_type": "worker",
        "last_assistant_message": said,
        **more,
    }


def returned(number: int, said: str, prompt: str = "", agent: str = "") -> dict[str, Any]:
    response = {"status": "completed", "content": [{"type": "text", "text": said}]}
    return call("PostToolUse", number, prompt, agent, tool_response=response)


def test_a_recorded_agent_completes_its_phase_and_the_next_begins(project: Project):
    project.begin(("Create", "general-purpose"), ("Verify", "verifier"))
    project.replay("agent")
    first, second = project.workflow["phases"]
    assert (first["status"], first["context_for_next"]) == ("completed", "Subagent result: 42")
    assert (second["status"], project.workflow["current_phase"]) == ("active", "phase_1")


def test_the_phase_is_active_as_soon_as_its_agent_is_called(project: Project):
    project.begin(("Create", "maker"), ("Verify", "verifier"))
    project.hook(call("PreToolUse", 1, "go", "maker"))
    assert project.statuses == ["active", "pending"]


@pytest.mark.parametrize("tool", ["Agent", "Task", "SubagentTask", "AgentTask"])
def test_the_tool_is_known_by_all_its_names(project: Project, tool: str):
    project.begin(("Create", "maker"))
    project.hook({**returned(1, "made", agent="maker"), "tool_name": tool})
    assert project.statuses == ["completed"]


@pytest.mark.parametrize(
    ("prompt", "agent", "moved"),
    [
        ("Phase ID: phase_2\nverify", "maker", 2),
        ("no id", "verifier", 1),
        ("no id", "somebody", 0),
        ("Phase ID: phase_99", "verifier", 1),
    ],
)
def test_an_id_comes_before_a_name_and_a_name_before_the_current_phase(
    project: Project, prompt: str, agent: str, moved: int
):
    id = project.begin(("a", "maker"), ("b", "verifier"), ("c", "writer"))
    update_phase_status(id, "phase_0", "active", path=project.root)
    project.hook(returned(1, "made", prompt, agent))
    done = [number for number, status in enumerate(project.statuses) if status == "completed"]
    assert done == [moved]


def test_the_agent_that_plans_is_no_phase(project: Project):
    id = project.begin(("a", "maker"))
    update_phase_status(id, "phase_0", "active", path=project.root)
    project.hook(returned(1, "the plan", agent="delegation-orchestrator"))
    assert project.statuses == ["active"]


def test_a_background_agent_keeps_its_phase_active_until_it_stops(project: Project):
    project.begin(("a", "maker"), ("b", "verifier"))
    project.hook(call("PreToolUse", 1, agent="maker"))
    project.hook(launched(1, agent="maker"))
    assert project.statuses == ["active", "pending"]
    project.hook(stopped(1, "Deliverables: `a.py`, b.py\nContext for next: it adds"))
    first = project.workflow["phases"][0]
    assert first["deliverables"] == ["a.py", "b.py"]
    assert first["context_for_next"] == "it adds"
    assert project.statuses == ["completed", "active"]


@pytest.mark.parametrize(
    ("source", "then"),
    [
        ("compact", ["completed", "active"]),
        ("clear", ["completed", "active"]),
        ("resume", ["active", "pending"]),
        ("startup", ["active", "pending"]),
    ],
)
def test_a_background_agent_outlives_what_its_session_forgets(
    project: Project, source: str, then: list[str]
):
    project.begin(("a", "maker"), ("b", "verifier"))
    project.hook(launched(1, agent="maker"))
    project.hook({"hook_event_name": "SessionStart", "session_id": "s1", "source": source})
    project.hook(stopped(1))
    assert project.statuses == then


def test_an_agent_that_stops_before_its_launch_is_told(project: Project):
    project.begin(("a", "maker"), ("b", "verifier"))
    project.hook(stopped(1, "quick"))
    assert project.statuses == ["pending", "pending"], "nobody knows yet whose agent it is"
    project.hook(launched(1, agent="maker"))
    assert project.statuses == ["completed", "active"]
    assert project.workflow["phases"][0]["context_for_next"] == "quick"


def test_agents_of_one_name_at_once_each_move_their_own_phase(project: Project):
    project.begin(*({"title": f"p{n}", "agent": "maker", "wave": 1} for n in range(3)))
    for number in range(3):
        project.hook(call("PreToolUse", number, agent="maker"))
        project.hook(launched(number, agent="maker"))
    project.hook(stopped(1, "one"))
    assert project.statuses == ["active", "completed", "active"]
    project.hook(stopped(2, "two"))
    project.hook(stopped(0, "zero"))
    contexts = [phase["context_for_next"] for phase in project.workflow["phases"]]
    assert (project.workflow["status"], contexts) == ("completed", ["zero", "one", "two"])


def test_many_agents_that_end_in_the_same_moment_all_count(project: Project):
    project.begin(*({"title": f"p{n}", "agent": "maker", "wave": 1} for n in range(16)))
    for payloads in (
        [launched(number, f"Phase ID: phase_{number}") for number in range(16)],
        [stopped(number, f"DONE|{number}.md") for number in range(16)],
    ):
        for process in [project.start(payload) for payload in payloads]:
            project.end(process)
    made = [phase["deliverables"] for phase in project.workflow["phases"]]
    assert (project.workflow["status"], made) == ("completed", [[f"{n}.md"] for n in range(16)])


def test_a_failed_agent_fails_its_phase_and_another_call_tries_again(project: Project):
    project.begin(("a", "maker"), ("b", "verifier"))
    project.hook(call("PreToolUse", 1, agent="maker"))
    project.hook(call("PostToolUseFailure", 1, agent="maker", error="no such model"))
    assert (project.statuses, project.workflow["status"]) == (["failed", "pending"], "failed")
    assert project.workflow["phases"][0]["error"] == "no such model"
    project.hook(call("PreToolUse", 2, agent="maker"))
    assert project.statuses == ["active", "pending"]
    project.hook(returned(2, "made", agent="maker"))
    assert project.statuses == ["completed", "active"]


def test_an_agent_can_say_that_it_failed(project: Project):
    project.begin(("a", "maker"))
    project.hook(launched(1, agent="maker"))
    project.hook(stopped(1, "I tried.\n**PHASE FAILED:** the disk is full"))
    assert project.workflow["phases"][0]["error"].strip("* ") == "the disk is full"


def test_an_agent_whose_model_failed_fails_its_phase(project: Project):
    project.begin(("a", "maker"))
    transcript = project.root / "agent.jsonl"
    error = {"isApiErrorMessage": True, "message": {"content": [{"type": "text", "text": "529"}]}}
    transcript.write_text('{"type":"user"}\n' + json.dumps(error) + "\n")
    project.hook(launched(1, agent="maker"))
    project.hook(stopped(1, "", agent_transcript_path=str(transcript)))
    assert (project.statuses, project.workflow["phases"][0]["error"]) == (["failed"], "529")


def test_what_an_agent_has_told_itself_stays(project: Project):
    id = project.begin(("a", "maker"), ("b", "verifier"))
    project.hook(launched(1, agent="maker"))
    update_phase_status(id, "phase_0", "failed", error="mine", path=project.root)
    project.hook(stopped(1, "all is well"))
    assert project.statuses == ["failed", "pending"]
    update_phase_status(id, "phase_0", "active", path=project.root)
    update_phase_status(id, "phase_0", "completed", ["x"], "own words", path=project.root)
    project.hook(returned(2, "other words", "Phase ID: phase_0"))
    first = project.workflow["phases"][0]
    assert (first["deliverables"], first["context_for_next"]) == (["x"], "own words")


def test_an_agent_of_an_agent_moves_only_what_it_is_told_to(project: Project):
    project.begin(("a", "maker"))
    project.hook({**returned(1, "found it", agent="maker"), "agent_id": "a9"})
    assert project.statuses == ["pending"]
    project.hook({**returned(2, "made", "Phase ID: phase_0"), "agent_id": "a9"})
    assert project.statuses == ["completed"]


def test_a_call_that_was_refused_does_not_keep_its_phase(project: Project):
    project.begin(("a", "maker"))
    project.hook(call("PreToolUse", 1, agent="maker"))
    project.hook({"hook_event_name": "UserPromptSubmit", "session_id": "s1"})
    project.hook(returned(2, "made", agent="maker"))
    assert project.statuses == ["completed"]


def todo_write(*todos: tuple[str, str]) -> dict[str, Any]:
    listed = [{"content": content, "status": status} for content, status in todos]
    return {
        "session_id": "s1",
        "hook_event_name": "PostToolUse",
        "tool_name": "TodoWrite",
        "tool_input": {"todos": listed},
        "tool_response": {"newTodos": listed},
    }


def test_todos_that_are_titles_move_their_phases(project: Project):
    project.begin(("Write code", "maker"), ("Test", "verifier"))
    project.replay("todowrite")
    assert project.statuses == ["active", "pending"]
    project.hook(todo_write(("Write  CODE", "completed"), ("Buy milk", "completed")))
    assert project.statuses == ["completed", "active"]


def test_a_list_that_was_shortened_and_reordered_is_heard(project: Project):
    project.begin(("A", "maker"), ("B", "maker"), ("C", "verifier"))
    project.hook(todo_write(("A", "completed"), ("B", "in_progress"), ("C", "pending")))
    project.hook(todo_write(("B", "completed"), ("C", "in_progress")))
    assert project.statuses == ["completed", "completed", "active"]
    project.hook(todo_write(("Buy milk", "in_progress"), ("C", "completed"), ("B", "completed")))
    assert project.statuses == ["completed", "completed", "completed"]


def test_an_item_that_only_moved_says_nothing_new(project: Project):
    id = project.begin(("A", "maker"), ("B", "maker"))
    project.hook(todo_write(("A", "in_progress"), ("B", "pending")))
    update_phase_status(id, "phase_0", "failed", error="mine", path=project.root)
    project.hook(todo_write(("B", "pending"), ("A", "in_progress")))
    assert project.statuses == ["failed", "pending"]


def test_tasks_move_the_phases_that_they_name(project: Project):
    project.begin(("Something else", "maker"), ("Test", "verifier"))
    project.replay("tasks")
    assert project.statuses == ["completed", "active"], "its metadata names phase_0"


@pytest.mark.parametrize("named", ["1", "phase_9", "", 0, ["phase_1"]])
def test_a_task_that_names_no_phase_of_ours_is_known_by_its_title(project: Project, named: Any):
    project.begin(("Build it", "maker"), ("Test", "verifier"))
    created = {"subject": "Build it", "metadata": {"phase": named}}
    base = {"session_id": "s1", "hook_event_name": "PostToolUse"}
    project.hook(
        {
            **base,
            "tool_name": "TaskCreate",
            "tool_input": created,
            "tool_response": {"task": {"id": "1"}},
        }
    )
    done = {"taskId": "1", "status": "completed"}
    project.hook({**base, "tool_name": "TaskUpdate", "tool_input": done, "tool_response": {}})
    assert project.statuses == ["completed", "active"]


def test_a_todo_does_not_end_what_an_agent_still_works_on(project: Project):
    project.begin(("Write code", "maker"))
    project.hook(launched(1, agent="maker"))
    project.hook(todo_write(("Write code", "completed")))
    assert project.statuses == ["active"]


def test_the_exact_list_is_asked_for_only_when_it_differs(project: Project):
    project.begin(("Write code", "maker"), ("Test", "verifier"))
    asked = project.hook(returned(1, "made", agent="maker"))
    todos = [
        {"content": "Write code", "status": "completed", "activeForm": "Working on Write code"},
        {"content": "Test", "status": "in_progress", "activeForm": "Working on Test"},
    ]
    assert json.dumps(todos) in asked
    assert "Phase ID: phase_1" in asked
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s1"}
    assert project.hook(prompt) == "", "it was told already"
    assert project.hook({**prompt, "session_id": "s2"}), "another session has another list"
    assert project.hook(todo_write(("Write code", "completed"), ("Test", "in_progress"))) == ""
    project.hook(launched(2, agent="verifier"))
    assert project.hook(stopped(2)) == "", "context there would make the agent go on"
    assert '"Test", "status": "completed"' in project.hook(prompt)
    assert project.hook({**prompt, "session_id": "s3"}) == "", "all is over, and was not its own"


def test_a_list_that_fits_is_left_alone(project: Project):
    project.begin(("Write code", "maker"), ("Test", "verifier"))
    said = project.hook(todo_write(("Write code", "in_progress"), ("Test", "pending")))
    assert said == ""


@pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"tool_input": 7}'])
def test_whatever_comes_in_nothing_is_printed_and_nothing_fails(project: Project, payload: bytes):
    project.begin(("a", "maker"))
    assert project.hook(payload) == ""


@pytest.mark.parametrize("content", ["", "{", "[]"])
def test_a_broken_file_is_noted_and_left_alone(project: Project, content: str):
    project.begin(("a", "maker"))
    file = project.root / ".claude/state/workflow.json"
    file.write_text(content)
    assert project.hook(returned(1, "made", agent="maker")) == ""
    assert file.read_text() == content
    noted = (file.parent / "workflow_hooks_error.txt").read_text()
    assert "can't be read" in noted


def test_what_is_noted_can_be_printed(project: Project):
    project.begin(("a", "maker"))
    file = project.root / ".claude/state/workflow.json"
    file.write_text("{")
    project.hook({**returned(1, "made", agent="maker"), "hook_event_name": "\x1b[2J"})
    assert (file.parent / "workflow_hooks_error.txt").read_text().startswith(r"\x1b[2J: ")


@pytest.mark.parametrize("name", ["workflow_hooks.json", "workflow_hooks_error.txt"])
@pytest.mark.parametrize("broken", [True, False])
def test_a_hook_writes_through_no_link(project: Project, name: str, broken: bool):
    project.begin(("a", "maker"))
    theirs = project.root / "theirs"
    theirs.write_text("theirs")
    state = project.root / ".claude/state"
    (state / name).symlink_to(theirs)
    if broken:
        (state / "workflow.json").write_text("{")
    project.hook(call("PreToolUse", 1, agent="maker"))
    assert theirs.read_text() == "theirs"


def test_where_there_is_no_workflow_nothing_is_made(project: Project):
    assert project.hook(returned(1, "made", agent="maker")) == ""
    assert list(project.root.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_no_error(project: Project):
    id = project.begin(("a", "maker"))
    file = project.root / ".claude/state/workflow.json"
    file.chmod(0o400)
    assert project.hook(returned(1, "made", agent="maker")) == ""
    assert project.statuses == ["pending"]
    assert project.workflow["id"] == id


def test_a_report_that_cannot_be_written_keeps_no_phase_from_moving(project: Project):
    project.begin(("a", "maker"), ("b", "verifier"))
    report = project.root / ".claude/workflow_state_system.md"
    report.chmod(0o400)
    assert project.hook(call("PreToolUse", 1, agent="maker")) == ""
    assert "b" in project.hook(returned(1, "made", agent="maker"))
    assert project.statuses == ["completed", "active"]
    noted = (project.root / ".claude/state/workflow_hooks_error.txt").read_text()
    assert "workflow_state_system.md is out of date" in noted


def test_every_recorded_payload_is_taken_without_a_word_of_trouble(project: Project):
    project.begin(("a", "maker"))
    for scenario in ("bashfail", "i_plan", "permdeny"):
        project.replay(scenario)
    assert project.statuses == ["pending"]
    assert not (project.root / ".claude/state/workflow_hooks_error.txt").exists()


def test_what_a_session_publishes_is_moved_by_its_log_alone(project: Project):
    project.begin(("Create", "maker"))
    file = project.root / ".claude" / "state" / "workflow.json"
    file.write_text(json.dumps({**project.workflow, "session_id": "s1"}), encoding="utf-8")
    assert project.replay("agent") == [""] * len(list((RECORDED / "agent").glob("*.json")))
    assert project.hook(call("PreToolUse", 1, "Phase ID: phase_0")) == ""
    assert project.statuses == ["pending"]
