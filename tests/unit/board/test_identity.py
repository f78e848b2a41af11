"""Whose plate it is, when a session goes on in another process."""

import os
import subprocess

import pytest
from tests.unit.board.boards import Board

from callboard.events.event_name import Entry
from callboard.systems.processes import started_at
from callboard.vendors.reports import Report


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


def _in_daemon(session: str, name: str) -> Report:
    return Report("codex", session, (Entry(name, {}),), pid=os.getpid(), in_daemon=True)


async def test_sessions_in_one_daemon_are_plates_of_their_own():
    board = Board()
    sessions = ["t1", "t2", "t1", "t2"]
    plates = [await board.hear(_in_daemon(id, "session_start")) for id in sessions]
    assert [plate.session_id for plate in plates] == sessions
    assert len({plate.plate_id for plate in plates}) == 2


async def test_a_prompt_from_another_terminal_of_a_daemon_opens_the_plate_again():
    """The daemon tells no start: for it the session went on."""
    board = Board()
    before = await board.hear(_in_daemon("t1", "session_start"))
    await board.plates.stopped(project_path="", session_id="t1")
    late = await board.hear(_in_daemon("t1", "stop"))
    assert late.status == "closed"
    again = await board.hear(_in_daemon("t1", "prompt_submit"))
    assert (again.plate_id, again.status) == (before.plate_id, "running")


async def test_an_agent_that_speaks_acp_has_one_plate_although_its_hooks_report_it_too():
    board = Board()
    acp = await board.plates.register("acp", project_path="/p", pid=os.getppid())
    below = Report("gemini", "s1", (Entry("session_start", {}),), pid=os.getpid())
    assert (await board.hear(below)).plate_id == acp.plate_id
    session = Report("acp", "s1", (Entry("session_start", {}),), pid=os.getppid())
    await board.hear(session)
    assert (await board.hear(below)).plate_id == acp.plate_id
    other = Report("claude", "s2", (Entry("session_start", {}),), pid=os.getpid())
    assert (await board.hear(other)).plate_id != acp.plate_id
    (plate, _) = sorted(await board.plates.all(), key=lambda one: one.agent)
    assert (plate.agent, plate.session_id) == ("acp", "s1")


def _started(pid: int) -> Report:
    started = (Entry("session_start", {}),)
    return Report("claude", "s1", started, pid=pid, proc_start=started_at(pid))


async def test_a_start_that_the_system_contradicts_does_not_replace_the_real_one():
    """Else an agent could report another start, and would not be known as the agent any more."""
    board = Board()
    with subprocess.Popen(["sleep", "1000"]) as client:
        try:
            real = await board.hear(_started(client.pid))
            for name in ("session_start", "session_end", "session_start"):
                await board.hear(
                    Report("claude", "s1", (Entry(name, {}),), pid=client.pid, proc_start="1")
                )
            again = await board.hear(_started(client.pid))
        finally:
            client.kill()

    assert again.plate_id == real.plate_id
    assert again.proc_start == real.proc_start
    kept = await board.plates.of_processes([client.pid])
    assert real.proc_start in {plate.proc_start for plate in kept}


async def test_a_start_that_the_client_does_not_report_is_looked_up():
    board = Board()
    plate = await board.hear(
        Report("opencode", "s1", (Entry("session_start", {}),), pid=os.getpid())
    )
    assert plate.proc_start == started_at(os.getpid())
