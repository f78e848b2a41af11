"""Status files: created, updated, advanced, archived, and never lost."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.disk.folders import VARIABLE
from callboard.errors import CallboardError, ConflictError, NotFound, StoreCorrupt, StoreError
from callboard.errors import ValidationError as Wrong
from callboard.statusfiles import (
    advance,
    archive,
    create_workflow_state,
    files,
    generate_markdown,
    get_workflow_state,
    update_phase_status,
)
from callboard.statusfiles.phases import NEXT

PHASES = [("Create calculator module", "general-purpose"), ("Write tests", "verifier")]
TASK = "Create calculator.py with tests and verify they pass"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    return tmp_path


def state(root: Path) -> dict[str, Any]:
    return json.loads((root / ".claude/state/workflow.json").read_text())


def report(root: Path) -> str:
    return (root / ".claude/workflow_state_system.md").read_text()


def test_a_new_workflow_has_exactly_the_fields_of_the_schema(root: Path):
    id = create_workflow_state(TASK, PHASES)
    assert state(root) == {
        "id": id,
        "task": TASK,
        "status": "pending",
        "current_phase": None,
        "current_phases": [],
        "phases": [
            {
                "id": f"phase_{number}",
                "title": title,
                "agent": agent,
                "status": "pending",
                "deliverables": [],
                "context_for_next": "",
            }
            for number, (title, agent) in enumerate(PHASES)
        ],
    }
    assert report(root) == (
        f"# Workflow Status: {TASK}\n\nStatus: pending | Current Phase: none\n\n## Phases\n\n"
        "- [ ] Phase 0: Create calculator module\n- [ ] Phase 1: Write tests\n"
    )


def test_phase_after_phase(root: Path):
    id = create_workflow_state(TASK, PHASES)
    assert [phase["id"] for phase in advance(id)] == ["phase_0"]
    assert state(root)["current_phase"] == "phase_0"
    assert advance(id) == [], "the first one still works"
    update_phase_status(id, "phase_0", "completed", ["calculator.py", "4 functions"], "it adds")
    assert state(root)["current_phase"] == "phase_0", "an update does not begin the next one"
    assert [phase["id"] for phase in advance(id)] == ["phase_1"]
    assert state(root)["phases"][0]["context_for_next"] == "it adds"
    assert "Status: active | Current Phase: Write tests" in report(root)
    update_phase_status(id, "phase_1", "completed")
    assert advance(id) == []
    assert (state(root)["status"], state(root)["current_phase"]) == ("completed", None)
    assert "- [x] Phase 0: Create calculator module → calculator.py, 4 functions" in report(root)


def test_a_failure_fails_the_workflow_until_it_is_tried_again(root: Path):
    id = create_workflow_state(TASK, PHASES)
    advance(id)
    update_phase_status(id, "phase_0", "failed", error="no disk")
    assert state(root)["status"] == "failed"
    assert advance(id) == []
    assert "- [ ] Phase 0: Create calculator module (failed)" in report(root)
    update_phase_status(id, "phase_0", "active")
    assert state(root)["status"] == "active"
    assert state(root)["phases"][0]["error"] is None


def test_phases_of_one_wave_begin_together(root: Path):
    id = create_workflow_state(
        "t",
        [
            {"title": "a", "agent": "x", "wave": 1},
            {"title": "b", "agent": "x", "wave": 1},
            {"title": "c", "agent": "x", "wave": 2},
        ],
    )
    assert [phase["id"] for phase in advance(id)] == ["phase_0", "phase_1"]
    update_phase_status(id, "phase_1", "completed")
    assert (advance(id), state(root)["current_phase"]) == ([], "phase_0")
    update_phase_status(id, "phase_0", "completed")
    assert [phase["id"] for phase in advance(id)] == ["phase_2"]


def test_what_a_phase_needs_is_named(root: Path):
    id = create_workflow_state(
        "t",
        [
            {"title": "a", "agent": "x"},
            {"title": "b", "agent": "x", "depends_on": []},
            {"title": "c", "agent": "x", "depends_on": ["phase_1"]},
        ],
    )
    assert [phase["id"] for phase in advance(id)] == ["phase_0", "phase_1"]
    update_phase_status(id, "phase_1", "completed")
    assert [phase["id"] for phase in advance(id)] == ["phase_2"]


def test_times_attempts_and_errors_are_kept_where_they_are_wanted(root: Path):
    id = create_workflow_state(TASK, PHASES, details=True)
    advance(id)
    update_phase_status(id, "phase_0", "failed", error="no disk")
    update_phase_status(id, "phase_0", "active")
    update_phase_status(id, "phase_0", "completed")
    first = state(root)["phases"][0]
    assert (first["attempts"], first["error"]) == (2, None)
    assert first["duration_ms"] >= 0
    assert first["started_at"] <= first["completed_at"]


def test_the_same_again_merges_what_was_made(root: Path):
    id = create_workflow_state(TASK, PHASES)
    update_phase_status(id, "phase_0", "completed", ["a"])
    update_phase_status(id, "phase_0", "completed", ["b", "a"])
    assert state(root)["phases"][0]["deliverables"] == ["a", "b"]


def beginning(*phases: Any) -> None:
    create_workflow_state("t", phases)


def needing(what: Any) -> None:
    beginning(("a", "x"), {"title": "b", "agent": "x", "depends_on": what})


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda id: update_phase_status(id, "phase_7", "active"), NotFound, "phase_0, phase_1"),
        (lambda id: update_phase_status(id, "phase_0", "done"), Wrong, "pending, active"),
        (lambda id: update_phase_status("wf_1", "phase_0", "active"), NotFound, "The current one"),
        (lambda id: advance("wf_1"), NotFound, "wf_1"),
        (lambda id: get_workflow_state("../../x"), Wrong, "not the id"),
        (lambda id: create_workflow_state(" ", PHASES), Wrong, "task"),
        (lambda id: create_workflow_state("t", [("", "x")]), Wrong, "phases[0]"),
        (lambda id: beginning(("a",)), Wrong, "phases[0]"),
        (lambda id: beginning("ab"), Wrong, "phases[0]"),
        (lambda id: needing(["phase_1"]), Wrong, "a list of earlier phases"),
        (lambda id: needing("phase_0"), Wrong, "give a list"),
        (lambda id: needing(5), Wrong, "give a list"),
        (
            lambda id: update_phase_status(id, "phase_0", "completed", "calc.py"),
            Wrong,
            "deliverables: give a list",
        ),
    ],
)
def test_what_makes_no_sense_is_told_and_changes_nothing(
    root: Path, call: Callable[[str], Any], error: type[CallboardError], says: str
):
    id = create_workflow_state(TASK, PHASES)
    before = state(root)
    with pytest.raises(error, match=says.replace("[", r"\[")):
        call(id)
    assert state(root) == before


@pytest.mark.parametrize("now", list(NEXT))
@pytest.mark.parametrize("then", list(NEXT))
def test_only_some_statuses_may_follow(root: Path, now: str, then: str):
    id = create_workflow_state(TASK, PHASES)
    update_phase_status(id, "phase_0", now)
    if then in (*NEXT[now], now):
        update_phase_status(id, "phase_0", then)
        assert state(root)["phases"][0]["status"] == then
    else:
        with pytest.raises(ConflictError, match=f"is {now} and cannot become {then}"):
            update_phase_status(id, "phase_0", then)


def test_the_next_workflow_archives_the_one_before(root: Path):
    first = create_workflow_state("one", PHASES)
    second = create_workflow_state("two", PHASES)
    assert first != second
    old, now = get_workflow_state(first), get_workflow_state()
    assert old is not None
    assert now is not None
    assert (old["task"], now["task"]) == ("one", "two")
    assert archive() == second
    assert get_workflow_state() is None


def test_fields_that_nobody_knows_survive(root: Path):
    id = create_workflow_state(TASK, PHASES)
    file = root / ".claude/state/workflow.json"
    changed: dict[str, Any] = {**state(root), "colour": "blue"}
    changed["phases"][0]["mood"] = {"😀": 1}
    file.write_text(json.dumps(changed))
    update_phase_status(id, "phase_0", "active")
    assert state(root)["colour"] == "blue"
    assert state(root)["phases"][0]["mood"] == {"😀": 1}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"id": "x"}', '{"id":1,"task":"","status":"","phases":[1]}']
)
def test_a_broken_file_is_told_and_never_overwritten(root: Path, content: str):
    create_workflow_state(TASK, PHASES)
    file = root / ".claude/state/workflow.json"
    file.write_text(content)
    with pytest.raises(StoreCorrupt, match="can't be read"):
        update_phase_status("wf_1", "phase_0", "active")
    assert file.read_text() == content
    with pytest.warns(UserWarning, match="was broken"):
        create_workflow_state(TASK, PHASES)
    assert (file.parent / "workflow.json.broken-1").read_text() == content


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"id": "wf_1", "task": "é'.encode()[:-1], "unexpected end of data"),
        (b"[" * 100_000, "recursion"),
    ],
    ids=["cut inside a character", "deep"],
)
def test_a_file_that_cannot_be_read_at_all_is_broken_too(root: Path, content: bytes, says: str):
    create_workflow_state(TASK, PHASES)
    file = root / ".claude/state/workflow.json"
    file.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=says):
        get_workflow_state()
    with pytest.warns(UserWarning, match="was broken"):
        create_workflow_state(TASK, PHASES)
    assert (file.parent / "workflow.json.broken-1").read_bytes() == content


def test_an_id_that_is_no_name_for_a_file_is_set_aside(root: Path):
    create_workflow_state(TASK, PHASES)
    file = root / ".claude/state/workflow.json"
    file.write_text(json.dumps({**state(root), "id": "../../x"}))
    update_phase_status("../../x", "phase_0", "active")
    with pytest.warns(UserWarning, match="was broken"):
        create_workflow_state(TASK, PHASES)
    assert json.loads((file.parent / "workflow.json.broken-1").read_text())["id"] == "../../x"


def test_a_file_that_is_read_only_stays_as_it_is(root: Path):
    id = create_workflow_state(TASK, PHASES)
    file = root / ".claude/state/workflow.json"
    before = file.read_text()
    file.chmod(0o400)
    with pytest.raises(StoreError, match="read-only"):
        update_phase_status(id, "phase_0", "active")
    assert file.read_text() == before


def test_a_report_that_cannot_be_written_is_told_and_stops_nothing(root: Path):
    id = create_workflow_state(TASK, PHASES)
    file = root / ".claude/workflow_state_system.md"
    file.chmod(0o400)
    with pytest.warns(UserWarning, match=r"system\.md is out of date: .*read-only"):
        update_phase_status(id, "phase_0", "completed")
    with pytest.warns(UserWarning, match="is out of date"):
        assert [phase["id"] for phase in advance(id)] == ["phase_1"]
    assert "Status: pending" in report(root)
    file.chmod(0o600)
    update_phase_status(id, "phase_1", "completed")
    assert "Status: completed" in report(root)


def test_links_within_the_project_stay_links(root: Path):
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    (root / ".claude").symlink_to(elsewhere)
    id = create_workflow_state(TASK, PHASES)
    update_phase_status(id, "phase_0", "active")
    assert (root / ".claude").is_symlink()
    assert json.loads((elsewhere / "state/workflow.json").read_text())["status"] == "active"


def test_links_out_of_the_project_are_followed_only_when_allowed(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (root / ".claude").symlink_to(elsewhere)
    with pytest.raises(StoreError, match=f"outside of the project .*{VARIABLE}=1"):
        create_workflow_state(TASK, PHASES)
    assert list(elsewhere.iterdir()) == []
    monkeypatch.setenv(VARIABLE, "1")
    id = create_workflow_state(TASK, PHASES)
    update_phase_status(id, "phase_0", "active")
    assert (root / ".claude").is_symlink()
    assert json.loads((elsewhere / "state/workflow.json").read_text())["status"] == "active"


def test_a_report_does_not_lead_out_of_the_project(
    root: Path, tmp_path_factory: pytest.TempPathFactory
):
    theirs = tmp_path_factory.mktemp("home") / ".bashrc"
    theirs.write_text("alias ll='ls -l'\n")
    (root / ".claude").mkdir()
    (root / ".claude/workflow_state_system.md").symlink_to(theirs)
    id = create_workflow_state(TASK, PHASES)
    update_phase_status(id, "phase_0", "completed")
    assert theirs.read_text() == "alias ll='ls -l'\n"
    assert "- [x] Phase 0" in report(root)


def test_nothing_is_made_where_a_link_leads_to_nothing(root: Path):
    theirs = root / ".bash_profile"
    file = root / ".claude/state/workflow.json"
    file.parent.mkdir(parents=True)
    file.symlink_to(theirs)
    id = create_workflow_state(TASK, PHASES)
    assert not theirs.exists()
    assert not file.is_symlink()
    assert json.loads(file.read_text(encoding="utf-8"))["id"] == id


def test_the_state_may_be_a_link_in_a_burst_too(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "_BURST", 3600.0)
    id = create_workflow_state(TASK, PHASES)
    file, elsewhere = root / ".claude/state/workflow.json", root / "elsewhere.json"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    for made in "abc":
        update_phase_status(id, "phase_0", "active", [made])
    assert file.is_symlink()
    assert json.loads(elsewhere.read_text())["phases"][0]["deliverables"] == ["a", "b", "c"]


def test_the_project_is_found_from_below(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CLAUDE_PROJECT_DIR")
    (root / ".git").mkdir()
    deep = root / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    create_workflow_state(TASK, PHASES)
    assert state(root)["task"] == TASK


UPDATE = """
import sys
from callboard.statusfiles import update_phase_status
for number in range(10):
    update_phase_status(sys.argv[1], "phase_0", "active", [f"{sys.argv[2]}.{number}"])
"""


def test_fifty_processes_lose_nothing(root: Path):
    id = create_workflow_state(TASK, PHASES)
    started = [
        subprocess.Popen([sys.executable, "-c", UPDATE, id, str(number)]) for number in range(50)
    ]
    assert [process.wait() for process in started] == [0] * 50
    made = state(root)["phases"][0]["deliverables"]
    assert sorted(made) == sorted(f"{one}.{number}" for one in range(50) for number in range(10))


def test_whoever_is_killed_leaves_a_whole_file(root: Path):
    id = create_workflow_state(TASK, PHASES)
    for number in range(10):
        process = subprocess.Popen([sys.executable, "-c", UPDATE, id, f"k{number}"])
        while len(state(root)["phases"][0]["deliverables"]) < number + 1 and process.poll() is None:
            os.sched_yield()
        process.kill()
        process.wait()
        assert generate_markdown(state(root)).startswith("# Workflow Status")
    update_phase_status(id, "phase_0", "completed")


def test_it_loads_only_the_standard_library():
    code = (
        "import sys, callboard.statusfiles;"
        "print(sorted({n.partition('.')[0] for n in sys.modules}"
        " - set(sys.stdlib_module_names) - {'callboard'}))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    loaded = [name for name in eval(said) if not name.startswith(("_", "sitecustomize"))]
    assert loaded == []


@settings(max_examples=50)
@given(
    st.text(min_size=1).filter(str.strip),
    st.lists(st.text(min_size=1).filter(str.strip), max_size=5),
)
def test_a_report_has_one_line_a_phase_whatever_the_titles(task: str, titles: list[str]):
    phases = [
        {"id": f"phase_{n}", "title": title, "status": "completed", "deliverables": [title]}
        for n, title in enumerate(titles)
    ]
    told = generate_markdown(
        {"task": task, "status": "completed", "current_phase": None, "phases": phases}
    )
    lines = told.split("\n")
    assert len([line for line in lines if line.startswith("- [x] Phase ")]) == len(titles)
    assert len(lines) == 7 + len(titles)


def test_a_report_can_be_printed_whatever_it_tells_of(root: Path):
    evil = "\x1b]0;owned\x07\x1b[2Jx\u202e\u2066\x9b1m"
    id = create_workflow_state(f"{evil} 👩\u200d💻 ü", [(f"b{evil}", "maker")])
    update_phase_status(id, "phase_0", "active", [evil])
    lines = report(root).splitlines()
    assert all(line.replace("\u200d", "").isprintable() for line in lines)
    shown = r"\x1b]0;owned\x07\x1b[2Jx\u202e\u2066\x9b1m"
    assert lines[0] == f"# Workflow Status: {shown} 👩\u200d💻 ü"
    assert lines[-1] == f"- [ ] Phase 0: b{shown} → {shown}"
    assert state(root)["task"].startswith(evil), "the truth is as it was given"


def test_half_a_character_is_kept(root: Path):
    id = create_workflow_state(TASK, PHASES)
    update_phase_status(id, "phase_0", "completed", ["\ud83d", "ü"])
    assert state(root)["phases"][0]["deliverables"] == ["\ud83d", "ü"]
    assert "→ ?, ü" in report(root)


def archived(root: Path) -> dict[str, str]:
    """The archived workflows: the file's name and the task."""
    files = (root / ".claude/state/archive").glob("*.json")
    return {file.stem: json.loads(file.read_text())["task"] for file in files}


def test_no_archived_workflow_is_written_over(root: Path):
    ids: list[str] = []
    for task in "abc":
        ids.append(create_workflow_state(task, PHASES))
        archive()
    ids += [create_workflow_state(task, PHASES) for task in "def"]
    assert len(set(ids)) == 6, "whatever the second they were made in"
    assert archived(root) == dict(zip(ids[:5], "abcde", strict=True))


def test_an_id_by_hand_that_was_there_before_takes_nothing_away(root: Path):
    for task in "abc":
        create_workflow_state(task, PHASES)
        file = root / ".claude/state/workflow.json"
        file.write_text(json.dumps({**state(root), "id": "mine"}))
        archive("mine")
    assert archived(root) == {"mine": "a", "mine-2": "b", "mine-2-2": "c"}
    found = get_workflow_state("mine-2")
    assert found is not None
    assert found["task"] == "b"
