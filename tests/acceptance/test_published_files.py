"""`callboard run --status-files`: a session to read with cat, whoever carries it on."""

import asyncio
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.servers import serving

WITHIN = 60.0


@pytest.fixture
def callboard(tmp_path: Path) -> CallboardCommand:
    (tmp_path / ".git").mkdir()
    return CallboardCommand(tmp_path)


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / ".claude/state/workflow.json").read_text(encoding="utf-8"))


def report(folder: Path) -> str:
    return (folder / ".claude/workflow_state_system.md").read_text(encoding="utf-8")


def test_one_command_waits_and_another_goes_on(callboard: CallboardCommand):
    callboard("run", "flows.py:trip", "--input", "Rome", "--status-files", code=3)

    workflow = told(callboard.folder)
    assert (workflow["task"], workflow["session_status"]) == ("Rome", "waiting")
    [question] = workflow["questions"]
    assert f"- Go to Rome? - see Rome - eat (callboard answer {question['id']})" in report(
        callboard.folder
    )

    callboard("answer", question["id"], "yes", "--resume", code=3)
    [room] = told(callboard.folder)["questions"]
    assert (room["prompt"], room["phase"]) == ("Which room?", "book")
    callboard("answer", room["id"], "2", "--resume")

    workflow = told(callboard.folder)
    assert (workflow["status"], workflow["questions"]) == ("completed", [])
    assert [phase["status"] for phase in workflow["phases"]] == ["completed"] * 3
    shown = callboard.here("task", "show").out
    assert "3 of 3 phases" in shown
    session = workflow["session_id"]
    shown = callboard.here("show", session).out
    assert f"3/3 phases in {callboard.folder}/.claude/workflow_state_system.md" in shown
    assert callboard.here("show", session, "--json").json[0]["progress"] == "3/3"


async def test_a_server_tells_how_far_it_is_and_carries_it_on(callboard: CallboardCommand):
    callboard("run", "flows.py:trip", "--input", "Rome", "--status-files", code=3)
    before = told(callboard.folder)
    path = f"/sessions/{before['session_id']}"
    async with serving(callboard.folder / "t.db", callboard.flows) as server:
        async with server.client() as http:
            [listed] = (await http.get("/sessions")).json()["sessions"]
            assert listed["progress"] == "0/3"
            answer = {"id": before["questions"][0]["id"], "value": "yes"}
            assert (await http.post(f"{path}/input", json=answer)).status_code == 200
            async with asyncio.timeout(WITHIN):
                while (await http.get(path)).json()["progress"] != "1/3":
                    await asyncio.sleep(0.02)
            await http.post(f"{path}/cancel")
        assert told(callboard.folder)["session_status"] == "cancelled"


def test_a_command_that_is_killed_leaves_files_that_the_next_one_brings_up_to_date(
    callboard: CallboardCommand,
):
    process = callboard.start("run", "flows.py:nap", "--status-files", ".", NAP="600")
    until = time.monotonic() + WITHIN
    while "Current Phase: nap" not in _report(callboard.folder):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = told(callboard.folder)
    assert (before["status"], before["phases"][0]["status"]) == ("active", "active")

    callboard("resume", before["session_id"], NAP="0")

    after = told(callboard.folder)
    assert (after["id"], after["status"]) == (before["id"], "completed")
    assert "- [x] Phase 0: nap\n" in report(callboard.folder)


def _report(folder: Path) -> str:
    try:
        return report(folder)
    except FileNotFoundError:
        return ""


def test_what_became_of_it_elsewhere_is_told(callboard: CallboardCommand):
    callboard("run", "flows.py:trip", "--input", "Rome", "--status-files", code=3)
    session = told(callboard.folder)["session_id"]

    callboard.here("pause", session)
    assert told(callboard.folder)["session_status"] == "paused"
    callboard.here("cancel", session)
    assert told(callboard.folder)["session_status"] == "cancelled"
    assert told(callboard.folder)["status"] == "failed"


def test_a_folder_that_cannot_be_written_is_said_and_harms_nothing(callboard: CallboardCommand):
    (callboard.folder / "elsewhere").mkdir()
    (callboard.folder / "elsewhere/.claude").write_text("in the way", encoding="utf-8")

    done = callboard("run", "flows.py:nap", "--status-files", "elsewhere", NAP="0")

    assert done.err.count("continues without its status files") == 1


def test_wrong_folders_and_servers_are_refused(callboard: CallboardCommand):
    done = callboard.here("run", "flows.py:nap", "--status-files", "flows.py", code=2)
    assert "status_files" in done.err
    assert "flows.py is a file" in done.err
    server = ("--server", "http://127.0.0.1:1")
    done = callboard.here("run", "nap", "--status-files", ".", *server, code=2)
    assert "a server writes no files in your projects" in done.err
