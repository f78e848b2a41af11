"""Whoever is killed while it migrates leaves a database of one schema or the other, and whole."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults import migrating
from tests.faults.migrating import NEWEST, build, contents, copies, version_of

from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite_material import several

SCRIPT = Path(migrating.__file__)
OPEN = (
    "import sys; from callboard.log.sqlite.log import SqliteLog; "
    "SqliteLog.open(sys.argv[1]).crash()"
)


def check(folder: Path, version: int, every: int) -> int:
    """Kill at all of these points; gives how many there were."""
    words = [sys.executable, str(SCRIPT), str(folder), str(version), str(every)]
    root = str(SCRIPT.parents[2])
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    for one in told[:-1]:
        assert one["code"] == -9, one
    assert told[-1]["code"] == 0
    for one in told:
        assert version <= one["between"] <= NEWEST, one
        assert (one["again"], one["after"], one["halves"]) == (0, NEWEST, []), one
        for claim in ("as_released", "kept", "intact", "whole_copies", "private"):
            assert one[claim], (claim, one)
    return len(told)


def test_a_killed_migration_is_completed_by_the_next(tmp_path: Path):
    assert check(tmp_path, 1, every=40) > 5


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", range(1, NEWEST))
def test_a_migration_may_be_killed_at_any_point(tmp_path: Path, version: int):
    # From the first version on, every migration is run: those between need not try each point.
    every = 1 if version in (1, NEWEST - 1) else 7
    assert check(tmp_path, version, every) > 30 / every


@pytest.mark.parametrize("version", range(1, NEWEST))
async def test_every_released_schema_is_lifted_and_loses_nothing(tmp_path: Path, version: int):
    path, before = tmp_path / "x.db", tmp_path / "before.db"
    for one in (path, before):
        build(one, version)
    log = SqliteLog.open(path)
    assert [event.position for event in await log.read("child")] == [1, 2, 3]
    assert (await log.append("child", several(1))).head == 4
    await log.append("new", several(2))
    await log.close()
    assert version_of(path) == NEWEST
    (copy,) = copies(path)
    assert contents(copy, before) == contents(before, before)
    assert version_of(copy) == version


def test_several_processes_migrate_once(tmp_path: Path):
    path = tmp_path / "x.db"
    build(path, 1)
    started = [subprocess.Popen([sys.executable, "-c", OPEN, str(path)]) for _ in range(3)]
    assert [one.wait() for one in started] == [0, 0, 0]
    assert version_of(path) == NEWEST
    assert [one.name for one in copies(path)] == ["x.db.before-migration-from-1"]


def test_a_planted_link_in_the_place_of_the_copy_is_not_followed(tmp_path: Path):
    path, theirs = tmp_path / "x.db", tmp_path / "theirs"
    build(path, 1)
    (tmp_path / "x.db.before-migration-from-1").symlink_to(theirs)
    SqliteLog.open(path).crash()
    assert not theirs.exists()
    assert [one.name.partition("from-")[2] for one in copies(path)] == ["1", "1-2"]
