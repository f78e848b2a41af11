"""The command line when its process is stopped, killed, or left alone."""

import signal
import subprocess

import pytest
from tests.acceptance.cli_process import CallboardCommand


def running(callboard: CallboardCommand, workflow: str) -> "tuple[subprocess.Popen[str], str]":
    """A run whose agent is at work, and its session."""
    process = callboard.start("run", f"flows.py:{workflow}")
    assert process.stdout is not None
    session = process.stdout.readline().split("session ")[1].strip()
    while process.stdout.readline().strip() not in ("napping", "blocking", "hogging"):
        pass
    return process, session


@pytest.mark.parametrize(
    ("workflow", "number"),
    [("nap", signal.SIGINT), ("block", signal.SIGINT), ("nap", signal.SIGTERM)],
)
def test_a_signal_stops_it_cleanly(
    callboard: CallboardCommand, workflow: str, number: signal.Signals
):
    process, session = running(callboard, workflow)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out.endswith(
        f"Stopped. Session {session} is saved. Resume it: callboard resume {session} --db t.db\n"
    )
    assert err == ""
    assert callboard.here("why", session, "--json").json[0]["kind"] == "idle"


def test_an_agent_that_lets_nobody_through_is_left_by_the_second_signal(
    callboard: CallboardCommand,
):
    process, session = running(callboard, "hog")
    process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert callboard.here("why", session, "--json").json[0]["kind"] == "orphaned"


def test_after_kill_9_why_knows_and_resume_goes_on(callboard: CallboardCommand):
    process, session = running(callboard, "nap")
    assert callboard.here("why", session).out.startswith(
        "It is running: Agent 'napping' works in phase 'nap'. "
        f"Process {process.pid} is driving it. The phase started "
    )
    process.kill()
    process.communicate()
    assert callboard.here("why", session).out == (
        f"Process {process.pid} was driving it and has died. "
        "Agent 'napping' was at work in phase 'nap'.\n"
        f"  Resume it\n    callboard resume {session} --db t.db\n"
    )
    assert "✓ completed" in callboard("resume", session, NAP="0").out
    (work,) = callboard.here("show", session, "--json").json[0]["visits"][0]["agents"]
    assert work["attempts"] == 2


def test_a_pause_reaches_the_process_that_drives_the_session(callboard: CallboardCommand):
    process, session = running(callboard, "nap")
    asked = callboard.here("pause", session).out
    assert asked.startswith(
        "A pause was requested. It takes effect as soon as 'napping' has finished."
    )
    resumed = callboard.here("resume", session).out
    assert resumed == f"Another process is driving session {session}. It continues there.\n"
    callboard.here("pause", session, "--interrupt")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "‖ pausing\n▸ resumed\n‖ pausing\n" in out
    assert "napping was interrupted\n‖ paused\n" in out
    assert callboard.here("why", session, "--json").json[0]["kind"] == "paused"
    callboard("resume", session, NAP="0")


@pytest.mark.parametrize("workflow", ["nap", "block"])
def test_a_cancelled_session_ends_the_run(callboard: CallboardCommand, workflow: str):
    process, session = running(callboard, workflow)
    callboard.here("cancel", session, "--reason", "rain")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "cancelled: rain" in out


def test_a_wait_before_the_next_attempt_can_be_looked_at(callboard: CallboardCommand):
    process = callboard.start("run", "flows.py:patient")
    assert process.stdout is not None
    session = process.stdout.readline().split("session ")[1].strip()
    while "again in 1 min" not in process.stdout.readline():
        pass
    why = callboard.here("why", session).out
    assert why.startswith("Agent 'flaky' in phase 'try' failed 1 time: ValueError: not yet.")
    process.terminate()
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert "No process is driving it.\n  Resume it\n" in callboard.here("why", session).out


def test_when_nobody_reads_its_events_any_more_a_run_stops_and_says_so(
    callboard: CallboardCommand,
):
    done = callboard.without_reader("run", "flows.py:nap", "--json")
    assert done.returncode == 130
    (session,) = callboard.here("sessions", "--json").json
    assert f"Resume it: callboard resume {session['sessionId']} --db t.db\n" in done.stderr
    assert session["status"] == "running"
