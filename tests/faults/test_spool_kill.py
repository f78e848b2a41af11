"""A spool whose readers die at any step, and one that several read at once."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from callboard.board.hook_folders import hooks_folder, make_folders, spool_folder
from callboard.board.spool.files import Spool
from callboard.clock import SystemClock

FILES = 50


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = hooks_folder(tmp_path / "board.db")
    make_folders(folder)
    return folder


def fill(folder: Path, count: int) -> None:
    for number in range(count):
        path = spool_folder(folder) / f"claude.7.{number}.0.json"
        path.write_text(str(number))
        os.utime(path, ns=(number * 1_000_000, number * 1_000_000))


def start(folder: Path, record: Path, *more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.spool_reader", str(folder), str(record), *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_at(folder: Path, record: Path, step: str) -> None:
    reader = start(folder, record, step)
    assert reader.stdout is not None
    assert reader.stdout.readline() == f"{step}\n"
    reader.kill()
    reader.communicate()


@pytest.mark.parametrize("step", ["taken", "recorded", "done"])
def test_a_reader_that_dies_loses_nothing(folder: Path, tmp_path: Path, step: str):
    record = tmp_path / "record"
    fill(folder, FILES)
    kill_at(folder, record, step)
    already = record.read_text().split()

    survivor = Spool(folder, SystemClock())
    taken = survivor.take(1000)
    found = [int(one.hook.body) for one in taken]

    assert found == sorted(found)
    assert {*map(int, already), *found} == set(range(FILES))
    # Only what was recorded and not done with comes twice, and it is told apart.
    twice = {one.hook.body.decode() for one in taken} & set(already)
    assert len(twice) == (1 if step == "recorded" else 0)
    assert all(one.hook.again for one in taken if one.hook.body.decode() in twice)
    survivor.close()


def test_reader_after_reader_may_die(folder: Path, tmp_path: Path):
    record = tmp_path / "record"
    fill(folder, FILES)
    for step in ("taken", "recorded", "done", "taken"):
        kill_at(folder, record, step)
    assert start(folder, record).communicate(timeout=120)[0] == ""
    counted = Counter(map(int, record.read_text().split()))
    assert set(counted) == set(range(FILES))
    assert sum(counted.values()) == FILES + 1
    assert [*spool_folder(folder).rglob("*.json")] == []


def test_several_servers_read_each_payload_once_and_in_order(folder: Path, tmp_path: Path):
    fill(folder, 600)
    record = tmp_path / "record"
    readers = [start(folder, record) for _ in range(3)]
    for reader in readers:
        reader.communicate(timeout=120)
        assert reader.returncode == 0
    assert list(map(int, record.read_text().split())) == list(range(600))
    assert [*spool_folder(folder).rglob("*.json")] == []
