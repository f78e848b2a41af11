"""`callboard run --title`, `rename` and `export` on a real database."""

import orjson
from tests.acceptance.cli_process import CallboardCommand


def test_a_session_is_named_renamed_and_exported(callboard: CallboardCommand):
    callboard.here(
        "run", "flows.py:trip", "--input", "Rome", "--auto-approve", "--title", "Spring trip"
    )
    [info] = callboard.here("sessions", "--json").json
    session = info["sessionId"]
    assert info["title"] == "Spring trip"

    renamed = callboard.here("rename", session[:5], "Rome\x1b[2J, done", "--by", "ann")
    assert renamed.out == f"Session {session} is now called Rome\\x1b[2J, done.\n"
    head, row = callboard.here("sessions").out.splitlines()[:2]
    assert head.split()[:4] == ["session", "status", "workflow", "title"]
    assert "Rome\\x1b[2J, done" in row
    assert callboard.here("show", session).out.startswith("Rome\\x1b[2J, done\n")

    report = callboard.here("export", session).out
    assert report.startswith("# Rome\\\\x1b\\[2J, done\n")
    file = callboard.flows.with_name("trip.json")
    assert callboard.here("export", session, "--json", "--output", str(file)).out == ""
    assert orjson.loads(file.read_bytes())["events"][-1]["name"] == "workflow:completed"

    assert "no longer has a title" in callboard.here("rename", session, "").out
    refused = callboard.here("rename", session, "x" * 201, code=2)
    assert "title: use at most 200 characters" in refused.err
