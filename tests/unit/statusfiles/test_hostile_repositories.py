"""A repository may bring anything in its `.claude`: nothing outside changes, nothing hangs."""

import json
import os
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from callboard.errors import CallboardError
from callboard.statusfiles import (
    advance,
    archive,
    create_workflow_state,
    get_workflow_state,
    update_phase_status,
)
from callboard.statusfiles.location import StatusFolder
from callboard.statusfiles.memory import remembering
from callboard.statusfiles.shelf import all_workflows

PHASES = [("a", "maker"), ("b", "verifier")]
STATE = ".claude/state"
OURS = (
    "workflow.json",
    "workflow.json.lock",
    "workflow.json.safe",
    f".workflow.json.{os.getpid()}",
    ".workflow_state_system.md",
    "workflow_hooks.json",
    "workflow_hooks.json.lock",
    "workflow_hooks_error.txt",
    f".workflow_hooks.json.{os.getpid()}",
    "archive",
)
HOOK = Path(__file__).parents[3] / "src/callboard/statusfiles/hook.py"
A_WORKFLOW = json.dumps({"id": "wf_1", "task": "theirs", "status": "pending", "phases": []})


@pytest.fixture(autouse=True)
def nothing_hangs() -> Iterator[None]:
    """Whatever waits for a pipe is interrupted, and fails the test."""
    signal.alarm(20)
    yield
    signal.alarm(0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / STATE).mkdir(parents=True)
    return root


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    (home / "file").write_text("theirs")
    (home / "workflow").write_text(A_WORKFLOW)
    return home


def everything(folder: Path) -> dict[str, bytes | None]:
    """All that is in a folder, with modes and times: whoever touches any of it is caught."""
    return {
        f"{path.relative_to(folder)} {(told := path.lstat()).st_mode} {told.st_mtime_ns}": (
            path.read_bytes() if path.is_file() else None
        )
        for path in folder.rglob("*")
    }


def use(root: Path) -> None:
    """All that agents, hooks and people do with status files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for task in ("first", "second"):
            with suppress(CallboardError, OSError):
                id = create_workflow_state(task, PHASES, path=root)
                update_phase_status(id, "phase_0", "active", path=root)
                advance(id, path=root)
                with remembering(StatusFolder(root), id) as memory:
                    memory.session("s")["told"] = [{"content": task}]
                update_phase_status(id, "phase_0", "completed", ["x"], path=root)
        with suppress(CallboardError):
            get_workflow_state(path=root)
            list(all_workflows(StatusFolder(root)))
            archive(path=root)
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Agent"}
    subprocess.run(
        [sys.executable, "-I", "-S", HOOK],
        input=json.dumps(payload).encode(),
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(root)},
        check=True,
        timeout=10,
    )


@pytest.mark.parametrize("target", ["file", "workflow", "folder", "absent"])
@pytest.mark.parametrize("name", OURS, ids=lambda name: name.replace(str(os.getpid()), "PID"))
def test_a_planted_link_leads_to_no_file_outside(root: Path, home: Path, name: str, target: str):
    (root / STATE / name).symlink_to(home / target)
    before = everything(home)
    use(root)
    assert everything(home) == before


@pytest.mark.parametrize("name", [".claude", STATE, f"{STATE}/archive"])
def test_a_folder_that_is_a_link_leads_to_no_file_outside(root: Path, home: Path, name: str):
    for state in ("state", "."):
        (home / "folder" / state).mkdir(exist_ok=True)
        (home / "folder" / state / "workflow.json").write_text(A_WORKFLOW)
    (root / STATE).rmdir()
    (root / ".claude").rmdir()
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).symlink_to(home / "folder")
    before = everything(home)
    use(root)
    assert everything(home) == before


@pytest.mark.parametrize("name", OURS, ids=lambda name: name.replace(str(os.getpid()), "PID"))
def test_a_second_name_of_a_file_leads_to_no_file_outside(root: Path, home: Path, name: str):
    os.link(home / "workflow", root / STATE / name)
    before = (home / "workflow").read_bytes()
    use(root)
    assert (home / "workflow").read_bytes() == before


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def without_end(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 1024**3)


def deep(path: Path) -> None:
    path.write_text("[" * 200_000)


@pytest.mark.parametrize("make", [a_pipe, without_end, huge, deep])
@pytest.mark.parametrize("name", ["workflow.json", "workflow_hooks.json", "archive/wf_1.json"])
def test_what_is_no_file_neither_hangs_nor_fills_the_memory(
    root: Path, make: Callable[[Path], None], name: str
):
    path = root / STATE / name
    path.parent.mkdir(exist_ok=True)
    make(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    use(root)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB


def test_what_is_no_file_is_set_aside_and_work_goes_on(root: Path):
    os.mkfifo(root / STATE / "workflow.json")
    with pytest.warns(UserWarning, match=r"is now workflow\.json\.broken-1"):
        id = create_workflow_state("the task", PHASES, path=root)
    told = get_workflow_state(path=root)
    assert told is not None
    assert told["id"] == id


def test_a_folder_swapped_for_a_link_again_and_again_leads_nowhere(root: Path, home: Path):
    """Whoever can write beside us swaps the folder while we write into it."""
    swap = (
        "import os, sys, itertools\n"
        "there, home = sys.argv[1:]\n"
        "os.symlink(home, there + '.link')\n"
        "for n in itertools.count():\n"
        "    os.rename(there, there + '.real'); os.rename(there + '.link', there)\n"
        "    os.rename(there, there + '.link'); os.rename(there + '.real', there)\n"
    )
    with subprocess.Popen([sys.executable, "-c", swap, root / STATE, home / "folder"]) as swapping:
        for _ in range(200):
            with suppress(CallboardError, OSError), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                create_workflow_state("the task", PHASES, path=root)
        swapping.kill()
    assert list((home / "folder").iterdir()) == []


@pytest.mark.parametrize("name", [".claude/workflow_state_system.md"])
def test_the_report_replaces_a_link(root: Path, home: Path, name: str):
    (root / name).symlink_to(home / "file")
    create_workflow_state("the task", PHASES, path=root)
    assert (home / "file").read_text() == "theirs"
    assert "the task" in (root / name).read_text()
