"""Settings files are somebody else's: links, modes and neighbours stay as they are."""

from pathlib import Path

import pytest

from callboard.errors import SettingsUnusable
from callboard.vendors.settings import files


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / "settings.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n')
    path.chmod(0o640)
    return path


def test_a_file_is_replaced_whole_and_keeps_its_mode(path):
    file = files.read(path)
    assert file.text == '\ufeff{"a": 1}\r\n'
    assert files.write(file, "new", file.mode) == []
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_link_stays_and_its_target_is_edited(path, tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    first, second = links / "first", links / "second"
    first.symlink_to(path)
    second.symlink_to("first")
    file = files.read(second)
    backup = files.back_up(file)
    files.write(file, "new", file.mode)
    assert path.read_text(encoding="utf-8") == "new"
    assert second.is_symlink()
    assert first.readlink() == path
    assert backup is not None
    assert backup.parent == path.parent


def test_a_link_that_leads_nowhere_is_told(tmp_path):
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "absent")
    with pytest.raises(SettingsUnusable, match="which is not there"):
        files.read(link)
    link.unlink()
    link.symlink_to(link.name)
    with pytest.raises(SettingsUnusable, match="leads back to itself"):
        files.read(link)


def test_folders_that_had_to_be_made_are_told_and_removed(tmp_path):
    path = tmp_path / "a" / "b" / "settings.json"
    made = files.write(files.read(path), "x", 0o600)
    assert made == [tmp_path / "a" / "b", tmp_path / "a"]
    (tmp_path / "a" / "theirs").touch()
    files.remove(files.read(path), made)
    assert [one.name for one in tmp_path.rglob("*")] == ["a", "theirs"]


def test_a_read_only_file_is_read_only_for_root_too(path):
    path.chmod(0o444)
    with pytest.raises(SettingsUnusable, match=r"is read-only\. .*chmod u\+w"):
        files.write(files.read(path), "new", 0o444)
    assert path.read_bytes().endswith(b'{"a": 1}\r\n')


def test_a_read_only_folder_is_told(path):
    path.parent.chmod(0o555)
    try:
        with pytest.raises(SettingsUnusable, match="read-only folder"):
            files.write(files.read(path), "new", 0o600)
    finally:
        path.parent.chmod(0o755)


def test_what_is_no_settings_file_is_told(path):
    path.write_bytes(b'{\n  "a": "\xff"}')
    with pytest.raises(SettingsUnusable, match="line 2, column 9: this is not UTF-8"):
        files.read(path)
    with path.open("wb") as opened:
        opened.truncate(files.LARGEST + 1)
    with pytest.raises(SettingsUnusable, match="too many for a settings file"):
        files.read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(SettingsUnusable, match="is a folder"):
        files.read(path)


def test_what_somebody_else_wrote_meanwhile_is_not_lost(path):
    file = files.read(path)
    path.write_text("theirs", encoding="utf-8")
    with pytest.raises(SettingsUnusable, match="just changed by another program"):
        files.write(file, "ours", file.mode)
    assert path.read_text(encoding="utf-8") == "theirs"
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_backups_are_private_and_few(path):
    for number in range(files.BACKUPS + 2):
        path.write_text(str(number), encoding="utf-8")
        made = files.back_up(files.read(path))
        assert made is not None
        assert made.stat().st_mode & 0o777 == 0o600
    kept = [one.read_text(encoding="utf-8") for one in files.backups(path)]
    assert kept == [str(number) for number in range(2, files.BACKUPS + 2)]
    (path.parent / f"{path.name}.callboard-backup-mine").touch()
    assert len(files.backups(path)) == files.BACKUPS
    assert files.back_up(files.read(path.with_name("absent"))) is None
