"""A copy into PostgreSQL that is killed continues where it stopped, and never doubles anything."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.copied_database import contents, fill
from tests.faults import copy_process
from tests.postgres import PostgresServer

from callboard import Callboard

SCRIPT = Path(copy_process.__file__)
EVENTS, TABLES, COMPARING = "Copying events", "Copying tables", "Comparing"


def copy(path: Path, url: str, killed_in: str = "", number: int = 1) -> tuple[int, list[str]]:
    """Copy in another process; its exit code, and its steps."""
    words = [sys.executable, str(SCRIPT), str(path), url, killed_in, str(number)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.returncode, done.stdout.splitlines()


async def finish(path: Path, url: str) -> int:
    """Copy the rest here, and compare; gives the number of events that were written."""
    async with Callboard.open(path) as board:
        done = await board.copy(url)
    async with Callboard.open(path) as board, Callboard.open(url) as copied:
        assert await contents(copied) == await contents(board)
    return done.written


async def test_a_killed_copy_continues(tmp_path: Path, postgres_url: str):
    path = tmp_path / "x.db"
    await fill(path)
    assert copy(path, postgres_url, EVENTS, 3)[0] == -9
    code, steps = copy(path, postgres_url, TABLES, 4)
    assert (code, steps[0].startswith("Copying events 20 ")) == (-9, True)
    # Everything is written, but neither compared nor committed.
    code, steps = copy(path, postgres_url, COMPARING, 2)
    first, *_ = steps
    done, total = first.split()[2:]
    assert (code, done) == (-9, total)
    assert await finish(path, postgres_url) == 0


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", [EVENTS, TABLES, COMPARING])
async def test_a_copy_may_be_killed_at_every_step(
    tmp_path: Path, postgres: PostgresServer, part: str
):
    path = tmp_path / "x.db"
    await fill(path)
    number, code = 0, -9
    while code == -9:
        number += 1
        url = postgres.emptied()
        code, _ = copy(path, url, part, number)
        await finish(path, url)
    assert number > 5
