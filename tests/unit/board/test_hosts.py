"""Where a client runs: hosts have ids that stay, and what has a number there has it only there."""

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.board.boards import Board

from callboard.board.held_hooks import HeldHooks
from callboard.board.hosts import Host, kept_id
from callboard.board.identity import plate_key
from callboard.board.plates import Plates
from callboard.board.watchdog import PROCESSES_EVERY, Rounds
from callboard.engine.inbox import Inbox
from callboard.events.event_name import Entry
from callboard.systems.processes import started_at
from callboard.vendors.reports import Report

HERE = Host("here1234", "desk", "boot-2")
STARTED = (Entry("session_start", {}),)
OURS = Report("claude", "s1", STARTED, pid=os.getpid(), proc_start=started_at(os.getpid()))
THEIRS = replace(OURS, session_id="s2", host="far12345", host_name="laptop", boot_id="boot-9")


def on_host(board: Board, host: Host = HERE) -> Plates:
    board.plates = Plates(board.log, board.clock, lambda: host)
    return board.plates


def test_an_id_is_made_once_and_for_nobody_else_to_read(tmp_path: Path):
    file = tmp_path / "callboard" / "host"
    made = kept_id(file)
    assert made == kept_id(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert made != kept_id(tmp_path / "other" / "host")


def test_a_file_that_holds_something_else_is_no_id(tmp_path: Path):
    (tmp_path / "host").write_text("not an id\n")
    with pytest.raises(OSError, match="no host id"):
        kept_id(tmp_path / "host")


async def test_a_plate_tells_its_host_and_follows_its_name():
    board = Board()
    on_host(board)
    plate = await board.hear(OURS)
    assert (plate.host, plate.host_name, plate.boot_id) == ("here1234", "desk", "boot-2")
    on_host(board, replace(HERE, name="workbench"))
    again = await board.hear(OURS)
    assert again.plate_id == plate.plate_id
    assert again.to_wire()["hostName"] == "workbench"


async def test_the_same_process_on_another_host_is_another_plate():
    """Containers of one machine share its boot, and may share numbers and starts."""
    board = Board()
    on_host(board)
    ours = await board.hear(OURS)
    there = replace(THEIRS, session_id="s1", boot_id=HERE.boot_id)
    theirs = await board.hear(there)
    assert theirs.plate_id != ours.plate_id
    assert plate_key(there) != plate_key(replace(there, host=HERE.id))
    assert (await board.hear(replace(OURS, session_id="s3"))).plate_id == ours.plate_id
    assert (await board.hear(replace(there, session_id="s4"))).plate_id == theirs.plate_id


async def test_the_same_session_without_a_process_on_another_host_is_another_plate():
    board = Board()
    on_host(board)
    ours = await board.hear(replace(OURS, pid=None, proc_start=None))
    there = replace(THEIRS, session_id="s1", boot_id=HERE.boot_id, pid=None, proc_start=None)
    assert (await board.hear(there)).plate_id != ours.plate_id


async def test_a_plate_from_before_hosts_belongs_to_this_one():
    board = Board()
    before = await board.hear(OURS)
    assert before.host == ""
    plates = on_host(board)
    assert (await plates.get(before.plate_id)).to_wire()["host"] == "here1234"
    assert [plate.host for plate in await plates.living()] == ["here1234"]
    assert (await board.hear(OURS)).plate_id == before.plate_id


async def test_the_same_number_on_another_host_is_another_plate():
    board = Board()
    plates = on_host(board)
    ours, theirs = await board.hear(OURS), await board.hear(THEIRS)
    assert theirs.plate_id != ours.plate_id
    assert (await board.hear(OURS)).plate_id == ours.plate_id
    assert (await board.hear(THEIRS)).plate_id == theirs.plate_id
    assert [one.plate_id for one in await plates.living()] == [ours.plate_id]


async def test_hosts_that_share_their_files_can_have_the_same_session():
    board = Board()
    on_host(board)
    shared = replace(THEIRS, session_id=OURS.session_id)
    ours, theirs = await board.hear(OURS), await board.hear(shared)
    assert theirs.plate_id != ours.plate_id
    for report, plate in ((OURS, ours), (shared, theirs)):
        silent = replace(report, pid=None, proc_start=None)
        assert (await board.hear(silent)).plate_id == plate.plate_id


async def test_the_same_process_number_after_a_boot_is_another_process():
    board = Board()
    on_host(board, replace(HERE, boot_id="boot-1"))
    before = await board.hear(OURS)
    on_host(board)
    after = await board.hear(replace(OURS, session_id="s2"))
    assert after.plate_id != before.plate_id


async def test_rounds_notice_a_boot_and_leave_other_hosts_alone(tmp_path: Path):
    board = Board()
    on_host(board, replace(HERE, boot_id="boot-1"))
    before = await board.hear(OURS)
    plates = on_host(board)
    gone = replace(THEIRS, pid=2**22 + 1, proc_start="1")
    theirs = await board.hear(gone)

    async def drained() -> bool:
        """There is no spool here."""
        return True

    holding = HeldHooks(board.log, Inbox(board.log, board.clock))
    rounds = Rounds(plates, holding, board.clock, drained)
    board.clock.skip(PROCESSES_EVERY)
    await rounds.once()
    assert (await plates.get(before.plate_id)).status == "closed"
    assert (await plates.get(theirs.plate_id)).status != "closed"
