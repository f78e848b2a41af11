"""`callboard workers`, and what `why` and `doctor` know about them."""

import os
import subprocess

import pytest
from tests.acceptance.cli_process import CallboardCommand

pytestmark = pytest.mark.timeout(180)

OTHER = """
from callboard import Phase, Workflow

memo = Workflow("memo", state=dict, phases=[Phase("write", terminal=True)], version="7")
"""


def started(worker: "subprocess.Popen[str]") -> None:
    """Wait until a worker says that it works."""
    assert worker.stdout is not None
    assert worker.stdout.readline().startswith("Worker")


def driven(callboard: CallboardCommand, session: str) -> str:
    """What `why` says once a worker drives the session."""
    while True:
        (why,) = callboard.here("why", session, "--json").json
        if why["kind"] == "driven" and "works in phase" in why["text"]:
            return why["text"]


def test_without_workers(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", code=3)
    assert callboard.here("workers").out == (
        "No workers are running. Start one: callboard worker FILE --driver local --db t.db\n"
    )
    callboard.here("answer", session, "yes")
    alone = callboard.here("workers", code=1).out
    assert f"1 session that no running worker can drive\n{session}  No worker is running." in alone
    assert callboard.here("why", session, "--json").json[0]["kind"] == "idle"
    checks = {one["check"]: one for one in callboard.here("doctor", "--json").json}
    assert checks["workers"]["message"] == "none running"
    assert (checks["stranded"]["status"], checks["stranded"]["todo"]) == (
        "warn",
        "Start one: callboard worker FILE --driver local",
    )


def test_a_worker_is_named_with_what_it_drives_and_what_it_cannot(callboard: CallboardCommand):
    (callboard.folder / "other.py").write_text(OTHER, encoding="utf-8")
    session = callboard.run("flows.py:trip", "--input", "Rome", code=3)
    nap = callboard.start("run", "flows.py:nap")
    other = callboard.start("worker", "other.py", "--driver", "local")
    worker = None
    try:
        started(other)
        assert nap.stdout is not None
        napping = nap.stdout.readline().split("session ")[1].strip()
        assert f"Process {nap.pid} is driving it. The phase started " in driven(callboard, napping)
        callboard.here("answer", session, "yes")
        why = callboard.here("why", session).out
        assert "Ready to continue. No running worker has the workflow 'trip'." in why
        assert "callboard worker FILE --driver local --db t.db" in why

        (found,) = callboard.here("workers", "--json", code=1).json
        assert (found["workerCount"], found["strandedCount"]) == (2, 1)
        by_pid = {one["pid"]: one for one in found["workers"]}
        assert by_pid[other.pid]["workflows"] == [{"name": "memo", "version": "7"}]
        assert by_pid[other.pid]["host"] == os.uname().nodename
        assert [one["sessionId"] for one in by_pid[nap.pid]["sessions"]] == [napping]
        shown = callboard.here("workers", code=1).out
        assert "memo 7" in shown
        assert f"{nap.pid} on {os.uname().nodename}" in shown
        checks = [one["message"] for one in callboard.here("doctor", "--json").json]
        assert f"process {other.pid} on {os.uname().nodename}: memo 7" in checks

        worker = callboard.start("worker", "flows.py:trip", "--driver", "local")
        started(worker)
        while callboard.here("inbox", "--json").json == []:
            pass
        assert callboard.here("workers").out.count("running") == 3
        nap.kill()
        nap.communicate()
        assert "No running worker has the workflow 'nap'." in callboard.here("why", napping).out
    finally:
        for process in filter(None, (nap, other, worker)):
            process.kill()
            process.communicate()
