"""Windows, as far as it can be had here: without the modules, calls and signals that it lacks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.disk.locks import is_held

ROOT = Path(__file__).parent.parent.parent
# Each of them is only for a command that says so, or for a hook, which runs in a POSIX shell.
ONLY_POSIX = {
    "board.attaching",
    "cli.attend_screen",
    "cli.commands.attend",
    "cli.commands.watch",
    "courier.holding",
    "harness.attending",
    "harness.ending",
    "harness.pty",
    "harness.unrecorded",
    "hookclient",
    "hookmail",
    "statusfiles.hook",
    "systems.linux",
    "terminals.agent_job",
    "terminals.attaching",
    "terminals.hosting",
    "terminals.job_control",
    "terminals.persons_terminal",
    "terminals.starting_job",
    "vendors.acp.agent_host",
    "vendors.acp.hosted_agent",
}


def run(what: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.as_windows", what, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_workflow_runs_and_a_server_takes_its_answer(tmp_path: Path):
    assert run("work", str(tmp_path)) == "status: completed\n"
    assert [one.name for one in tmp_path.rglob("*.part")] == []
    assert not any(is_held(one) for one in tmp_path.rglob("*.lock"))


def test_a_command_that_does_not_work_there_says_so_in_a_sentence():
    said = run("commands").splitlines()
    assert len(said) == 3
    assert all("needs Linux or macOS, because" in one for one in said)


@pytest.mark.long
def test_all_that_a_server_and_a_client_need_can_be_imported():
    assert set(run("imports").split()) == ONLY_POSIX
