"""`callboard limit`, and a session that waits for its turn, in processes of their own."""

import time
from typing import Any

from tests.acceptance.cli_process import CallboardCommand

FLOWS = """
from callboard import Phase, Workflow


def build(state):
    return "built"


flow = Workflow("flow", state=dict, phases=[Phase(agent=build, limit="builds", terminal=True)])
"""
PATIENCE = 90.0


def waiting_for(callboard: CallboardCommand) -> list[Any]:
    """The agents in the queue, as soon as there is one."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        [limit] = callboard.here("limit", "builds", "--json").json
        if limit["waiting"]:
            return limit["slots"]
        time.sleep(0.05)
    raise AssertionError("no agent waits")


def test_an_agent_waits_until_the_number_is_raised(callboard: CallboardCommand):
    (callboard.folder / "limited.py").write_text(FLOWS, encoding="utf-8")
    callboard.here("migrate")
    assert callboard.here("limit", "builds", "0").out == (
        "builds: at most 0 agents at once, 0 in use, 0 waiting.\n"
    )
    process = callboard.start("run", "limited.py", "--json")
    [slot] = waiting_for(callboard)
    session = slot["sessionId"]
    assert (slot["run"], slot["waiting"]) == ("build#1", True)

    why = callboard.here("why", session).out
    assert "Waiting for a slot of builds, 0 of 0 in use." in why
    assert "callboard limit builds NUMBER" in why
    [told] = callboard.here("why", session, "--json").json
    assert told["kind"] == "limited"
    listed = callboard.here("limit").out.splitlines()
    assert [line.split()[:4] for line in listed] == [
        ["limit", "agents", "in", "use"],
        ["builds", "0", "0", "1"],
    ]
    shown = callboard.here("limit", "builds").out.splitlines()
    assert shown[0] == "builds: at most 0 agents at once, 0 in use, 1 waiting."
    assert shown[-1].split()[:3] == [session, "build#1", "waiting"]

    callboard.here("limit", "builds", "2")
    out, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, "workflow:completed" in out) == (0, True), out
    assert callboard.here("limit", "--json").json == [
        {"name": "builds", "number": 2, "inUse": 0, "waiting": 0, "slots": []}
    ]


def test_limits_are_removed_and_wrong_ones_refused(callboard: CallboardCommand):
    callboard.here("migrate")
    assert "callboard limit NAME 8" in callboard.here("limit").out
    callboard.here("limit", "builds", "3")
    [removed] = callboard.here("limit", "builds", "--remove", "--json").json
    assert removed["number"] == 3
    assert "There is no limit 'builds'" in callboard.here("limit", "builds", "--remove", code=2).err
    assert "No limit 'builds'" in callboard.here("limit", "builds", code=2).err
    for wrong in (["--remove"], ["builds", "3", "--remove"], ["builds", "-1"], ["builds", "x"]):
        callboard.here("limit", *wrong, code=2)
