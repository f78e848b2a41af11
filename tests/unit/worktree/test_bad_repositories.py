"""Repositories that are empty, busy, huge, broken or hostile."""

import os
import random
import resource
import shutil
import socket
import stat
import subprocess
import sys
import threading
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from tests.repositories import TestRepository, new_repository

from callboard.errors import NotFound, WorktreeUnreadable
from callboard.worktree.changes import MOST_FILES, LineComment

NAMES = [
    "line\nbreak",
    'quote"d',
    "tab\there",
    "\x1b[31mred",
    "\u202egnp.exe",
    "-rf",
    ":(glob)*",
    "*.py",
    "größe",
    "a b ",
    "back\\slash",
    "\\xff",
    "'; rm -rf ~",
]


@pytest.fixture
def repository(tmp_path: Path) -> TestRepository:
    return new_repository(tmp_path)


def test_a_folder_without_a_repository(tmp_path: Path, repository: TestRepository):
    with pytest.raises(WorktreeUnreadable, match="is not in a git repository"):
        repository.changes(folder=tmp_path)
    with pytest.raises(WorktreeUnreadable, match="doesn't exist anymore"):
        repository.changes(folder=tmp_path / "gone")
    (tmp_path / ".git").mkdir()
    with pytest.raises(WorktreeUnreadable, match="is not in a git repository"):
        repository.changes(folder=tmp_path)


def test_a_repository_without_commits(tmp_path: Path):
    empty = new_repository(tmp_path, commits=False)
    assert empty.changes().files == []
    empty.start()
    empty.write("first", "1\n")
    empty.git("add", "-A")
    empty.write("second", "1\n")
    found = empty.changes()
    assert {one.path: one.staged for one in found.files} == {"first": True, "second": False}
    assert (found.branch, found.detached, found.base.commit) == ("main", False, None)
    assert list(empty.files("commit")) == ["first", "second"]
    empty.commit("First")
    assert [one.subject for one in empty.changes().commits] == ["First"]


def test_a_detached_head(repository: TestRepository):
    repository.git("checkout", "-q", "--detach")
    repository.write("new")
    found = repository.changes()
    assert (found.branch, found.detached, found.upstream) == (None, True, None)
    assert [one.path for one in found.files] == ["new"]


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        ("rebase", "rebase"),
        pytest.param("merge", "merge", marks=pytest.mark.long),
        pytest.param("cherry-pick", "cherry_pick", marks=pytest.mark.long),
    ],
)
def test_an_operation_that_is_not_finished(
    repository: TestRepository, command: str, operation: str
):
    repository.git("checkout", "-q", "-b", "side")
    repository.write("README", "side\n")
    repository.commit("Side")
    repository.git("checkout", "-q", "main")
    repository.write("README", "main\n")
    repository.commit("Main")
    repository.start()
    repository.git(command, "side", check=False)
    found = repository.changes()
    assert found.state == operation
    assert found.files[0].status == "conflicted"
    assert "+<<<<<<< " in "\n".join(repository.lines("README"))
    # A turn that starts now has a snapshot, too.
    assert repository.start(9000, kind="turn") is not None
    assert repository.files("turn") == {}


def test_bisecting_is_named(repository: TestRepository):
    repository.git("bisect", "start")
    assert repository.changes().state == "bisect"


def test_names_with_any_character(repository: TestRepository):
    repository.start()
    for name in NAMES:
        repository.write(name, "x\n")
    raw = os.fsencode(repository.root) + b"/b\xffytes"
    Path(os.fsdecode(raw)).write_text("raw\n")
    assert repository.files().keys() == {*NAMES, "b\\xffytes"}
    for name in NAMES[:7]:
        assert repository.lines(name) == ["+x"]
    assert repository.lines("b\\xffytes") == ["+raw"]
    repository.start(9000, kind="turn")
    assert repository.files("turn") == {}
    (repository.root / NAMES[0]).unlink()
    assert repository.files("turn")[NAMES[0]].status == "deleted"


def test_binary_files_are_named(repository: TestRepository):
    repository.start()
    (repository.root / "picture").write_bytes(bytes(range(256)))
    file = repository.files()["picture"]
    assert (file.binary, file.added, file.too_large) == (True, None, False)
    found = repository.reading().file(repository.request(), "picture")
    assert (found.file.binary, found.hunks) == (True, [])


def sparse(file: Path, size: int) -> None:
    with file.open("wb") as opened:
        opened.truncate(size)


def test_a_file_of_a_gigabyte_is_not_read(repository: TestRepository):
    sparse(repository.root / "before", 1 << 30)
    mark = repository.start()
    assert mark is not None
    assert mark.partial == 1
    assert repository.files() == {}
    sparse(repository.root / "new", 1 << 30)
    (repository.root / "README").unlink()
    sparse(repository.root / "README", 1 << 30)
    files = repository.files()
    assert {path: one.too_large for path, one in files.items()} == {"README": True, "new": True}
    assert repository.reading().file(repository.request(), "new").hunks == []
    sparse(repository.root / "before", 1 << 29)
    assert repository.files()["before"].too_large
    used = sum(file.stat().st_size for file in repository.store.folder.rglob("*"))
    assert used < 1_000_000


def test_links_are_not_followed(repository: TestRepository, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("password\n")
    repository.write("folder/file", "1\n")
    repository.commit()
    repository.start()
    (repository.root / "link").symlink_to(tmp_path / "outside/secret")
    (repository.root / "folder/file").unlink()
    (repository.root / "folder").rmdir()
    (repository.root / "folder").symlink_to(tmp_path / "outside")
    (repository.root / "loop").symlink_to("loop")
    files = repository.files()
    assert set(files) == {"folder", "folder/file", "link", "loop"}
    assert repository.lines("folder/file") == ["-1"]
    assert repository.lines("link") == [f"+{tmp_path}/outside/secret"]
    with pytest.raises(NotFound):
        repository.lines("folder/secret")
    assert repository.start(9000, kind="turn") is not None
    assert repository.files("turn") == {}


def test_a_file_that_became_a_folder(repository: TestRepository):
    repository.start()
    (repository.root / "README").unlink()
    repository.write("README/inside")
    assert {path: one.status for path, one in repository.files().items()} == {
        "README": "deleted",
        "README/inside": "added",
    }
    assert repository.lines("README/inside") == ["+text"]
    assert repository.start(9000, kind="turn") is not None
    assert repository.files("turn") == {}


def test_what_is_no_file_is_left_out(repository: TestRepository, monkeypatch: pytest.MonkeyPatch):
    repository.start()
    os.mkfifo(repository.root / "pipe")
    with socket.socket(socket.AF_UNIX) as opened:
        monkeypatch.chdir(repository.root)  # A socket's path can't be long.
        opened.bind("socket")
        (repository.root / "README").unlink()
        os.mkfifo(repository.root / "README")
        assert set(repository.files()) == {"README"}
        assert repository.start(9000, kind="turn") is not None


def test_a_file_that_cannot_be_read(repository: TestRepository, monkeypatch: pytest.MonkeyPatch):
    # Root reads everything, so that the system's answer has to be changed.
    def access(path: bytes, mode: int) -> bool:
        return not path.endswith(b"locked")

    monkeypatch.setattr("callboard.worktree.candidates.os.access", access)
    repository.start()
    repository.write("locked").chmod(0)
    repository.write("open")
    assert {path: one.too_large for path, one in repository.files().items()} == {
        "locked": True,
        "open": False,
    }
    mark = repository.start(9000, kind="turn")
    assert mark is not None
    assert mark.partial == 1


def test_submodules_count_as_their_commit(repository: TestRepository, tmp_path: Path):
    other = new_repository(tmp_path / "other")
    repository.git("submodule", "add", "-q", str(other.root), "module")
    repository.commit("Add a module")
    repository.start()
    module = repository.root / "module"
    (module / "inside").write_text("x\n")
    assert repository.files() == {}
    repository.git("add", "-A", at=module)
    repository.git("commit", "-q", "-m", "Inside", at=module)
    file = repository.files()["module"]
    assert (file.status, file.submodule) == ("modified", True)
    assert repository.start(9000, kind="turn") is not None
    assert repository.files("turn") == {}
    # A session can also work in the submodule itself.
    (module / "more").write_text("x\n")
    assert list(repository.files(folder=module)) == ["more"]


def test_a_repository_inside_is_named(repository: TestRepository):
    inner = repository.root / "inner"
    inner.mkdir()
    repository.git("init", "-q", at=inner)
    (inner / "file").write_text("x\n")
    repository.git("add", "-A", at=inner)
    repository.git("commit", "-q", "-m", "Inner", at=inner)
    file = repository.files()["inner"]
    assert (file.status, file.submodule, file.too_large) == ("added", True, False)
    assert repository.start() is not None


def test_files_of_lfs_are_named(repository: TestRepository):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 4\n"
    repository.write(".gitattributes", "*.psd filter=lfs diff=lfs merge=lfs -text\n")
    repository.write("art.psd", pointer.format("0" * 64))
    repository.commit()
    repository.start()
    repository.write("art.psd", "the real content\n")
    file = repository.files()["art.psd"]
    assert (file.lfs, file.added, file.status) == (True, None, "modified")
    assert repository.reading().file(repository.request(), "art.psd").hunks == []


def test_other_working_trees_of_a_repository(repository: TestRepository, tmp_path: Path):
    repository.start()
    repository.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    (tmp_path / "other/new").write_text("x\n")
    found = repository.changes(folder=tmp_path / "other")
    assert [one.path for one in found.files] == ["new"]
    assert found.branch == "other"
    assert "another working tree" in (found.base.note or "")
    assert repository.files() == {}


def test_a_folder_of_the_repository_stands_for_all_of_it(repository: TestRepository):
    repository.write("deep/er/file")
    found = repository.changes(folder=repository.root / "deep/er")
    assert (found.root, found.files[0].path) == (str(repository.root), "deep/er/file")


def wrapped_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a script before git in the PATH."""
    real = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout
    folder.mkdir()
    file = folder / "git"
    file.write_text(f'#!/bin/sh\n{script}\nexec {real.strip()} "$@"\n')
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_repository_of_another_user(
    repository: TestRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    script = "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1"
    wrapped_git(tmp_path / "bin", script, monkeypatch)
    with pytest.raises(WorktreeUnreadable, match=r"another user\. If you trust it: git config"):
        repository.changes()


def test_git_that_hangs_is_ended(
    repository: TestRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    wrapped_git(tmp_path / "bin", "sleep 600 & wait", monkeypatch)
    with pytest.raises(WorktreeUnreadable, match=r"took longer than 0\.3 seconds"):
        repository.reading(0.3).list(repository.request(), 0)
    found = subprocess.run(["pgrep", "-f", "sleep 600"], capture_output=True, check=False)
    assert found.returncode == 1


def test_a_broken_index_is_reported(repository: TestRepository):
    (repository.root / ".git/index").write_bytes(b"garbage")
    with pytest.raises(WorktreeUnreadable, match="git could not read"):
        repository.changes()


def test_a_damaged_record_of_snapshots_counts_as_none(repository: TestRepository):
    repository.start()
    [file] = repository.store.folder.glob("session-*/marks.json")
    for damaged in (b"", b"[1]", b'{"marks": [{"id": "x"}, 5, {"id": "1", "tree": "--help"}]}'):
        file.write_bytes(damaged)
        assert repository.changes().base.kind == "commit"


@pytest.mark.timeout(120)
def test_a_repository_that_changes_while_it_is_read(repository: TestRepository):
    """Whatever is seen of it, it is a list, a diff or an error that says why there is none."""
    for number in range(50):
        repository.write(f"d{number % 5}/f{number}", "1\n" * 20)
    repository.commit()
    repository.start()
    stop = threading.Event()

    def disturb() -> None:
        rng = random.Random(1)
        while not stop.is_set():
            path = f"d{rng.randrange(5)}/f{rng.randrange(50)}"
            file = repository.root / path
            match rng.randrange(7):
                case 0:
                    file.unlink(missing_ok=True)
                case 1:
                    shutil.rmtree(file.parent, ignore_errors=True)
                case 2:
                    repository.git("add", "-A", check=False)
                case 3:
                    repository.git("commit", "-q", "-m", "Disturb", check=False)
                case 4:
                    repository.git("checkout", "-q", "--force", "HEAD", check=False)
                case _:
                    with suppress(OSError):
                        repository.write(path, f"{rng.random()}\n" * rng.randrange(40))

    disturbing = threading.Thread(target=disturb)
    disturbing.start()
    read = 0
    try:
        for number in range(15):
            for since in ("session", "commit"):
                with suppress(WorktreeUnreadable):
                    found = repository.changes(since)
                    read += 1
                    for file in found.files[:2]:
                        with suppress(NotFound):
                            repository.lines(file.path, since)
            with suppress(WorktreeUnreadable):
                repository.start(9000 * (number + 1), kind="turn")
    finally:
        stop.set()
        disturbing.join()
    assert read > 0
    # Nothing is left of all that, and once it rests, all of it is right.
    assert not list(repository.store.folder.glob("work-*"))
    repository.start(1_000_000, kind="turn")
    assert repository.files("turn") == {}


# ---------------------------------------------------------------------- hostile


def hostile(repository: TestRepository, marker: Path) -> None:
    """A repository whose configuration runs a program wherever git would."""
    program = repository.root.parent / "program"
    program.write_text(f"#!/bin/sh\necho ran $0 $@ >> {marker}\ncat\n")
    program.chmod(0o755)
    settings = {
        "core.fsmonitor": program, "core.hooksPath": program.parent / "hooks",
        "core.pager": program, "core.editor": program, "core.sshCommand": program,
        "core.gitProxy": program, "core.askPass": program, "core.alternateRefsCommand": program,
        "diff.external": program, "diff.evil.command": program, "diff.evil.textconv": program,
        "filter.evil.clean": program, "filter.evil.smudge": program,
        "filter.evil.process": program, "filter.evil.required": "true",
        "filter.lfs.clean": program, "filter.lfs.process": program, "gpg.program": program,
        "log.showSignature": "true", "pager.status": program, "credential.helper": program,
        "extensions.partialClone": "evil", "remote.evil.url": f"ext::{program}",
        "remote.evil.promisor": "true", "remote.evil.uploadpack": program,
        "interactive.diffFilter": program, "core.untrackedCache": "true",
        "submodule.module.update": f"!{program}", "status.submoduleSummary": "true",
    }  # fmt: skip
    hooks = program.parent / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).symlink_to(program)
        (repository.root / ".git/hooks" / name).symlink_to(program)
    for name, value in settings.items():
        repository.git("config", name, str(value))
    attributes = "* filter=evil diff=evil\n*.psd filter=lfs\n"
    (repository.root / ".git/info/attributes").write_text(attributes)
    repository.write(".gitattributes", attributes)


def test_nothing_that_a_repository_names_is_run(repository: TestRepository, tmp_path: Path):
    other = new_repository(tmp_path / "other")
    repository.git("submodule", "add", "-q", str(other.root), "module")
    repository.write("gone", "1\n" * 40)
    repository.commit("Before")
    marker = tmp_path / "ran"
    hostile(repository, marker)
    program = str(repository.root.parent / "program")
    repository.git("config", "core.fsmonitor", program, at=repository.root / "module")
    repository.start()
    (repository.root / "gone").rename(repository.root / "moved")
    repository.write("README", "one\n2\nthree\n")
    repository.write("picture.psd")
    (repository.root / "module/new").write_text("x\n")
    assert set(repository.files()) == {"README", "moved", "picture.psd"}
    assert repository.lines("README") == [" one", "-two", "+2", " three"]
    repository.reading().comments(repository.request(), [])
    repository.start(9000, kind="turn")
    repository.changes("turn")
    assert not marker.exists(), marker.read_text()
    repository.git("status", check=False)
    assert marker.exists()  # As it would be with plain git.


def test_a_missing_object_is_not_fetched(repository: TestRepository, tmp_path: Path):
    marker = tmp_path / "ran"
    hostile(repository, marker)
    blob = repository.git("rev-parse", "HEAD:README")
    (repository.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    repository.write("README", "one\n2\nthree\n")
    with pytest.raises(WorktreeUnreadable):
        repository.lines("README", "commit")
    assert not marker.exists(), marker.read_text()


ENDLESS = ("/dev/zero", "a pipe")
COPIED = ("info/exclude", "info/sparse-checkout", "shallow", "sharedindex.x")


def put_endless(file: Path, target: str) -> None:
    """Put something without an end in a file's place."""
    file.parent.mkdir(exist_ok=True, parents=True)
    file.unlink(missing_ok=True)
    if target == "a pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(target)


@pytest.mark.parametrize("target", ENDLESS)
def test_what_never_ends_is_not_copied(repository: TestRepository, target: str):
    for name in COPIED:
        put_endless(repository.root / ".git" / name, target)
    repository.write("new")
    assert list(repository.files()) == ["new"]
    put_endless(repository.root / ".git/index", target)
    with pytest.raises(WorktreeUnreadable, match="not a regular file"):
        repository.changes()
    used = sum(one.stat().st_size for one in repository.store.folder.rglob("*") if one.is_file())
    assert used < 1_000_000


@pytest.mark.parametrize("name", ["objects/info/alternates", "commondir", "refs/heads/main"])
def test_git_that_reads_what_never_ends_is_ended(repository: TestRepository, name: str):
    put_endless(repository.root / ".git" / name, "/dev/zero")
    with suppress(WorktreeUnreadable):  # A branch that can't be read counts as one without commits.
        assert repository.reading(30.0).list(repository.request(), 0).base.commit is None
    if sys.platform == "linux":
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        assert used < 1_300_000  # kB


@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs"])
def test_git_that_waits_for_a_pipe_is_ended(repository: TestRepository, name: str):
    put_endless(repository.root / ".git" / name, "a pipe")
    with pytest.raises(WorktreeUnreadable, match=r"took longer than 0\.5 seconds"):
        repository.reading(0.5).list(repository.request(), 0)


def test_the_configuration_cannot_move_the_working_tree(repository: TestRepository, tmp_path: Path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/password").write_text("x\n")
    repository.git("config", "core.worktree", str(tmp_path / "secrets"))
    assert repository.files() == {}
    repository.git("config", "core.worktree", str(tmp_path))
    assert repository.files() == {}


# ---------------------------------------------------------------------- large


def test_files_of_very_many_lines_cost_little(repository: TestRepository):
    repository.start()
    for number in range(2):
        repository.write(f"many{number}", "x\n" * 500_000)
    reading, request = repository.reading(60.0), repository.request()
    comments = [LineComment(f"many{n}", "new", 5, "Why?", "x") for n in range(2)]
    tracemalloc.start()
    try:
        found = reading.file(request, "many1")
        assert (found.cut, len(found.hunks)) == (True, 1)
        _, of_diff = tracemalloc.get_traced_memory()
        said = reading.comments(request, comments)
        _, of_comments = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert of_diff < 24_000_000
    assert of_comments < 80_000_000
    assert [one.index for one in said.comments] == [0, 1]


def many(repository: TestRepository, count: int) -> None:
    for number in range(count):
        file = repository.root / f"d{number // 1000}" / f"f{number}"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x\n")


def check_many(repository: TestRepository, count: int) -> None:
    repository.start()
    many(repository, count)
    found = repository.reading(12.0).list(repository.request(), 0)
    assert (len(found.files), found.more) == (MOST_FILES, count - MOST_FILES)
    assert all(one.added == 1 for one in found.files)
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "Many")
    found = repository.reading(12.0).list(repository.request(), 0)
    assert (len(found.files), found.more) == (MOST_FILES, count - MOST_FILES)
    for number in range(count):
        (repository.root / f"d{number // 1000}" / f"f{number}").write_bytes(b"y\n")
    found = repository.reading(12.0).list(repository.request("commit"), 0)
    assert (len(found.files), found.more) == (MOST_FILES, count - MOST_FILES)
    mark = repository.start(9000, kind="turn")
    assert mark is not None


def test_of_thousands_of_files_the_first_are_listed(repository: TestRepository):
    check_many(repository, 3000)


@pytest.mark.long
def test_a_hundred_thousand_changed_files(repository: TestRepository):
    check_many(repository, 100_000)
    assert stat.S_IMODE(repository.store.folder.stat().st_mode) == 0o700
