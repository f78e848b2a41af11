"""The branch of a plate follows what is checked out in its folder."""

import subprocess
from pathlib import Path

import pytest

from callboard.board.branches import Branches


def git(*words: str, cwd: Path) -> None:
    told = ["-c", "user.name=Ann", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *told, *words], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    git("init", "-q", "-b", "main", cwd=project)
    git("commit", "-q", "--allow-empty", "-m", "Begin", cwd=project)
    return project


def test_each_checkout_is_seen_at_the_next_look(project: Path):
    branches = Branches()
    deep = project / "deep"
    deep.mkdir()
    assert branches.of(str(deep)) == "main"
    for name in ("one", "two/three", "four"):
        git("checkout", "-q", "-b", name, cwd=project)
        assert branches.of(str(deep)) == name
    git("checkout", "-q", "--detach", cwd=project)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=project, text=True)
    assert branches.of(str(deep)) == head[:12]


def test_worktrees_and_submodules_have_branches_of_their_own(project: Path, tmp_path: Path):
    git("worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"), cwd=project)
    git("clone", "-q", str(project), "other", cwd=tmp_path)
    other = tmp_path / "other"
    git("submodule", "add", "-q", str(project), "sub", cwd=other)
    branches = Branches()
    tree, sub = tmp_path / "tree", other / "sub"
    assert (tree / ".git").is_file()
    assert (sub / ".git").is_file()
    assert [branches.of(str(one)) for one in (tree, sub, other)] == ["side", "main", "main"]
    git("checkout", "-q", "-b", "further", cwd=tree)
    git("checkout", "-q", "-b", "inside", cwd=sub)
    assert [branches.of(str(one)) for one in (tree, sub, other)] == ["further", "inside", "main"]


def test_a_repository_that_is_made_later_is_found(tmp_path: Path):
    branches = Branches()
    assert branches.of(str(tmp_path)) is None
    git("init", "-q", "-b", "fresh", cwd=tmp_path)
    found = [branches.of(str(tmp_path)) for _ in range(10)]
    assert found[-1] == "fresh"


@pytest.mark.parametrize("folder", ["", "relative", "/no/such/folder", "/\udcff"])
def test_where_there_is_nothing_there_is_no_branch(folder: str):
    assert Branches().of(folder) is None


def test_what_nobody_works_in_is_forgotten(project: Path):
    branches = Branches()
    branches.of(str(project))
    branches.keep_only(())
    git("checkout", "-q", "-b", "next", cwd=project)
    assert branches.of(str(project)) == "next"
