"""Every command, as a process, on a real database."""

import re
import stat
import subprocess
from pathlib import Path

import orjson
from tests.acceptance.cli_process import SCRIPT, CallboardCommand


def first_word(text: str, before: str) -> str:
    """The word that follows `before`."""
    return text.split(before, 1)[1].split()[0]


def test_a_run_stops_at_its_question_and_goes_on_by_the_commands_it_printed(
    callboard: CallboardCommand,
):
    asked = callboard("run", "flows.py:trip", "--input", "Rome", code=3)
    session = first_word(asked.out, "session ")
    question = first_word(asked.out, "callboard answer ")
    assert re.sub(r"planner  [\d.]+ m?s\n", "planner  SPAN\n", asked.out) == (
        f"trip  session {session}\n"
        "▸ plan\n"
        "  · planner works\n"
        "the planner prints\n"
        "  ✓ planner  SPAN\n"
        "  ? Go to Rome?\n"
        "    - see Rome\n"
        "    - eat\n"
        "Waiting for a person: 1 question to answer.\n"
        "  Go to Rome? - see Rome - eat\n"
        f"    callboard answer {question} yes --db t.db\n"
        f"    callboard answer {question} no --db t.db\n"
        "  Then resume (or answer right there, in a terminal)\n"
        f"    callboard resume {session} --db t.db\n"
    )
    assert asked.err == ""

    by_agent = callboard.here("answer", question, "yes", code=2, CALLBOARD_CLAUDE_RUN="run:1:2")
    assert "A person has to give it" in by_agent.err
    answered = callboard("answer", question[:5], "YES")
    assert answered.out == (
        f"✓ answered: yes\nResume the session: callboard resume {session} --db t.db\n"
    )
    assert callboard.here("why", session).out.startswith(
        "Ready to continue, but no process is driving it."
    )

    resumed = callboard("resume", session[:4], code=3)
    assert resumed.out.startswith(f"trip  session {session}\n▸ book\n  · teller works\n")
    assert "    │ one night\n    │ for two\n  ✓ teller" in resumed.out
    assert "    3. Suite\n" in resumed.out

    ended = callboard("answer", session, "2", "--resume")
    assert "▸ end\n✓ completed  " in ended.out
    assert '  plan: ["see Rome","eat"]\n' in ended.out

    again = callboard.here("resume", session, code=2)
    assert again.err == (
        f"error: Session {session} has completed and cannot be resumed. "
        f"Fork it: callboard fork {session} --phase end --db t.db\n"
    )


def test_a_run_for_programs_prints_events_and_nothing_else(callboard: CallboardCommand):
    done = callboard("run", "flows.py:trip", "--input", "Rome", "--auto-approve", "--json")
    events = done.json
    assert [event["position"] for event in events] == list(range(1, len(events) + 1))
    assert events[0]["name"] == events[0]["_tag"] == "workflow:started"
    assert events[0]["payload"]["source"] == {"file": str(callboard.flows), "name": "trip"}
    assert events[-1]["name"] == "workflow:completed"
    assert events[-1]["payload"]["finalState"]["plan"] == ["see Rome", "eat"]
    assert done.err == "the planner prints\n"

    waiting = callboard.here("run", "flows.py:trip", "--input", "Rome", "--json", code=3)
    assert waiting.json[-1]["name"] == "input:requested"
    assert "callboard answer" in waiting.err


def test_what_reads_reads_the_same_for_people_and_for_programs(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", "--auto-approve", code=0)

    (listed,) = callboard.here("sessions", "--json").json
    assert listed["sessionId"] == session
    assert (listed["status"], listed["workflow"], listed["phase"]) == ("completed", "trip", "end")
    assert callboard.here("sessions", "--status", "failed", "--json").json == []
    assert f"{session}  ✓ completed  trip" in callboard.here("sessions", "--workflow", "trip").out
    assert callboard.here("sessions", "--status", "waiting").out.startswith("No matching sessions.")

    events = callboard.here("events", session, "--json").json
    assert events[-1]["payload"]["finalState"]["city"] == "Rome"
    assert callboard.here("events", session, "--after", "2", "--limit", "1", "--json").json == [
        events[2]
    ]
    assert callboard.here("events", session, "--follow", "--json").json == events
    assert callboard.here("events", session, "-f", "--limit", "2", "--json").json == events[:2]
    assert "more with --limit" in callboard.here("sessions", "--limit", "1").out
    shown = callboard.here("events", session).out.splitlines()
    assert len(shown) == len(events)
    assert "phase:entered" in shown[2]
    assert "phase=plan visit=1" in shown[2]

    (state,) = callboard.here("state", session, "--json").json
    assert (state["sessionId"], state["position"]) == (session, len(events))
    assert state["state"]["city"] == "Rome"
    assert orjson.loads(callboard.here("state", session, "--at", "0").out)["city"] == ""
    assert "positions 0 to" in callboard.here("state", session, "--at", "999", code=2).err

    (diff,) = callboard.here("diff", session, "0", "2", "--json").json
    assert diff == {
        "sessionId": session,
        "from": 0,
        "to": 2,
        "patches": [{"op": "replace", "path": "/city", "value": "Rome"}],
    }
    assert callboard.here("diff", session, "0", "2").out == '~ /city: "" → "Rome"\n'
    assert callboard.here("diff", session, "2", "0").out == '~ /city: "Rome" → ""\n'
    last = str(len(events))
    assert '+ /plan/0: "see Rome"\n' in callboard.here("diff", session, "2", last).out
    assert '- /plan/0: "see Rome"\n' in callboard.here("diff", session, last, "2").out
    assert callboard.here("diff", session, "2", "2").out.startswith("Nothing changed")


def test_show_draws_the_path_and_tells_what_is_open(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", code=3)
    callboard.here("answer", session, "no", "--resume", code=3)
    shown = callboard.here("show", session).out
    assert "│◄┓\n" in shown or "┃◄┓\n" in shown
    assert "● plan" in shown
    assert "2× ┃" in shown
    assert "○ book" in shown
    assert "callboard answer" in shown
    assert "plan   1" in shown
    assert "question" in shown
    assert "answered by" in shown
    assert "receipt" not in shown  # Only coding agents confirm answers.
    assert "answered by admin" not in shown
    assert "→ plan" in shown

    (report,) = callboard.here("show", session, "--json").json
    assert report["status"] == "waiting"
    assert [visit["outcome"] for visit in report["visits"]] == ["next", "open"]
    assert report["visits"][0]["agents"][0]["agent"] == "planner"
    assert {"from": "plan", "to": "plan", "taken": 1} in report["edges"]
    assert report["phases"][0] == {
        "name": "plan",
        "agent": "planner",
        "human": True,
        "terminal": False,
        "leadsTo": ["book", "plan"],
        "limit": None,
    }
    assert report["why"]["kind"] == "waiting"

    callboard.flows.unlink()
    seen = callboard("show", session, PYTHONIOENCODING="ascii").out
    assert seen.isascii()
    assert "* plan" in seen
    assert "book" not in seen
    moved = callboard.folder / "moved.py"
    assert "There is no file" in callboard.here("show", session, "--file", str(moved), code=2).err


def test_questions_are_found_by_their_own_id_or_by_their_sessions(callboard: CallboardCommand):
    session = callboard.run("flows.py:both", code=3)
    inbox = callboard.here("inbox", "--json").json
    assert [one["prompt"] for one in inbox] == ["Sure?", "How?"]
    assert {one["sessionId"] for one in inbox} == {session}
    sure, how = (one["id"] for one in inbox)
    shown = callboard.here("inbox", "--session", session[:6]).out
    assert f"    callboard answer {how} Slow --db t.db\n" in shown

    several = callboard.here("answer", session, "yes", code=2).err
    assert several.startswith(f"error: Session {session} has 2 open questions.")
    assert f"callboard answer {sure} yes --db t.db" in several

    refused = callboard.here("answer", how, "Medium", code=2)
    assert "'Medium' is not an option" in refused.err
    (answer,) = callboard.here("answer", how, "2", "--by", "bob", "--json").json
    assert answer["response"]["value"] == "Slow"
    assert (answer["answeredBy"], answer["via"]) == ("bob", "cli")
    late = callboard.here("answer", how, "Fast", "--json", code=2)
    assert orjson.loads(late.err)["error"]["code"] == "ALREADY_ANSWERED"
    assert "has already been answered" in callboard.here("answer", how[:6], "Fast", code=2).err

    callboard.here("answer", session, "n", "--resume")
    (state,) = [
        e for e in callboard.here("events", session, "--json").json if "output" in e["payload"]
    ]
    assert state["payload"]["output"] == [False, "Slow"]
    assert callboard.here("inbox").out == "No open questions.\n"
    assert "has no open question" in callboard.here("answer", session, "yes", code=2).err


def test_ids_may_be_short_but_not_ambiguous(callboard: CallboardCommand):
    callboard.run("flows.py:trip", "--input", "x", code=3)
    nobody = callboard.here("show", "zzzzzz", code=2)
    assert nobody.err == (
        "error: There is no session 'zzzzzz'. List them with: callboard sessions --db t.db\n"
    )
    unknown = callboard.here("why", "zzzzzz", "--json", code=2)
    assert orjson.loads(unknown.err)["error"]["code"] == "SESSION_NOT_FOUND"
    assert (
        "See what is open: callboard inbox" in callboard.here("answer", "zzzzzz", "x", code=2).err
    )

    script = (
        "import asyncio, flows\n"
        "from callboard import Callboard\n"
        "async def main():\n"
        "    async with Callboard.open('t.db') as board:\n"
        "        for name in ('abcd-1', 'abcd-2'):\n"
        "            await board.run(flows.trip, 'x', session_id=name)\n"
        "asyncio.run(main())\n"
    )
    python = str(Path(SCRIPT).with_name("python"))
    subprocess.run([python, "-c", script], cwd=callboard.folder, env=callboard.env, check=True)
    ambiguous = callboard.here("show", "abcd", code=2).err
    assert ambiguous == (
        "error: 'abcd' matches more than one id. Which session?\n  abcd-1\n  abcd-2\n"
    )
    assert "not started from a file" in callboard.here("resume", "abcd-1", code=2).err
    callboard.here("resume", "abcd-1", "--file", "flows.py", "--auto-approve")


def test_a_failure_says_where_and_how_to_try_again(callboard: CallboardCommand):
    failed = callboard.here("run", "flows.py:broken", code=1)
    session = first_word(failed.out, "session ")
    assert failed.out.endswith("  ✗ ValueError: boom \\x1b[31m\n✗ failed\n")
    assert "in phase 'second': ValueError: boom \\x1b[31m\n" in failed.err
    assert failed.err.endswith(f"Retry it: callboard retry {session} --db t.db\n")
    assert f"callboard retry {session} --db t.db" in callboard.here("why", session).out
    assert f"callboard retry {session}" in callboard.here("resume", session, code=2).err
    assert "✗ second" in callboard.here("show", session).out

    again = callboard.here("run", "flows.py:broken", "--json", code=1)
    error = orjson.loads(again.err)["error"]
    assert (error["type"], error["phase"]) == ("ValueError", "second")
    assert error["retry"] == f"callboard retry {error['sessionId']} --db t.db"

    (callboard.folder / "mended").touch()
    retried = callboard.here("retry", session)
    child = first_word(retried.out, "session ")
    assert f"forked from {session} at position" in retried.out
    assert "▸ first" not in retried.out
    assert "✓ completed" in retried.out
    refused = callboard.here("retry", child, code=2)
    assert "has not failed: it is completed" in refused.err
    (shown,) = callboard.here("show", session, "--json").json
    assert shown["forks"] == [child]


def test_forks_begin_at_a_phase_or_a_position_with_edits(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", "--auto-approve", code=0)
    edit = '[{"op": "replace", "path": "/city", "value": "Oslo"}]'
    (callboard.folder / "edit.json").write_text(edit, encoding="utf-8")

    (forked,) = callboard.here("fork", session, "--phase", "book", "--no-run", "--json").json
    assert forked["originalSessionId"] == session
    assert forked["position"] == forked["eventsCopied"] + 1
    made = callboard.here("fork", session, "--at", "2", "--no-run").out
    child = first_word(made, "Session ").rstrip(",")
    assert f"Resume it: callboard resume {child} --db t.db\n" in made
    assert f"\nforked from {session} at position 2\n" in callboard.here("show", child).out
    assert f"Forked at position 2: {child}  " in callboard.here("show", session).out

    run = callboard.here(
        "fork", session, "--phase", "plan", "--occurrence", "1", "--edit", "@edit.json",
        "--auto-approve", "--json",
    )  # fmt: skip
    assert run.json[0]["name"] == "session:forked"
    assert run.json[-1]["payload"]["finalState"]["plan"] == ["see Oslo", "eat"]

    position = len(callboard.here("events", session, "--json").json)
    for end in ([], ["--no-run"], ["--no-run", "--at", str(position)]):
        forked = callboard.here("fork", session, *end)
        assert "Resume it" not in forked.out
        assert forked.err == (
            f"Nothing is left to run at position {position}: the session had completed.\n"
            f"Fork an earlier point: callboard fork {session} --phase end --db t.db\n"
        )

    for wrong, said in [
        (["--phase", "nowhere"], "was never in phase 'nowhere'"),
        (["--phase", "plan", "--occurrence", "7"], "1 times, not 7"),
        (["--phase", "plan", "--at", "3"], "exactly one of"),
        (["--at", "99"], "can be forked at positions"),
        (["--at", "2", "--edit", edit.replace("city", "town")], "there is no 'town'"),
        (["--at", "2", "--edit", "{"], "--edit is not valid JSON"),
    ]:
        assert said in callboard.here("fork", session, "--no-run", *wrong, code=2).err

    callboard.flows.unlink()
    callboard.here("fork", session, "--at", "2", "--edit", edit, "--no-run")
    wrong_file = ["--file", "flows.py", "--no-run"]
    assert "There is no file" in callboard.here("fork", session, *wrong_file, code=2).err


def test_pausing_resuming_and_cancelling(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", code=3)
    paused = callboard.here("pause", session, "--reason", "lunch").out
    assert paused.startswith("It is paused by ann, just now")
    assert ": lunch. 1 question can be answered now" in paused
    assert callboard.here("pause", session, "--json").json == [
        {"ok": True, "sessionId": session, "wasPaused": False}
    ]
    callboard.here("answer", session, "yes")
    assert "paused" in callboard.here("sessions").out
    assert "▸ resumed\n▸ book\n" in callboard.here("resume", session, code=3).out

    assert callboard.here("cancel", session, "--reason", "rain").out == (
        f"Session {session} is cancelled.\n"
    )
    assert callboard.here("cancel", session, "--json").json == [
        {"ok": True, "sessionId": session, "wasCancelled": False}
    ]
    assert "had already ended" in callboard.here("cancel", session).out
    assert callboard.here("inbox", "--json").json == []
    assert callboard.here("why", session, "--json").json[0]["kind"] == "cancelled"
    assert "been cancelled and cannot be resumed" in callboard.here("resume", session, code=2).err


def test_views_are_made_again_from_the_log(callboard: CallboardCommand):
    callboard.run("flows.py:both", code=3)
    before = callboard.here("inbox", "--json").out
    (done,) = callboard.here("rebuild", "--json").json
    assert done["ok"]
    assert done["events"] > 3
    assert callboard.here("rebuild").out == f"Rebuilt from {done['events']} events.\n"
    assert callboard.here("inbox", "--json").out == before


def test_the_workflow_is_found_again_or_asked_for(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", code=3)
    moved = callboard.flows.rename(callboard.folder / "moved.py")
    gone = callboard.here("resume", session, code=2).err
    assert "which is gone" in gone
    assert "--file FILE[:NAME]" in gone
    assert "which is gone" in callboard.here("fork", session, code=2).err
    # Not a word of it was recorded.
    assert len(callboard.here("sessions", "--json").json) == 1
    callboard.here("resume", session, "--file", str(moved), code=3)
    assert "choose one: moved.py:trip" in callboard.here("run", "moved.py", code=2).err
    assert "There is no file flows.py" in callboard.here("run", "flows.py", code=2).err


def test_a_session_whose_phase_is_gone_is_held_not_failed(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", code=3)
    callboard.here("answer", session, "yes")
    as_it_was = callboard.flows.read_text(encoding="utf-8")
    renamed = as_it_was.replace('"plan"', '"planning"')
    callboard.flows.write_text(renamed, encoding="utf-8")
    held = callboard.here("resume", session, code=1).out
    assert "It is held: Workflow 'trip' no longer has the phase 'plan'" in held
    assert callboard.here("why", session, "--json").json[0]["kind"] == "held"
    callboard.flows.write_text(as_it_was, encoding="utf-8")
    assert "▸ book" in callboard.here("resume", session, code=3).out


def test_the_database_is_named_anywhere_or_nowhere(callboard: CallboardCommand):
    callboard.run("flows.py:both", code=3)
    (folder,) = [callboard.folder / "share" / "callboard"]
    assert not folder.exists()
    before = callboard.here("--db", "sqlite:///t.db", "sessions", "--json", CALLBOARD_DB="x.db")
    assert before.json == callboard.here("sessions", "--json").json
    assert "There is no database" in callboard.here("sessions", "--db", "typo.db", code=2).err
    assert not (callboard.folder / "typo.db").exists()

    del callboard.env["CALLBOARD_DB"]
    assert "No sessions yet." in callboard.here("sessions").out
    run = callboard.here("run", "flows.py:both", code=3)
    assert "--db" not in run.out
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "callboard.db").stat().st_mode) == 0o600

    (callboard.folder / "notes.db").write_text("no database " * 100, encoding="utf-8")
    damaged = callboard.here("sessions", "--db", "notes.db", "--json", code=2)
    assert orjson.loads(damaged.err)["error"]["code"] == "STORE_CORRUPT"
    unknown = callboard.here("sessions", "--db", "mysql://x", code=2)
    assert "is not a supported database" in unknown.err


def test_whoever_reads_may_leave_early(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "x", "--auto-approve", code=0)
    for command in ("events", "show", "state"):
        process = callboard.without_reader(command, session)
        assert (process.returncode, process.stderr) == (0, "")


def test_it_can_be_run_as_a_module(callboard: CallboardCommand):
    python = str(Path(SCRIPT).with_name("python"))
    done = subprocess.run(
        [python, "-m", "callboard", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("callboard 0.")
