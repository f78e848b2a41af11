"""The command line at a terminal: keys that are pressed, and what the screen shows."""

import pexpect
from tests.acceptance.cli_process import CallboardCommand

DOWN, ENTER, CTRL_C = "\x1b[B", "\r", "\x03"
GREEN = "\x1b[32m"


def test_questions_are_asked_with_keys_and_the_screen_shows_the_way(callboard: CallboardCommand):
    screen = callboard.terminal("run", "flows.py:trip", "--input", "Rome")
    screen.expect("▸ plan")
    screen.expect("Go to Rome")
    screen.expect("- eat")
    screen.expect("y/N")
    screen.send("n")
    screen.expect("visit 2")
    screen.expect("y/N")
    screen.send("y")
    screen.expect("▸ book")
    screen.expect("for two")
    screen.expect("Which room")
    screen.expect("Suite")
    screen.send(DOWN + ENTER)
    screen.expect("Double")
    screen.expect("▸ end")
    screen.expect_exact(f"{GREEN}✓ completed")
    screen.expect(pexpect.EOF)
    assert ended(screen) == 0
    (session,) = callboard.here("sessions", "--json").json
    events = callboard.here("events", session["sessionId"], "--json").json
    answers = [event["payload"]["value"] for event in events if event["name"] == "input:received"]
    assert answers == ["no", "yes", "Double"]


def test_ctrl_c_leaves_a_question_pending_and_resume_asks_it_again(callboard: CallboardCommand):
    screen = callboard.terminal("run", "flows.py:both")
    screen.expect("Sure")
    screen.expect("y/N")
    screen.send(CTRL_C)
    screen.expect("Waiting for a person: 2 questions")
    screen.expect("callboard answer ([a-z0-9]+) yes --db t.db")
    screen.expect("callboard resume ([a-z0-9]+) --db t.db")
    session = screen.match[1]
    screen.expect(pexpect.EOF)
    assert ended(screen) == 130
    assert len(callboard.here("inbox", "--json").json) == 2

    screen = callboard.terminal("resume", session)
    screen.expect("both.*session")
    screen.expect("y/N")
    screen.send("y")
    screen.expect("How")
    screen.send(DOWN + ENTER)
    screen.expect("completed")
    screen.expect(pexpect.EOF)
    assert ended(screen) == 0


def test_an_answer_from_elsewhere_takes_the_question_off_the_screen(callboard: CallboardCommand):
    screen = callboard.terminal("run", "flows.py:trip", "--input", "Rome")
    screen.expect("y/N")
    (asked,) = callboard.here("inbox", "--json").json
    why = callboard.here("why", asked["sessionId"]).out
    assert f"Process {screen.pid} continues as soon as it is answered." in why
    resumed = callboard.here("resume", asked["sessionId"]).out
    assert resumed == (
        f"Another process is driving session {asked['sessionId']}. Nothing to resume.\n"
    )
    answered = callboard.here("answer", asked["id"], "yes", "--by", "bob").out
    assert answered == "✓ answered: yes\n"
    screen.expect("answered: yes")
    screen.expect("by bob  via cli")
    screen.expect("Which room")
    screen.send(ENTER)
    screen.expect(pexpect.EOF)
    assert ended(screen) == 0


def test_ctrl_c_stops_an_agent_cleanly(callboard: CallboardCommand):
    screen = callboard.terminal("run", "flows.py:nap")
    screen.expect("napping\r\n")
    screen.send(CTRL_C)
    screen.expect("Stopped. Session ([a-z0-9]+) is saved. Resume it: callboard resume")
    session = screen.match[1]
    screen.expect(pexpect.EOF)
    assert ended(screen) == 130
    assert "Ready to continue, but no process is driving it." in callboard.here("why", session).out

    screen = callboard.terminal("resume", session, NAP="0")
    screen.expect("napping")
    screen.expect("completed")
    screen.expect(pexpect.EOF)
    assert ended(screen) == 0


def test_the_terminal_is_believed_about_colour_width_and_characters(callboard: CallboardCommand):
    session = callboard.run("flows.py:trip", "--input", "Rome", code=3)
    screen = callboard.terminal("show", session, NO_COLOR="1", COLUMNS="30")
    screen.expect(pexpect.EOF)
    lines = screen.before.splitlines()
    drawing = lines[: next(i for i, line in enumerate(lines) if line.startswith("phase"))]
    assert all(len(line) <= 30 for line in drawing[2:])
    assert "\x1b[3" not in screen.before
    # A command is never broken: it is there to be copied.
    assert any(f"callboard resume {session} --db t.db" in line for line in lines)


def ended(screen: "pexpect.spawn[str]") -> int | None:
    screen.close()
    return screen.exitstatus
