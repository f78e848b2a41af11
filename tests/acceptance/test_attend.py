"""`callboard attend` at a terminal, with something simple in the agent's place."""

import json
import os
import signal
import stat
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from tests.acceptance.cli_process import CallboardCommand

from callboard.app import Callboard

AGENT = Path(__file__).with_name("agent.py")
ENTER, CTRL_C = "\r", "\x03"
APPROVAL = {"type": "approval"}


class Attend(CallboardCommand):
    """Attends on `t.db`, where a program named `claude` does what a test says."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.env["PATH"] = f"{folder}/bin:{self.env['PATH']}"
        program = folder / "bin" / "claude"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {AGENT} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        self.program = program

    @property
    def board(self) -> Callboard:
        return Callboard.open(self.folder / "t.db")

    async def ask(self, prompt: str = "Review it.", **config: Any) -> str:
        config.setdefault("cwd", str(self.folder))
        config.setdefault("outcomeSchema", APPROVAL)
        async with self.board as board:
            kind = "interactive_session"
            return (await board.people.ask(type=kind, prompt=prompt, config=config)).id

    async def found(self, id: str) -> Any:
        async with self.board as board:
            return await board.people.get(id)

    def attend(self, scene: str, *options: str, once: bool = True, **env: str) -> Any:
        words = ["attend", *(["--once"] if once else []), *options]
        return self.terminal(*words, AGENT=scene, **env)

    async def ends(self, scene: str, *options: str, **config: Any) -> Any:
        """Attend to one session to its end."""
        id = await self.ask(**config)
        screen = self.attend(scene, "--yes", *options)
        screen.expect(pexpect.EOF)
        print(screen.before)  # Shown when a test fails.
        return await self.found(id)


@pytest.fixture
def attend(tmp_path: Path) -> Iterator[Attend]:
    command = Attend(tmp_path)
    yield command
    for child in command.children:
        child.close(force=True)


def ended(screen: Any) -> int:
    screen.expect(pexpect.EOF)
    screen.wait()
    return screen.exitstatus


# ---------------------------------------------------------------------- the list


async def test_what_waits_is_listed_shown_and_opened_when_the_person_agrees(attend: Attend):
    first = await attend.ask("Review the schema.")
    second = await attend.ask("Review the plan.", systemPrompt="Be brief.", timeout=90_000)
    screen = attend.attend('decide:"approved"')
    screen.expect("2 sessions for you")
    screen.expect("Review the schema.")
    screen.expect("Review the plan.")
    screen.expect("Choose a number")
    screen.send(f"2{ENTER}")
    screen.expect_exact(str(attend.folder))
    screen.expect("model sonnet")
    screen.expect("Be brief.")
    screen.expect("1 min 30 s")
    screen.expect("Open it")
    screen.send(ENTER)
    screen.expect("✓ completed: approved")
    assert ended(screen) == 0
    assert (await attend.found(second)).response == "approved"
    assert (await attend.found(first)).status == "pending"


async def test_who_does_not_agree_leaves_it_for_others(attend: Attend):
    id = await attend.ask()
    screen = attend.attend('decide:"approved"')
    screen.expect("Choose a number")
    screen.send(ENTER)
    screen.expect("Open it")
    screen.send(f"n{ENTER}")
    screen.expect("so that someone else can take it")
    assert ended(screen) == 0
    found = await attend.found(id)
    assert (found.status, found.claimed_by) == ("pending", None)


async def test_the_list_comes_back_and_grows_while_one_looks(attend: Attend):
    await attend.ask("One.")
    screen = attend.attend("say:nothing", "--yes", once=False)
    screen.expect("cancelled")
    screen.expect("No sessions are waiting for you")
    await attend.ask("Another one.")
    screen.expect("cancelled")
    screen.expect("No sessions are waiting for you")
    screen.send(f"q{ENTER}")
    assert ended(screen) == 0


def test_a_workflow_that_nobody_drives_is_told_how_to_go_on(attend: Attend):
    (attend.folder / "review.py").write_text(
        """from callboard import Interactive, Phase, Workflow
look = Interactive("Review it.", outcome_schema={"type": "approval"})
review = Workflow("review", state=dict, phases=[Phase("look", human=look, terminal=True)])
""",
        encoding="utf-8",
    )
    session = attend.run("review.py", "--db", "t.db", code=3)
    screen = attend.attend('decide:"approved"', "--yes", "--session", session)
    screen.expect("✓ completed: approved")
    screen.expect_exact("Resume the session: ")
    screen.expect_exact(f"callboard resume {session}")
    assert ended(screen) == 0


async def test_control_characters_and_markup_are_shown_not_obeyed(attend: Attend):
    prompt = "Look \x1b[2J\x1b]0;title\x07 [bold]here[/bold] \u202eevil"
    await attend.ask(prompt, cwd=str(attend.folder), systemPrompt="\x1b[31mred")
    screen = attend.attend("arguments")
    screen.expect_exact(r"Look \x1b[2J\x1b]0;title\x07 [bold]here[/bold] \u202eevil")
    screen.expect("Choose a number")
    screen.send(ENTER)
    screen.expect_exact(r"\x1b[31mred")
    screen.expect("Open it")
    screen.send(ENTER)
    ended(screen)
    told = json.loads((attend.folder / "arguments.json").read_text(encoding="utf-8"))
    assert r"Look \x1b[2J\x1b]0;title\x07 [bold]here[/bold] \u202eevil" in told["argv"][-1]


async def test_only_those_of_one_session(attend: Attend):
    began = attend("run", "flows.py:trip", "--input", "Rome", "--json", code=3)
    session = began.json[0]["sessionId"]
    other = await attend.ask("Another matter.")
    async with attend.board as board:
        kind = "interactive_session"
        asked = await board.people.ask(type=kind, prompt="Of Rome.", session_id=session)
    screen = attend.attend('decide:"as you like"', "--yes", f"--session={session}")
    ended(screen)
    assert (await attend.found(asked.id)).response == "as you like"
    assert (await attend.found(other)).status == "pending"


def test_without_a_terminal_it_says_so(attend: Attend):
    done = attend("attend", "--once", code=2)
    assert "Run it in a terminal, or with --tmux" in done.err


async def test_several_people_decide_each_for_themselves(attend: Attend):
    id = await attend.ask(requiredParticipants=["ann", "bob"])
    screen = attend.attend('decide:"approved"', "--by=eve")
    screen.expect("for ann, bob")
    screen.send(ENTER)
    screen.send(f"1{ENTER}")
    screen.expect("Only ann, bob can decide this, not eve")
    ended(screen)
    for person in ("ann", "bob"):
        ended(attend.attend('decide:"approved"', "--yes", f"--by={person}"))
    found = await attend.found(id)
    assert (found.status, found.response) == ("completed", {"ann": "approved", "bob": "approved"})


async def test_what_is_shared_goes_on_when_one_leaves_and_ends_with_a_decision(attend: Attend):
    id = await attend.ask(collaborative=True)
    ann = attend.attend("echo", "--yes", "--by=ann")
    ann.expect("ready")
    bob = attend.attend("echo", "--yes", "--by=bob")
    bob.expect("ready")
    bob.send(".")
    bob.expect("The other participants can continue")
    ended(bob)
    found = await attend.found(id)
    assert (found.status, found.claimed_by[:3]) == ("pending", "ann")
    ended(attend.attend('decide:"approved"', "--yes", "--by=eve"))
    found = await attend.found(id)
    assert (found.status, found.response, found.answered_by) == ("completed", "approved", "eve")
    ann.send(".")
    ann.expect("completed: approved")
    ended(ann)


async def test_the_last_who_leaves_ends_what_is_shared(attend: Attend):
    id = await attend.ask(collaborative=True)
    ann = attend.attend("interrupt", "--yes", "--by=ann")
    ann.expect("ready")
    ann.send(CTRL_C)
    ended(ann)
    assert (await attend.found(id)).status == "cancelled"


# ---------------------------------------------------------------------- the terminal


async def test_everything_is_passed_through(attend: Attend):
    await attend.ask()
    screen = attend.attend("echo", "--yes", COLUMNS="90")
    screen.expect_exact("\x1b[32mready\x1b[0m")
    screen.send("a\x03\x1b[A\x04é\x1a.")
    screen.expect_exact(r"typed b'a\x03\x1b[A\x04\xc3\xa9\x1a.'")
    screen.expect("size 90x40")
    assert ended(screen) == 0


async def test_the_agent_is_told_of_another_size(attend: Attend):
    await attend.ask()
    screen = attend.attend("size", "--yes")
    screen.expect("ready")
    screen.setwinsize(30, 71)
    screen.expect("now 71")
    screen.send(".\r")
    ended(screen)


async def test_ctrl_c_interrupts_the_agent_and_not_the_harness(attend: Attend):
    id = await attend.ask()
    screen = attend.attend("interrupt", "--yes")
    screen.expect("ready")
    screen.send(CTRL_C)
    screen.expect("interrupted")
    assert ended(screen) == 0
    assert (await attend.found(id)).status == "cancelled"


async def test_an_agent_that_stops_where_no_shell_waits_goes_on(attend: Attend):
    await attend.ask()
    screen = attend.attend("rest", "--yes")
    screen.expect("goes on")
    assert ended(screen) == 0


async def test_the_terminal_is_as_before_after_an_agent_that_crashed(attend: Attend):
    id = await attend.ask()
    screen = attend.attend("mess", "--yes", once=False)
    screen.expect("No sessions are waiting|mess")
    screen.expect_exact("\x1b[?2004l\x1b[?25h\x1b[<u")
    screen.expect("No sessions are waiting")
    assert termios.tcgetattr(screen.fileno())[3] & termios.ECHO
    assert termios.tcgetattr(screen.fileno())[3] & termios.ISIG
    screen.send(f"q{ENTER}")
    ended(screen)
    found = await attend.found(id)
    assert found.status == "failed"
    assert "SIGKILL" in str(found.error)


async def test_a_closed_terminal_ends_the_session(attend: Attend):
    id = await attend.ask()
    screen = attend.attend("wait", "--yes")
    screen.expect("ready pid=([0-9]+)|ready.*pid=([0-9]+)")
    # As when somebody closes the window. `close` would send signals of its own beside the kernel's.
    screen.ptyproc.fileobj.close()
    async with attend.board as board:
        found = await board.people.ended(id)
    screen.wait()
    assert found.status == "cancelled"
    assert "terminal was closed" in str(found.error)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_harness_that_is_told_to_end_leaves_the_session_for_others(attend: Attend, number):
    id = await attend.ask()
    screen = attend.attend("wait", "--yes")
    screen.expect("ready")
    os.kill(screen.pid, number)
    assert ended(screen) == 130
    found = await attend.found(id)
    assert (found.status, found.claimed_by) == ("pending", None)


# ---------------------------------------------------------------------- ends


async def test_a_decision_counts_however_the_agent_ends(attend: Attend):
    found = await attend.ends('decide:"rejected"', outcomeSchema=APPROVAL)
    assert (found.status, found.response) == ("completed", "rejected")
    assert found.duration_ms > 0


async def test_a_decision_that_does_not_fit_is_recorded_as_a_failure(attend: Attend):
    found = await attend.ends('decide:"perhaps"')
    assert found.status == "failed"
    assert "does not fit" in str(found.error)


async def test_an_exit_code_is_a_failure_with_the_last_words(attend: Attend):
    found = await attend.ends("exit:3")
    assert found.status == "failed"
    assert "exit code 3. Its last message: ready pid=" in str(found.error)
    assert "it went wrong" in str(found.error)


async def test_a_program_that_cannot_be_run_is_a_failure(attend: Attend):
    attend.program.write_text("#!/no/such/shell\n", encoding="utf-8")
    found = await attend.ends("echo")
    assert found.status == "failed"


async def test_a_program_that_ends_at_once_is_a_failure(attend: Attend):
    attend.program.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    found = await attend.ends("echo")
    assert found.status == "failed"
    assert "exited before" in str(found.error)


async def test_a_directory_that_is_not_there_is_a_failure(attend: Attend):
    found = await attend.ends("echo", cwd="/no/such/place")
    assert found.status == "failed"
    assert "Directory not found: /no/such/place." in str(found.error)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "No such file"),
        ("{", "unexpected end"),
        ("{}", "it has no mcpServers"),
        ('{"mcpServers": []}', "cannot be used"),
        ('{"mcpServers": {"a": {}}}', "it has no"),
    ],
)
async def test_an_mcp_config_that_cannot_be_used_is_a_failure(attend: Attend, text, why):
    path = attend.folder / "mcp.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    found = await attend.ends("echo", mcpConfig=str(path))
    assert found.status == "failed"
    assert f"The MCP config {path} cannot be used" in str(found.error)
    assert why in str(found.error)


async def test_what_was_shown_of_an_mcp_config_is_what_is_started(attend: Attend):
    path = attend.folder / "mcp.json"
    remote = {"type": "http", "url": "http://x", "headers": {"X-As": "ann"}}
    tools = {"command": "node", "args": ["t.js"], "env": {"NODE_OPTIONS": "--require /evil.js"}}
    config = {"mcpServers": {"tools": tools, "remote": remote}}
    path.write_text(json.dumps(config), encoding="utf-8")
    await attend.ask(mcpConfig=str(path))
    screen = attend.attend("arguments")
    screen.expect("Choose a number")
    screen.send(ENTER)
    screen.expect_exact("tools: NODE_OPTIONS='--require /evil.js' node t.js")
    screen.expect_exact("remote: http://x (X-As: ann)")
    screen.expect("Open it")
    path.write_text('{"mcpServers": {"tools": {"command": "sh"}}}', encoding="utf-8")
    screen.send(ENTER)
    ended(screen)
    told = json.loads((attend.folder / "arguments.json").read_text(encoding="utf-8"))
    assert json.loads(told["tools"]) == config


async def test_a_window_asks_again_about_what_was_not_shown(attend: Attend):
    path = attend.folder / "mcp.json"
    path.write_text('{"mcpServers": {"tools": {"command": "sh"}}}', encoding="utf-8")
    id = await attend.ask(mcpConfig=str(path))
    screen = attend.attend("arguments", "--yes", f"--question={id}", "--shown=another mark")
    screen.expect("tools: sh")
    screen.expect("Open it")
    screen.send(f"n{ENTER}")
    screen.expect("so that someone else can take it")
    ended(screen)
    assert (await attend.found(id)).status == "pending"


async def test_a_session_that_cannot_be_resumed_is_a_failure(attend: Attend):
    found = await attend.ends("echo", resumeSession="none-such")
    assert found.status == "failed"
    assert "Claude Code has no session 'none-such' to resume" in str(found.error)


@pytest.mark.long
async def test_an_agent_that_does_not_leave_when_its_time_is_up_is_killed(attend: Attend):
    found = await attend.ends("stubborn", "--grace=0", timeout=300)
    assert found.status == "timeout"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("y", ("completed", "approved")), ("n", ("cancelled", None)), ("", ("cancelled", None))],
)
async def test_a_decision_that_is_read_from_the_conversation_is_always_confirmed(
    attend: Attend, answer: str, expected: tuple[str, str | None]
):
    id = await attend.ask()
    screen = attend.attend("say:Looks fine.\n\nAPPROVED", "--yes")
    screen.expect("Record that")
    screen.send(answer + ENTER)
    ended(screen)
    found = await attend.found(id)
    assert (found.status, found.response) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("y", ("completed", "Two indexes are missing.")), ("", ("cancelled", None))],
)
async def test_without_a_schema_the_last_response_is_recorded_once_it_is_confirmed(
    attend: Attend, answer: str, expected: tuple[str, str | None]
):
    id = await attend.ask(outcomeSchema=None)
    screen = attend.attend("say:Two indexes are missing.", "--yes")
    screen.expect("The agent's last response: ")
    screen.expect("Record that")
    screen.send(answer + ENTER)
    ended(screen)
    found = await attend.found(id)
    assert (found.status, found.response) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("y", ("completed", "approved")), ("n", ("cancelled", None)), ("", ("cancelled", None))],
)
async def test_a_decision_that_nobody_let_through_in_the_agent_is_asked_about(
    attend: Attend, answer: str, expected: tuple[str, str | None]
):
    id = await attend.ask()
    screen = attend.attend('cheat:"approved"', "--yes")
    screen.expect_exact("you did not confirm it in its dialog: ")
    screen.expect("approved")
    screen.expect("Record that")
    assert (await attend.found(id)).status == "pending"
    screen.send(answer + ENTER)
    ended(screen)
    found = await attend.found(id)
    assert (found.status, found.response) == expected


async def test_a_decision_that_went_through_without_a_dialog_is_put_to_the_person(attend: Attend):
    id = await attend.ask()
    screen = attend.attend('unasked:"approved"', "--yes")
    screen.expect("the person has not confirmed it")
    screen.expect_exact("you did not confirm it in its dialog: ")
    screen.expect("Record that")
    assert (await attend.found(id)).status == "pending"
    screen.send(f"y{ENTER}")
    ended(screen)
    found = await attend.found(id)
    assert (found.status, found.response) == ("completed", "approved")


async def test_what_was_confirmed_stays_when_a_later_decision_is_not(attend: Attend):
    id = await attend.ask()
    screen = attend.attend('twice:["approved", "rejected"]', "--yes")
    screen.expect("The decision is kept")
    screen.expect("the person has not confirmed it")
    screen.expect_exact("you did not confirm it in its dialog: ")
    screen.expect("rejected")
    screen.expect_exact("the decision you confirmed before is recorded: ")
    screen.expect("approved")
    screen.expect("Record that")
    screen.send(ENTER)
    ended(screen)
    found = await attend.found(id)
    assert (found.status, found.response) == ("completed", "approved")


async def test_all_of_a_decision_is_shown_before_it_is_confirmed(attend: Attend):
    schema = {"type": "structured", "jsonSchema": {"type": "object"}}
    id = await attend.ask(outcomeSchema=schema)
    decision = {"notes": "looks fine; " * 50, "delete_backups": True}
    screen = attend.attend(f"cheat:{json.dumps(decision)}", "--yes")
    screen.expect_exact('"delete_backups": true')
    screen.expect("Record that")
    screen.send(f"n{ENTER}")
    ended(screen)
    assert (await attend.found(id)).status == "cancelled"


async def test_our_own_prompt_is_no_decision(attend: Attend):
    found = await attend.ends("say:ok", prompt="Say so on a line:\n\nAPPROVED")
    assert (found.status, found.response) == ("cancelled", None)


# ---------------------------------------------------------------------- what the agent is given


async def test_the_agent_is_started_as_the_recipe_says(attend: Attend):
    await attend.ask("Review.", model="opus", context={"files": ["a.py"]})
    attend.env |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "x", "CALLBOARD_TOKEN": "secret"}
    attend.env["CLAUDE_CONFIG_DIR"] = str(attend.folder / "config")
    ended(attend.attend("arguments", "--yes"))
    told = json.loads((attend.folder / "arguments.json").read_text(encoding="utf-8"))
    argv = told["argv"]
    assert argv[0] == "--mcp-config"
    assert argv[2] == "--strict-mcp-config"
    assert "--model=opus" in argv
    assert "--permission-mode=default" in argv
    assert argv[-2] == "--"
    assert argv[-1].startswith("A decision is needed")
    assert '"a.py"' in argv[-1]
    assert told["cwd"] == str(attend.folder)
    assert "CALLBOARD_TOKEN" not in told["env"]
    assert "CLAUDECODE" not in told["env"]
    assert "CLAUDE_CODE_SESSION_ID" not in told["env"]
    assert "CLAUDE_CONFIG_DIR" in told["env"]


async def test_a_prompt_that_looks_like_a_command_is_none(attend: Attend):
    await attend.ask("/exit", model="--dangerously-skip-permissions")
    ended(attend.attend("arguments", "--yes"))
    argv = json.loads((attend.folder / "arguments.json").read_text(encoding="utf-8"))["argv"]
    assert not argv[-1].startswith("/")
    assert "--model=--dangerously-skip-permissions" in argv


async def test_what_is_kept_is_for_nobody_else_and_goes_in_the_end(attend: Attend):
    await attend.ask()
    screen = attend.attend("wait", "--yes")
    screen.expect("ready")
    kept = list((attend.folder / "attend-t.db").rglob("*"))
    modes = {stat.S_IMODE(one.stat().st_mode) for one in kept}
    assert modes == {0o700, 0o600}
    assert {"settings.json", "mcp.json", "request.json"} <= {one.name for one in kept}
    screen.send(".")
    ended(screen)
    assert list((attend.folder / "attend-t.db").iterdir()) == []
