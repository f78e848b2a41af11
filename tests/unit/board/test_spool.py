"""The spool: read in order, each payload by one reader, and stopped by nothing."""

import os
import shutil
from pathlib import Path

import pytest

from callboard.board.hook_folders import (
    Counting,
    connection_file,
    counters_file,
    full_marker,
    hooks_folder,
    make_folders,
    read_counters,
    spool_folder,
    write_connection,
)
from callboard.board.spool import files as spool
from callboard.board.spool import rejects
from callboard.board.spool.files import OLD_MS, TOO_LARGE, Spool
from callboard.courier.delivery import MOST_SPOOLED
from callboard.errors import StoreError
from callboard.testing.fake_clock import FakeClock

NOW_MS = FakeClock().now_ms()


def drop(folder: Path, name: str, text: str = "{}", age_ms: int = 0) -> Path:
    """A file as a hook leaves it, so many milliseconds ago."""
    path = spool_folder(folder) / name
    path.write_text(text)
    at = (NOW_MS - age_ms) * 1_000_000
    os.utime(path, ns=(at, at))
    return path


def names(folder: Path) -> set[str]:
    return {one.name for one in spool_folder(folder).iterdir()} - {"claimed", "rejected"}


def rejected(folder: Path) -> list[str]:
    there = spool_folder(folder) / "rejected"
    return sorted(one.name.rpartition(".")[0] for one in there.iterdir()) if there.exists() else []


def test_an_empty_spool_gives_nothing(reader: Spool):
    assert reader.take(10) == []


def test_a_spool_is_made_where_there_is_none(tmp_path: Path):
    reader = Spool(tmp_path / "new.db.hooks", FakeClock())
    assert reader.take(10) == []
    assert reader.folder.stat().st_mode & 0o777 == 0o700
    reader.close()


def test_a_file_that_a_look_missed_is_not_overtaken(
    folder: Path, reader: Spool, monkeypatch: pytest.MonkeyPatch
):
    """A folder that is read while files are written may show the second and not the first."""
    drop(folder, "claude.7.3.0.json", "first", age_ms=20)
    drop(folder, "claude.7.3.1.json", "second", age_ms=10)
    looks: list[set[str]] = []

    class Missing:
        def __init__(self, path: Path) -> None:
            found = list(scandir(path))
            looks.append({one.name for one in found})
            self.found = [one for one in found if len(looks) > 1 or ".3.0." not in one.name]

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self.found

        def __exit__(self, *_: object) -> None: ...

    scandir = os.scandir
    monkeypatch.setattr(spool.os, "scandir", Missing)
    assert [one.hook.body for one in reader.take(10)] == [b"first", b"second"]


def test_payloads_come_in_the_order_in_which_they_were_dropped(folder: Path, reader: Spool):
    drop(folder, "claude.7.3.0.json", "third", age_ms=10)
    drop(folder, "codex.8.1.0.json", "second", age_ms=20)
    drop(folder, "claude.0.2.0.json", "first", age_ms=30)
    drop(folder, "claude.7.3.1.json", "fourth", age_ms=10)
    taken = reader.take(10)
    assert [one.hook.body for one in taken] == [b"first", b"second", b"third", b"fourth"]
    assert [(one.hook.agent, one.hook.pid) for one in taken] == [
        ("claude", None),
        ("codex", 8),
        ("claude", 7),
        ("claude", 7),
    ]
    assert taken[0].hook.at_ms == NOW_MS - 30
    assert not any(one.hook.again for one in taken)


def test_what_is_taken_is_not_taken_again(folder: Path, reader: Spool, other: Spool):
    drop(folder, "claude.7.1.0.json")
    assert len(reader.take(10)) == 1
    assert reader.take(10) == []
    assert other.take(10) == []


def test_what_is_done_is_gone(folder: Path, reader: Spool):
    drop(folder, "claude.7.1.0.json")
    (one,) = reader.take(10)
    one.done()
    one.done()
    reader.close()
    assert Spool(folder, FakeClock()).take(10) == []
    assert [*spool_folder(folder).rglob("*.json")] == []


def test_what_is_given_back_keeps_its_place(folder: Path, reader: Spool, other: Spool):
    drop(folder, "claude.7.1.0.json", "first", age_ms=20)
    for _ in range(60):  # Its name does not grow.
        (one,) = reader.take(1)
        one.give_back()
    drop(folder, "claude.7.2.0.json", "second", age_ms=10)
    taken = other.take(10)
    assert [one.hook.body for one in taken] == [b"first", b"second"]
    hook = taken[0].hook
    assert (hook.agent, hook.pid, hook.at_ms) == ("claude", 7, NOW_MS - 20)


def test_a_limit_is_kept(folder: Path, reader: Spool):
    for number in range(5):
        drop(folder, f"claude.7.{number}.0.json", str(number), age_ms=10 - number)
    assert [one.hook.body for one in reader.take(2)] == [b"0", b"1"]
    assert [one.hook.body for one in reader.take(9)] == [b"2", b"3", b"4"]


def test_two_readers_share_without_reading_anything_twice(
    folder: Path, reader: Spool, other: Spool
):
    for number in range(200):
        drop(folder, f"claude.7.{number}.0.json", str(number))
    seen: list[bytes] = []
    while taken := [*reader.take(7), *other.take(11)]:
        seen += [one.hook.body for one in taken]
        for one in taken:
            one.done()
    assert sorted(seen) == sorted(str(number).encode() for number in range(200))


def test_what_somebody_left_behind_is_taken_over(folder: Path, reader: Spool, other: Spool):
    drop(folder, "claude.7.1.0.json", "first", age_ms=20)
    drop(folder, "claude.7.2.0.json", "second", age_ms=10)
    reader.take(10)
    assert other.take(10) == []
    reader.close()
    drop(folder, "claude.7.3.0.json", "third")
    late = Spool(folder, FakeClock())
    taken = late.take(10)
    assert [(one.hook.body, one.hook.again) for one in taken] == [
        (b"first", True),
        (b"second", True),
        (b"third", False),
    ]
    assert taken[0].name == "claude.7.1.0.json"
    late.close()


def test_who_lives_long_finds_what_others_left(folder: Path):
    clock = FakeClock()
    reader, dying = Spool(folder, clock), Spool(folder, clock)
    assert reader.take(10) == []
    drop(folder, "claude.7.1.0.json")
    assert len(dying.take(10)) == 1
    dying.close()
    clock.skip(10)
    assert [one.hook.again for one in reader.take(10)] == [True]
    reader.close()


def test_nothing_is_left_of_who_had_nothing(folder: Path):
    reader = Spool(folder, FakeClock())
    reader.take(10)
    reader.close()
    assert [*(spool_folder(folder) / "claimed").iterdir()] == []


def test_a_folder_that_is_removed_is_made_again(folder: Path, reader: Spool):
    reader.take(10)
    shutil.rmtree(folder)
    assert reader.take(10) == []
    drop(folder, "claude.7.1.0.json")
    assert len(reader.take(10)) == 1


# ---- what is no payload


def test_files_that_are_being_written_are_left_alone(folder: Path, reader: Spool):
    drop(folder, "claude.7.1.0.part", "{", age_ms=OLD_MS - 1000)
    drop(folder, "claude.7.1abc", "{")
    assert reader.take(10) == []
    assert names(folder) == {"claude.7.1.0.part", "claude.7.1abc"}


def test_junk_is_put_aside(folder: Path, reader: Spool, tmp_path: Path):
    there = spool_folder(folder)
    os.mkfifo(there / "claude.1.1.0.json")
    (there / "claude.2.1.0.json").symlink_to("/etc/hostname")
    (there / "dangling").symlink_to(tmp_path / "nowhere")
    (there / "claude.3.1.0.json").mkdir()
    (there / "folder").mkdir()
    drop(folder, "notes.json", "not ours")
    drop(folder, "cl aude.1.1.0.json")
    drop(folder, "claude.x.1.0.json")
    drop(folder, "claude.99999999999999999999.1.0.json")
    drop(folder, "claude.4.1.0.part", "half", age_ms=OLD_MS + 1000)
    drop(folder, "claude.5.1.0.part", "", age_ms=OLD_MS + 1000)
    with (there / "claude.6.1.0.json").open("wb") as large:
        large.truncate(TOO_LARGE + 1)
    drop(folder, "claude.7.1.0.json", "good")

    assert [one.hook.body for one in reader.take(10)] == [b"good"]
    assert names(folder) == set()
    assert rejected(folder) == sorted(
        [
            "claude.1.1.0.json",
            "claude.2.1.0.json",
            "dangling",
            "claude.3.1.0.json",
            "folder",
            "notes.json",
            "cl aude.1.1.0.json",
            "claude.x.1.0.json",
            "claude.99999999999999999999.1.0.json",
            "claude.4.1.0.part",
            "claude.6.1.0.json",
        ]
    )
    assert (reader.counted.taken, reader.counted.rejected) == (1, 12)


def test_names_that_are_no_text_stop_nothing(folder: Path, reader: Spool):
    path = os.fsencode(spool_folder(folder)) + b"/claude.1.\xff.0.json"
    with open(path, "wb") as file:  # noqa: PTH123 - a name that is no text
        file.write(b"odd")
    drop(folder, "claude.7.1.0.json", "good")
    assert {one.hook.body for one in reader.take(10)} == {b"odd", b"good"}


def test_what_is_put_aside_does_not_grow_without_end(
    folder: Path, reader: Spool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rejects, "MOST", 5)
    for number in range(12):
        drop(folder, f"junk-{number:02}.json", "x")
        assert reader.take(10) == []
    assert rejected(folder) == [f"junk-{number:02}.json" for number in range(7, 12)]


def test_what_is_put_aside_has_a_largest_size(
    folder: Path, reader: Spool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(rejects, "MOST_BYTES", 100)
    for number in range(3):
        drop(folder, f"junk-{number}.json", "x" * 60)
        assert reader.take(10) == []
    assert rejected(folder) == ["junk-2.json"]


@pytest.mark.parametrize("name", ["claimed", "rejected"])
@pytest.mark.parametrize("is_link", [True, False])
def test_what_stands_in_our_way_is_moved(folder: Path, name: str, is_link: bool, tmp_path: Path):
    place = spool_folder(folder) / name
    if is_link:
        place.symlink_to(tmp_path)
    else:
        place.write_text("in the way")
    drop(folder, "junk.json", "x")
    drop(folder, "claude.7.1.0.json", "good")
    reader = Spool(folder, FakeClock())
    assert [one.hook.body for one in reader.take(10)] == [b"good"]
    assert place.is_dir()
    assert not place.is_symlink()
    reader.close()


def test_a_folder_in_the_place_of_the_marker_stops_nothing(folder: Path, reader: Spool):
    full_marker(folder).mkdir()
    drop(folder, "claude.7.1.0.json")
    assert len(reader.take(10)) == 1


# ---- a spool that fills up


def test_a_full_spool_says_so_until_it_is_read(
    folder: Path, reader: Spool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spool, "MOST_SPOOLED", 10)
    for number in range(10):
        drop(folder, f"claude.7.{number}.0.json", str(number))
    taken = reader.take(1)
    assert full_marker(folder).exists()
    while more := reader.take(4):
        taken += more
    assert len(taken) == 10
    assert not full_marker(folder).exists()


def test_a_spool_of_large_files_is_full_too(
    folder: Path, reader: Spool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(spool, "MOST_BYTES", 100)
    drop(folder, "claude.7.1.0.json", "x" * 200)
    reader.take(1)
    assert full_marker(folder).exists()
    reader.take(1)
    assert not full_marker(folder).exists()


def test_the_marker_that_a_hook_set_is_removed(folder: Path, reader: Spool):
    full_marker(folder).touch()
    reader.take(1)
    assert not full_marker(folder).exists()


def test_two_thousand_files_are_read_in_order(folder: Path, reader: Spool):
    assert MOST_SPOOLED > 2000
    for number in range(2000):
        drop(folder, f"claude.7.{number}.0.json", str(number), age_ms=2000 - number)
    seen: list[int] = []
    while taken := reader.take(64):
        for one in taken:
            seen.append(int(one.hook.body))
            one.done()
    assert seen == list(range(2000))
    assert names(folder) == set()


# ---- the folder itself


def test_the_connection_is_told_to_hooks_alone(folder: Path):
    write_connection(folder, "127.0.0.1:1", "old")
    write_connection(folder, "127.0.0.1:2255", "cb_secret")
    assert connection_file(folder).read_text() == "127.0.0.1:2255\ncb_secret\n"
    assert connection_file(folder).stat().st_mode & 0o777 == 0o600
    assert {one.name for one in folder.iterdir()} == {"connection", "spool"}


def test_counters_are_read_as_they_were_written(folder: Path):
    assert read_counters(folder) == {}
    Counting(folder, lambda: {"claude": 3}).write(1.0)
    assert read_counters(folder) == {"claude": 3}
    counters_file(folder).write_text("{half")
    assert read_counters(folder) == {}
    counters_file(folder).write_text("[]")
    assert read_counters(folder) == {}


def test_a_folder_that_others_may_enter_is_closed_to_them(folder: Path):
    folder.chmod(0o755)
    spool_folder(folder).chmod(0o777)
    make_folders(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert spool_folder(folder).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["board.db.hooks", "board.db.hooks/spool"])
def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path: Path, name: str):
    (tmp_path / "elsewhere").mkdir()
    if name.endswith("spool"):
        (tmp_path / "board.db.hooks").mkdir(mode=0o700)
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="link"):
        make_folders(hooks_folder(tmp_path / "board.db"))


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path):
    (tmp_path / "board.db.hooks").write_text("")
    with pytest.raises(StoreError, match="Cannot create"):
        make_folders(hooks_folder(tmp_path / "board.db"))
    with pytest.raises(StoreError):
        Spool(hooks_folder(tmp_path / "board.db"), FakeClock()).take(1)
