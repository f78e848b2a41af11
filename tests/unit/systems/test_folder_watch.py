"""What the system tells of a folder, and what is done where it tells nothing."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from callboard.systems import folder_watch
from callboard.systems.folder_watch import FolderWatch

inotify = pytest.mark.skipif(sys.platform != "linux", reason="the system tells nothing")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(90):
        while not condition():
            await asyncio.sleep(0.005)


class Watched:
    """A folder, and how often it was said to have changed."""

    def __init__(self, folder: Path) -> None:
        self.changes = 0
        self.watch = FolderWatch(folder, self._count)

    def _count(self) -> None:
        self.changes += 1


@pytest.fixture
async def watched(tmp_path: Path):
    (tmp_path / "spool").mkdir()
    watched = Watched(tmp_path / "spool")
    yield watched
    watched.watch.close()


@inotify
async def test_a_new_file_is_reported(watched: Watched, tmp_path: Path):
    assert watched.watch.renew()
    (tmp_path / "spool" / "one.json").write_text("{}")
    await until(lambda: watched.changes == 1)


@inotify
async def test_a_file_that_is_moved_there_is_reported(watched: Watched, tmp_path: Path):
    assert watched.watch.renew()
    (tmp_path / "one").write_text("{}")
    (tmp_path / "one").rename(tmp_path / "spool" / "one.json")
    await until(lambda: watched.changes == 1)


@inotify
async def test_many_files_are_reported_together(watched: Watched, tmp_path: Path):
    assert watched.watch.renew()
    for number in range(3000):
        (tmp_path / "spool" / f"{number:0100}.json").touch()
    await until(lambda: watched.changes > 0)
    (tmp_path / "spool" / "last.json").touch()
    before = watched.changes
    await until(lambda: watched.changes > before)


@inotify
async def test_a_folder_that_takes_the_place_of_another_is_watched_next(
    watched: Watched, tmp_path: Path
):
    assert watched.watch.renew()
    (tmp_path / "spool").rmdir()
    await until(lambda: watched.changes == 1)
    assert not watched.watch.renew()
    (tmp_path / "spool").mkdir()
    assert watched.watch.renew()
    (tmp_path / "spool" / "one.json").touch()
    await until(lambda: watched.changes >= 2)


@inotify
async def test_to_watch_a_folder_again_changes_nothing(watched: Watched, tmp_path: Path):
    assert all(watched.watch.renew() for _ in range(100))
    (tmp_path / "spool" / "one.json").touch()
    await until(lambda: watched.changes == 1)


async def test_without_such_reports_nothing_is_watched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(folder_watch, "_libc", lambda: None)
    watched = Watched(tmp_path)
    assert not watched.watch.renew()
    watched.watch.close()


async def test_what_is_closed_reports_nothing(tmp_path: Path):
    watched = Watched(tmp_path)
    watched.watch.renew()
    watched.watch.close()
    (tmp_path / "one.json").touch()
    assert not watched.watch.renew()
    await asyncio.sleep(0)
    assert watched.changes == 0
