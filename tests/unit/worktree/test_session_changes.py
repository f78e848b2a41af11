"""What changed since a session or a turn started, in real repositories."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.repositories import TestRepository, contents, new_repository

from callboard.errors import NotFound, ValidationError, WorktreeUnreadable
from callboard.worktree import comparison, snapshots
from callboard.worktree.changes import LineComment
from callboard.worktree.snapshots import TurnStart


@pytest.fixture
def repository(tmp_path: Path) -> TestRepository:
    return new_repository(tmp_path)


def test_only_what_changed_since_the_session_started_is_listed(repository: TestRepository):
    repository.write("mine", "before\n")
    repository.write("edited", "a\n")
    repository.start()
    repository.write("edited", "a\nb\n")
    repository.write("README", "one\n2\nthree\n")
    repository.write("new/file", "x\n")
    found = repository.changes()
    assert [(one.path, one.status, one.added, one.removed) for one in found.files] == [
        ("README", "modified", 1, 1),
        ("edited", "modified", 1, 0),
        ("new/file", "added", 1, 0),
    ]
    assert (found.branch, found.detached, found.more) == ("main", False, 0)
    assert (found.base.kind, found.base.note) == ("session", None)
    assert repository.lines("README") == [" one", "-two", "+2", " three"]


def test_a_file_that_was_put_back_is_not_listed(repository: TestRepository):
    repository.start()
    repository.write("README", "other\n")
    repository.write("README", "one\ntwo\nthree\n")
    repository.write("gone")
    (repository.root / "gone").unlink()
    assert repository.files() == {}


def test_commits_since_the_start_still_count(repository: TestRepository):
    first = repository.git("rev-parse", "HEAD")
    repository.start()
    repository.write("a", "1\n")
    made = repository.commit("Add a")
    repository.write("b", "1\n")
    found = repository.changes()
    assert {one.path: (one.staged, one.unstaged) for one in found.files} == {
        "a": (False, False),
        "b": (False, True),
    }
    assert [(one.id, one.subject, one.author) for one in found.commits] == [(made, "Add a", "Ada")]
    assert (found.base.commit, found.more_commits) == (first, 0)
    assert list(repository.files("commit")) == ["b"]


def test_staged_and_unstaged_are_told_apart(repository: TestRepository):
    repository.start()
    repository.write("staged")
    repository.write("both", "1\n")
    repository.git("add", "-A")
    repository.write("both", "2\n")
    repository.write("loose")
    assert {path: (one.staged, one.unstaged) for path, one in repository.files().items()} == {
        "both": (True, True),
        "loose": (False, True),
        "staged": (True, False),
    }


def test_renames_and_deletions_are_named(repository: TestRepository):
    repository.write("old", "line\n" * 30)
    repository.write("gone", "x\n")
    repository.commit()
    repository.start()
    (repository.root / "old").rename(repository.root / "new")
    (repository.root / "gone").unlink()
    files = repository.files()
    assert (files["new"].status, files["new"].old_path) == ("renamed", "old")
    assert (files["gone"].status, files["gone"].removed) == ("deleted", 1)
    assert repository.lines("gone") == ["-x"]
    repository.write("new", "line\n" * 29 + "other\n")
    assert repository.lines("new", old_path="old")[-2:] == ["-line", "+other"]


def test_each_turn_has_its_own_changes(repository: TestRepository):
    repository.start(1000)
    repository.start(2000, kind="turn", prompt="First", now=2500)
    repository.write("first")
    repository.start(9000, kind="turn", prompt="Second")
    repository.write("second")
    found = repository.changes()
    assert [(one.at, one.late, one.prompt) for one in found.turns] == [
        (2000, 500, "First"),
        (9000, 0, "Second"),
    ]
    assert list(repository.files()) == ["first", "second"]
    assert list(repository.files("turn")) == ["second"]
    assert list(repository.files(found.turns[0].id)) == ["first", "second"]
    with pytest.raises(NotFound, match="no turn '99'"):
        repository.files("99")
    with pytest.raises(ValidationError, match="since"):
        repository.files("yesterday")


def test_a_resumed_session_keeps_its_start(repository: TestRepository):
    repository.start(1000)
    repository.write("first")
    assert repository.start(5000) is None
    assert list(repository.files()) == ["first"]


def test_without_a_snapshot_it_compares_with_the_last_commit(repository: TestRepository):
    repository.write("new")
    found = repository.changes()
    assert [one.path for one in found.files] == ["new"]
    assert (found.base.kind, found.snapshot_at) == ("commit", None)
    assert "no snapshot" in (found.base.note or "")


def test_a_snapshot_whose_objects_are_gone_is_said(repository: TestRepository):
    repository.write("new", "1\n")
    repository.start()
    objects = repository.store.objects("s1")
    assert objects is not None
    for file in objects.rglob("*"):
        if file.is_file():
            file.unlink()
    found = repository.changes()
    assert found.base.kind == "commit"
    assert "can't be read anymore" in (found.base.note or "")


def test_nothing_of_the_repository_is_written(repository: TestRepository):
    repository.write("a", "1\n")
    repository.git("add", "-A")
    repository.write("a", "2\n")
    repository.write("b", "2\n")
    before = contents(repository.root)
    repository.start()
    repository.write("c")
    (repository.root / "c").unlink()
    repository.changes()
    repository.lines("a", "commit")
    assert contents(repository.root) == before
    own = repository.store.folder
    assert [path for path in (own, *own.rglob("*")) if path.stat().st_mode & 0o077] == []
    assert not list(own.glob("work-*"))


def test_a_lock_of_the_person_does_not_matter(repository: TestRepository):
    (repository.root / ".git/index.lock").write_text("")
    assert repository.start() is not None
    repository.write("new")
    assert list(repository.files()) == ["new"]
    assert (repository.root / ".git/index.lock").exists()


def test_ignored_files_are_left_out(repository: TestRepository):
    repository.write(".gitignore", "secret\n")
    repository.write(".git/info/exclude", "private\n")
    repository.start()
    repository.write("secret", "password\n")
    repository.write("private", "password\n")
    assert repository.files() == {}
    for path in ("secret", "private"):
        with pytest.raises(NotFound):
            repository.lines(path)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a\0b", ".."])
def test_only_paths_inside_are_read(repository: TestRepository, path: str):
    with pytest.raises(ValidationError, match="path"):
        repository.lines(path)


def test_ahead_and_behind_its_upstream(repository: TestRepository, tmp_path: Path):
    repository.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    repository.commit("Theirs")
    repository.git("fetch", "-q", at=clone)
    repository.git("commit", "-q", "--allow-empty", "-m", "Ours", at=clone)
    repository.git("commit", "-q", "--allow-empty", "-m", "Ours too", at=clone)
    found = repository.changes(folder=clone)
    assert (found.upstream, found.ahead, found.behind) == ("origin/main", 2, 1)


def test_a_long_diff_is_cut(repository: TestRepository):
    repository.start()
    repository.write("long", "a line of text\n" * 60_000)
    found = repository.reading().file(repository.request(), "long")
    assert found.cut
    assert 1000 < len(found.hunks[0].lines) < 60_000
    assert found.file.added == 60_000


def test_the_end_of_a_file_without_a_line_break(repository: TestRepository):
    repository.start()
    repository.write("new", "end")
    [hunk] = repository.reading().file(repository.request(), "new").hunks
    assert [(line.text, line.new, line.no_newline) for line in hunk.lines] == [("end", 1, True)]


# ---------------------------------------------------------------------- comments


def comment(line: int, excerpt: str, *, side: str = "new", text: str = "Why?") -> LineComment:
    assert side in ("old", "new")
    return LineComment("code", side, line, text, excerpt)


def test_comments_become_one_message(repository: TestRepository):
    repository.write("code", "a\nb\nc\n")
    repository.commit()
    repository.start()
    repository.write("code", "a\nB\nc\n")
    given = [comment(3, "c", text="Last."), comment(2, "B"), comment(2, "b", side="old")]
    found = repository.reading().comments(repository.request(), given)
    assert [(one.index, one.line, one.outdated) for one in found.comments] == [
        (0, 3, False),
        (1, 2, False),
        (2, 2, False),
    ]
    assert found.text == (
        "Comments on your changes:\n\ncode\n\nLine 2:\n> B\nWhy?\n\n"
        "Line 2 (a removed line):\n> b\nWhy?\n\nLine 3:\n> c\nLast."
    )


def test_a_comment_whose_line_changed_is_outdated_and_one_that_moved_is_not(
    repository: TestRepository,
):
    repository.start()
    repository.write("code", "zero\na\nb\n")
    given = [comment(1, "a"), comment(2, "changed")]
    found = repository.reading().comments(repository.request(), given)
    assert [(one.line, one.outdated) for one in found.comments] == [(2, False), (None, True)]
    assert "Line 2 (this line has changed since):\n> changed" in found.text


def test_comments_on_a_file_that_was_put_back_are_outdated(repository: TestRepository):
    found = repository.reading().comments(repository.request(), [comment(1, "x\x1b[31m\u202e")])
    assert found.comments[0].outdated
    assert "\x1b" not in found.text
    assert "\u202e" not in found.text


def test_comments_in_many_files_take_few_commands_each(
    repository: TestRepository, monkeypatch: pytest.MonkeyPatch
):
    repository.start()
    for number in range(40):
        repository.write(f"file-{number}", f"a\nline {number}\n")
    given = [LineComment(f"file-{at}", "new", 2, "Why?", f"line {at}") for at in range(40)]
    commands = list[object]()
    start = subprocess.Popen

    def counted(*arguments: Any, **options: Any) -> Any:
        commands.append(arguments)
        return start(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", counted)
    found = repository.reading().comments(repository.request(), given)
    assert not any(one.outdated for one in found.comments)
    assert len(commands) < 2 * len(given)


def test_comments_on_both_names_of_a_renamed_file(repository: TestRepository):
    lines = [f"line {number}\n" for number in range(40)]
    repository.write("old", "".join(lines))
    repository.commit()
    repository.start()
    (repository.root / "old").unlink()
    repository.write("new", "".join(lines[:20] + lines[21:]))
    comments = [
        LineComment("old", "old", 3, "Why?", "line 2"),
        LineComment("new", "old", 21, "Why?", "line 20"),
        LineComment("new", "new", 21, "And this?", "line 21"),
    ]
    told = repository.reading().comments(repository.request(), comments)
    assert [(one.line, one.outdated) for one in told.comments] == [
        (3, False),
        (21, False),
        (21, False),
    ]


def test_files_that_are_too_large_together_are_compared_one_by_one(
    repository: TestRepository, monkeypatch: pytest.MonkeyPatch
):
    repository.start()
    for name in "abc":
        repository.write(name, f"{name}\n" * 100)
    monkeypatch.setattr(comparison, "MOST_BYTES", 300)
    given = [LineComment(name, "new", 2, "Why?", name) for name in "abc"]
    found = repository.reading().comments(repository.request(), given)
    assert [one.outdated for one in found.comments] == [False] * 3


# ---------------------------------------------------------------------- time


def test_it_ends_in_time(repository: TestRepository):
    with pytest.raises(WorktreeUnreadable, match="took longer than 0 seconds"):
        repository.reading(0.0).list(repository.request(), 0)


def test_git_is_not_installed(repository: TestRepository, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(repository.root))
    with pytest.raises(WorktreeUnreadable, match="git is not installed"):
        repository.changes()


def test_variables_of_git_do_not_lead_elsewhere(
    repository: TestRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert repository.changes().root == str(repository.root)


def test_a_comment_on_a_removed_line_of_a_renamed_file(repository: TestRepository):
    lines = [f"line {number}\n" for number in range(40)]
    repository.write("old", "".join(lines))
    repository.commit()
    repository.start()
    (repository.root / "old").unlink()
    repository.write("new", "".join(lines[:20] + lines[21:]))
    comments = [
        LineComment("new", "old", 21, "Why?", "line 20"),
        LineComment("new", "new", 21, "And this?", "line 21"),
    ]
    told = repository.reading().comments(repository.request(), comments)
    assert [(one.line, one.outdated) for one in told.comments] == [(21, False), (21, False)]


def test_a_file_that_is_no_longer_renamed_has_only_its_own_lines(repository: TestRepository):
    repository.write("old", "line\n" * 30)
    repository.commit()
    repository.start()
    (repository.root / "old").unlink()
    repository.write("new", "something else\n")
    assert repository.lines("new", old_path="old") == ["+something else"]


def test_what_is_stored_already_takes_no_more_room(
    repository: TestRepository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(snapshots, "MOST_OF_SESSION", 300_000)
    (repository.root / "data").write_bytes(os.urandom(100_000))
    for turn in range(1, 6):
        assert repository.start(turn * 2000, kind="turn") is not None
    assert 100_000 < repository.store.marks("s1").size < 110_000


def test_without_room_for_more_a_note_says_so(
    repository: TestRepository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(snapshots, "MOST_OF_SESSION", 1000)
    (repository.root / "data").write_bytes(os.urandom(2000))
    repository.start(2000, kind="turn")
    assert repository.changes("turn").base.note is None
    assert repository.start(4000, kind="turn") is None
    base = repository.changes("turn").base
    assert (base.at, base.note) == (
        2000,
        "There is no snapshot of the last turn, so this compares with an earlier one. The last "
        "snapshot failed: This session's snapshots have reached 512 MB. Start a new session to "
        "record more.",
    )


def test_a_snapshot_that_failed_is_not_taken_for_the_one_before(repository: TestRepository):
    repository.start(2000, kind="turn")
    later = TurnStart("s1", str(repository.root), 4000, "turn")
    repository.store.miss(later, "git hung.", 4000)
    assert "The last snapshot failed: git hung." in (repository.changes("turn").base.note or "")
    repository.start(6000, kind="turn")
    assert repository.changes("turn").base.note is None
