"""Pull requests and checks, from a scripted `gh`."""

import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.repositories import TestRepository, new_repository
from tests.terminals import until

from callboard.worktree import pull_requests
from callboard.worktree.changes import PullRequest
from callboard.worktree.pull_requests import FRESH_MS, PullRequests, read_pull_request
from callboard.worktree.session_changes import SessionChanges

TOLD = {
    "number": 12,
    "title": "Add a \u202etable",
    "url": "https://example.com/pull/12",
    "state": "OPEN",
    "isDraft": False,
    "statusCheckRollup": [
        {"__typename": "CheckRun", "name": "docs", "status": "COMPLETED", "conclusion": "SKIPPED"},
        {
            "__typename": "CheckRun", "name": "lint", "workflowName": "CI", "status": "COMPLETED",
            "conclusion": "FAILURE", "detailsUrl": "https://example.com/run/1",
        },
        {"__typename": "CheckRun", "name": "tests", "status": "IN_PROGRESS", "conclusion": ""},
        {
            "__typename": "StatusContext", "context": "deploy", "state": "ERROR",
            "targetUrl": "javascript:alert(1)",
        },
        {"__typename": "StatusContext", "context": "wait", "state": "EXPECTED"},
    ],
}  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> TestRepository:
    return new_repository(tmp_path)


def scripted_gh(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(exist_ok=True)
    file = folder / "gh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_the_chip_is_read_in_the_background(
    repository: TestRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "told.json").write_text(json.dumps(TOLD))
    script = f'echo "$@" >> {tmp_path}/calls; cat {tmp_path}/told.json'
    scripted_gh(tmp_path / "bin", script, monkeypatch)
    now = [1000]
    known = PullRequests(lambda: now[0])
    reading = SessionChanges(repository.store, pull_requests=known)
    assert reading.list(repository.request(), 0).pull_request is None
    known.wait()
    found = reading.list(repository.request(), 0).pull_request
    assert found is not None
    assert (found.number, found.state, found.title) == (12, "open", "Add a \\u202etable")
    assert [(one.name, one.state, one.url) for one in found.checks] == [
        ("CI / lint", "failed", "https://example.com/run/1"),
        ("deploy", "failed", None),
        ("tests", "pending", None),
        ("wait", "pending", None),
        ("docs", "passed", None),
    ]
    assert found.checks[0].message == (
        "The check 'CI / lint' failed on pull request #12 (Add a \\u202etable). Fix its cause.\n"
        "https://example.com/run/1"
    )
    assert found.checks[2].message is None
    known.wait()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["pr view --json number,title,url,state,isDraft,statusCheckRollup -- main"]
    now[0] += FRESH_MS
    assert known.of(str(repository.root), "main") == found
    known.wait()
    assert len((tmp_path / "calls").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "script", ["exit 1", "exit 4", "echo '{}'", "echo '['", "head -c 2000000 /dev/zero", "kill $$"]
)
def test_without_a_pull_request_there_is_no_chip(
    repository: TestRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
):
    scripted_gh(tmp_path / "bin", script, monkeypatch)
    known = PullRequests(lambda: 1000)
    assert known.of(str(repository.root), "main") is None
    known.wait()
    assert known.of(str(repository.root), "main") is None


def test_a_branch_is_never_an_option_or_a_number(
    repository: TestRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "calls").touch()
    scripted_gh(tmp_path / "bin", f'echo "$@" >> {tmp_path}/calls', monkeypatch)
    known = PullRequests(lambda: 0)
    reading = SessionChanges(repository.store, pull_requests=known)
    for branch in ("--web", "12", "#12"):
        repository.git("update-ref", f"refs/heads/{branch}", "HEAD")
        repository.git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        assert reading.list(repository.request(), 0).branch == branch
        known.wait()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.partition(" -- ")[2] for call in calls] == ["--web"]


def test_a_state_is_named():
    def state(**told: Any) -> str:
        found = read_pull_request({**TOLD, **told}, 1)
        assert found is not None
        return found.state

    assert state(isDraft=True) == "draft"
    assert state(state="MERGED") == "merged"
    assert state(state="CLOSED", isDraft=True) == "closed"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*TOLD, "other"]), VALUES))
def test_anything_that_gh_prints_is_read(told: dict[str, Any]):
    found = read_pull_request(told, 5)
    if found is not None:
        assert PullRequest.from_wire(found.to_wire()) == found


def test_gh_that_never_stops_printing_is_ended(
    repository: TestRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    scripted_gh(tmp_path / "bin", f"echo $$ > {tmp_path}/pid; exec yes", monkeypatch)
    known = PullRequests(lambda: 1000)
    assert known.of(str(repository.root), "main") is None
    known.wait()
    assert not psutil.pid_exists(int((tmp_path / "pid").read_text()))


def test_what_gh_has_started_ends_with_it(
    repository: TestRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # The child keeps the output open, although gh itself has ended.
    monkeypatch.setattr(pull_requests, "_TIME_LIMIT", 0.5)
    scripted_gh(tmp_path / "bin", f"sleep 3600 & echo $! > {tmp_path}/pid", monkeypatch)
    known = PullRequests(lambda: 1000)
    assert known.of(str(repository.root), "main") is None
    known.wait()
    child = int((tmp_path / "pid").read_text())
    # A process that was killed needs a moment.
    until(lambda: has_ended(child) or None, "the end of the child")


def has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
