"""Whose plate it is, when a session goes on in another process."""

import os
import subprocess

import pytest
from tests.unit.board.boards import Board

from callboard.board.processes import started_at
from callboard.vendors.reports import Report, Signal


@pytest.mark.parametrize("lives", [True, False])
async def test_a_session_keeps_its_plate_when_its_process_is_gone(*, lives: bool):
    """Also before a round has seen that it died; beside one that lives there are two."""
    board = Board()
    with subprocess.Popen(["sleep", "1000"]) as first:
        try:
            before = await board.hear(_started(first.pid))
            if not lives:
                first.kill()
                first.wait()
            after = await board.hear(_started(os.getpid()))
        finally:
            first.kill()

    assert (before.plate_id != after.plate_id) is lives
    assert len(await board.plates.all()) == (2 if lives else 1)
    assert after.pid == os.getpid()


def _started(pid: int) -> Report:
    started = (Signal("session_start", {}),)
    return Report("claude", "s1", started, pid=pid, proc_start=started_at(pid))
