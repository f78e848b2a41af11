"""Whatever somebody planted where a file will be: it is replaced or refused, never followed."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.disk import files
from callboard.disk.private import make_own_folder, open_private
from callboard.errors import SettingsUnusable
from callboard.harness.folders import Attempt
from callboard.tui.settings import BoardSettings, write_settings
from callboard.vendors.settings.files import back_up, check_inside, read, write
from callboard.vendors.settings.records import InstallRecord, Records

Write = Callable[[Path], object]

WRITERS: dict[str, Write] = {
    "replace": lambda path: files.replace(path, b"ours"),
    "a burst": lambda path: files.replace(path, b"ours", lasting=False),
    "an attempt": lambda path: Attempt(path.parent).write(path.name, "ours"),
    "the board's settings": lambda path: write_settings(path, BoardSettings()),
}


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    theirs.chmod(0o644)
    return theirs


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_is_replaced_by_a_private_file(tmp_path: Path, theirs: Path, name: str):
    for number, target in enumerate((theirs, tmp_path / "absent")):
        file = tmp_path / f"file{number}"
        file.symlink_to(target)
        WRITERS[name](file)
        assert not file.is_symlink()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert theirs.read_text() == "theirs"
    assert not (tmp_path / "absent").exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file0", "file1", "theirs"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_and_a_second_name_are_replaced(tmp_path: Path, theirs: Path, name: str):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "second").hardlink_to(theirs)
    for file in ("pipe", "second"):
        WRITERS[name](tmp_path / file)
        assert (tmp_path / file).is_file()
    assert theirs.read_text() == "theirs"
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o644


def test_what_fails_leaves_the_old_file_and_no_other(tmp_path: Path, theirs: Path):
    def refuse(handle: int) -> None:
        raise OSError(errno.EIO, "no")

    with pytest.raises(OSError, match="no"):
        files.replace(theirs, b"ours", ready=refuse)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        files.replace(tmp_path / "folder", b"ours")
    assert theirs.read_text() == "theirs"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "theirs"]


def test_a_new_file_takes_nobodys_place(tmp_path: Path, theirs: Path):
    (tmp_path / "link").symlink_to(tmp_path / "absent")
    for taken in (theirs, tmp_path / "link"):
        with pytest.raises(FileExistsError):
            files.add(taken, b"ours")
    files.add(tmp_path / "new", b"ours")
    assert (tmp_path / "new").read_bytes() == b"ours"
    assert (tmp_path / "new").stat().st_nlink == 1
    assert theirs.read_text() == "theirs"


def test_a_disk_without_second_names_can_hold_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("posix.link", no_links)
    files.add(tmp_path / "new", b"ours")
    assert (tmp_path / "new").read_bytes() == b"ours"
    with pytest.raises(FileExistsError):
        files.add(tmp_path / "new", b"again")
    assert [one.name for one in tmp_path.iterdir()] == ["new"]


def test_a_lock_is_made_through_no_link_and_is_no_pipe(tmp_path: Path, theirs: Path):
    for name, target in (("a", theirs), ("b", tmp_path / "absent"), ("c", Path("/dev/zero"))):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(OSError, match="symbolic links"):
            open_private(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        open_private(tmp_path / "pipe")
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o644
    assert not (tmp_path / "absent").exists()


def test_only_regular_files_of_bounded_size_are_read(tmp_path: Path, theirs: Path):
    assert files.read(theirs, 6) == b"theirs"
    assert files.read_end(theirs, 3) == b"irs"
    with pytest.raises(OSError, match="more than 5 bytes"):
        files.read(theirs, 5)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), Path("/dev/stdin")):
        with pytest.raises(OSError, match=r"not a regular file|symbolic links"):
            files.read(path, 100)
    with pytest.raises(OSError, match="not a regular file"):
        files.read_end(tmp_path / "pipe", 100)
    (tmp_path / "link").symlink_to(theirs)
    assert files.read(tmp_path / "link", 6, follow=True) == b"theirs"


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    for name in ("link", "dangling"):
        with pytest.raises(OSError, match="a link to somewhere else"):
            make_own_folder(tmp_path / name)
    assert not (tmp_path / "absent").exists()
    make_own_folder(tmp_path / "elsewhere")
    assert stat.S_IMODE((tmp_path / "elsewhere").stat().st_mode) == 0o700


def test_records_and_backups_of_settings_are_private_and_follow_no_link(
    tmp_path: Path, theirs: Path
):
    records = Records(tmp_path / "hooks")
    with records.alone():
        path = tmp_path / "settings.json"
        record = InstallRecord("claude", str(path), None, "", 0o600)
        records.put(record)
        (file,) = (tmp_path / "hooks/installed").glob("*.json")
        for planted in (file.with_suffix(".new"), file):
            planted.unlink(missing_ok=True)
            planted.symlink_to(theirs)
        records.put(record)
        assert stat.S_IMODE(file.lstat().st_mode) == 0o600
    path.write_text("{}")
    (tmp_path / "settings.json.callboard-backup-1").symlink_to(theirs)
    backup = back_up(read(path))
    assert backup is not None
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    write(read(path), "[]", 0o640)
    assert path.read_text() == "[]"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert theirs.read_text() == "theirs"


def test_settings_of_a_project_lead_to_no_file_outside(tmp_path: Path, theirs: Path):
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    inside, outside = project / ".claude/inside.json", project / ".claude/outside.json"
    (project / "settings.json").write_text("{}")
    inside.symlink_to("../settings.json")
    outside.symlink_to(theirs)
    check_inside(project, inside)
    check_inside(project, project / ".claude/absent.json")
    with pytest.raises(SettingsUnusable, match="outside of the project"):
        check_inside(project, outside)
    os.mkfifo(project / ".claude/pipe.json")
    with pytest.raises(SettingsUnusable, match="not a regular file"):
        read(project / ".claude/pipe.json")
