"""Interactive sessions with the real Claude Code: a person decides at its terminal."""

import json
import os
import re
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.real_clients import scenes
from tests.real_clients.attendance import (
    APPROVAL,
    DECISIONS,
    DIALOG,
    PATIENT,
    TOOL,
    Attendance,
    agree,
    deciding,
    exit_agent,
    leave,
    refuse,
    told_once,
)
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude, ClaudeTerminal
from tests.real_clients.home import CALLBOARD, installed
from tests.real_clients.model import Model
from tests.real_clients.patience import until
from tests.real_clients.script import Call, Fail, Say

from callboard.app import Callboard


@pytest.fixture
async def harness(plain_claude: Claude, board: Board) -> Attendance:
    """Only what the harness itself gives the session."""
    return Attendance(plain_claude, board)


async def test_a_decision_that_does_not_fit_is_told_to_the_model(harness: Attendance, model: Model):
    schema, decision = DECISIONS["structured"]
    model.scripts["decide"] = deciding({"approved": "maybe"}, decision)
    id = await harness.ask("Review it. play:decide", outcomeSchema=schema)
    with harness.terminal() as terminal:
        await terminal.shows("maybe", within=PATIENT)
        await terminal.leaves("maybe", "1")
        await terminal.leaves("two keys clash", "1")
        await terminal.shows("It is kept.")
        await leave(terminal)
    assert (await harness.question(id))["response"] == decision
    assert model.was_told('"notes" is a required property')


@pytest.mark.long
async def test_the_last_decision_counts(harness: Attendance, model: Model):
    model.scripts |= {"first": deciding("approved"), "second": deciding("rejected", then="Again.")}
    id = await harness.ask("Review it. play:first", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await agree(terminal)
        await terminal.shows("It is kept.")
        await terminal.type("I changed my mind. play:second")
        await agree(terminal)
        await terminal.shows("Again.")
        await leave(terminal)
    assert (await harness.question(id))["response"] == "rejected"


async def test_the_session_is_on_the_board(harness: Attendance, model: Model, board: Board):
    model.scripts["decide"] = deciding("approved")
    id = await harness.ask("Review the schema. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows(DIALOG, within=PATIENT)
        asked = await harness.permission()
        assert asked["config"]["toolInput"] == {"decision": "approved"}
        await board.plate(
            status="awaiting_approval", name="decision: Review the schema. play:decide"
        )
        await board.answer(asked["id"], "yes")
        await terminal.shows("It is kept.")
        await leave(terminal)
        await board.plate(status="closed")
    assert (await harness.question(id))["response"] == "approved"


# ---------------------------------------------------------------------- a decision needs a dialog

LESS_CAUTIOUS = [
    "auto",
    "bypassPermissions",
    pytest.param("acceptEdits", marks=pytest.mark.long),
    pytest.param("dontAsk", marks=pytest.mark.long),
]


@pytest.mark.parametrize("mode", LESS_CAUTIOUS)
async def test_the_dialog_opens_whatever_the_persons_settings_allow(
    harness: Attendance, model: Model, mode: str
):
    harness.claude.configure({"permissions": {"defaultMode": mode, "allow": [TOOL]}})
    model.scripts["decide"] = deciding("approved")
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await agree(terminal)
        await terminal.shows("It is kept.")
        await leave(terminal)
    assert (await harness.question(id))["response"] == "approved"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("y", "completed"), pytest.param("n", "cancelled", marks=pytest.mark.long)],
)
async def test_a_decision_without_a_dialog_is_put_to_the_person_again(
    harness: Attendance, model: Model, tmp_path: Path, answer: str, expected: str
):
    harness.env["PATH"] = f"{reckless(tmp_path)}:{harness.claude.env['PATH']}"
    model.scripts["decide"] = deciding("approved", then="You will be asked.")
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows("You will be asked.", within=PATIENT)
        assert model.was_told("the person has not confirmed it")
        await exit_agent(terminal)
        await terminal.shows("you did not confirm it in its dialog: approved", "Record that?")
        assert (await harness.question(id))["status"] == "pending"
        await terminal.type(answer)
        await terminal.ends()
    assert (await harness.question(id))["status"] == expected


async def test_a_hook_that_allows_everything_confirms_nothing(harness: Attendance, model: Model):
    decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    command = f"echo '{json.dumps({'hookSpecificOutput': decision})}'"
    groups = [{"hooks": [{"type": "command", "command": command}]}]
    harness.claude.configure({"hooks": {"PermissionRequest": groups}})
    model.scripts["decide"] = deciding("approved")
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows("It is kept.", within=PATIENT)
        await exit_agent(terminal)
        await terminal.shows("you did not confirm it in its dialog: approved", "Record that?")
        await terminal.type("n")
        await terminal.ends()
    assert (await harness.question(id))["status"] == "cancelled"


@pytest.mark.long
async def test_a_decision_that_is_submitted_again_opens_a_dialog(
    harness: Attendance, model: Model, tmp_path: Path
):
    harness.claude.configure({"disableAllHooks": True})
    model.scripts |= {
        "decide": deciding("approved", then="Not confirmed."), "again": deciding("approved"),
    }  # fmt: skip
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await agree(terminal)
        await terminal.shows("Not confirmed.")
        assert model.was_told("the person has not confirmed it")
        seen = tmp_path / "seen"
        hook = {"type": "command", "command": f"touch {seen}"}
        harness.claude.configure({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}})
        for number in range(20):  # The client reads its settings again when it likes.
            model.scripts[f"wait-{number}"] = [[Say(f"Waited {number}.")]]
            await terminal.type(f"play:wait-{number}")
            await terminal.shows(f"Waited {number}.")
            if seen.exists():
                break
        await terminal.type("Again, please. play:again")
        await agree(terminal)
        await terminal.shows("It is kept.")
        await leave(terminal)
    assert (await harness.question(id))["response"] == "approved"


def reckless(folder: Path) -> Path:
    """A folder with a `claude` in it that takes none of our settings, and asks nobody."""
    program = folder / "reckless" / "claude"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/bash
words=()
for word in "$@"; do
  case "$word" in --settings=*|--permission-mode=*) ;; *) words+=("$word");; esac
done
exec {installed("claude")} --dangerously-skip-permissions "${{words[@]}}"
""",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program.parent


# ---------------------------------------------------------------------- no decision


@pytest.mark.long
async def test_the_person_leaves_the_dialog(harness: Attendance, model: Model):
    model.scripts["decide"] = [[Call(TOOL, {"decision": "approved"})], [Say("APPROVED")]]
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await refuse(terminal, "Escape")
        await leave(terminal)
        assert "cancelled" in terminal.screen
    found = await harness.question(id)
    assert (found["status"], found["response"]) == ("cancelled", None)


async def test_ctrl_c_goes_to_the_agent_and_leaves_it_when_pressed_twice(
    harness: Attendance, model: Model
):
    model.scripts["say"] = scenes.SAY
    id = await harness.ask("Review it. play:say", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows("Nothing to do.", within=PATIENT)
        await told_once(terminal, "Press Ctrl-C again to exit")
        assert (await harness.question(id))["status"] == "pending"
        terminal.press("C-c", "C-c")
        await terminal.ends()
    assert (await harness.question(id))["status"] == "cancelled"


@pytest.mark.long
async def test_the_terminal_is_closed_after_a_decision(
    harness: Attendance, model: Model, board: Board
):
    model.scripts["decide"] = deciding("approved")
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await agree(terminal)
        await terminal.shows("It is kept.")
    found = await board.closed(id)
    assert (found["status"], found["response"]) == ("completed", "approved")
    await until(lambda: harness.kept() == [], "nothing that is kept")


@pytest.mark.long
async def test_a_decision_in_the_last_minute_counts(harness: Attendance, model: Model):
    model.scripts["decide"] = deciding("rejected")
    id = await harness.ask("Decide. play:decide", outcomeSchema=APPROVAL, timeout=1)
    with harness.terminal("--grace=20") as terminal:
        await terminal.shows("Time is up.", DIALOG, within=PATIENT)
        await agree(terminal)
        await until(lambda: terminal.is_over, "the end", within=60)
    found = await harness.question(id)
    assert (found["status"], found["response"]) == ("completed", "rejected")


@pytest.mark.long
async def test_a_model_that_cannot_be_reached(harness: Attendance, model: Model):
    model.scripts["fail"] = [[Fail(400, "invalid_request_error")]]
    id = await harness.ask("Review it. play:fail", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows("API Error", within=PATIENT)
        await leave(terminal)
    found = await harness.question(id)
    assert found["status"] == "failed"
    assert "The model could not be reached: API Error: 400" in json.dumps(found["error"])


@pytest.mark.long
async def test_an_agent_that_is_killed(harness: Attendance, model: Model, board: Board):
    model.scripts["say"] = scenes.SAY
    id = await harness.ask("Review it. play:say", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows("Nothing to do.", within=PATIENT)
        plate = await board.plate(status="idle")
        os.kill(plate["pid"], signal.SIGKILL)
        await terminal.ends()
    found = await harness.question(id)
    assert found["status"] == "failed"
    assert "The agent was ended by SIGKILL" in json.dumps(found["error"])


# ---------------------------------------------------------------------- read from the conversation


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("y", "completed"), pytest.param("n", "cancelled", marks=pytest.mark.long)],
)
async def test_a_decision_that_was_only_spoken_is_confirmed(
    harness: Attendance, model: Model, answer: str, expected: str
):
    model.scripts["say"] = [[Say("We looked at it all.\n\nAPPROVED")]]
    id = await harness.ask("Review it. play:say", outcomeSchema=APPROVAL)
    with harness.terminal(asks=True) as terminal:
        await terminal.shows("Choose a number")
        await terminal.type("1")
        await terminal.shows("Open it?")
        terminal.press("Enter")
        await terminal.shows("APPROVED", within=PATIENT)
        await exit_agent(terminal)
        await terminal.shows("The conversation reads as: approved", "Record that?")
        await terminal.type(answer)
        await terminal.ends()
    found = await harness.question(id)
    assert found["status"] == expected
    assert found["response"] == ("approved" if expected == "completed" else None)


@pytest.mark.long
async def test_without_a_schema_the_last_response_is_confirmed(harness: Attendance, model: Model):
    model.scripts["say"] = [[Say("Two indexes are missing.")]]
    id = await harness.ask("Look at the schema. play:say")
    with harness.terminal(asks=True) as terminal:
        await terminal.shows("Choose a number")
        await terminal.type("1")
        await terminal.shows("Open it?")
        terminal.press("Enter")
        await terminal.shows("indexes are missing", within=PATIENT)
        await exit_agent(terminal)
        await terminal.shows("last response: Two indexes are missing.", "Record that?")
        await terminal.type("y")
        await terminal.ends()
    found = await harness.question(id)
    assert (found["status"], found["response"]) == ("completed", "Two indexes are missing.")


# ---------------------------------------------------------------------- crashes


@pytest.mark.long
async def test_the_harness_is_killed_before_a_decision(
    harness: Attendance, model: Model, board: Board
):
    model.scripts["say"] = scenes.SAY
    id = await harness.ask("Review it. play:say", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows("Nothing to do.", within=PATIENT)
        os.kill(terminal.pid, signal.SIGKILL)
        await board.plate(status="closed")
    found = await harness.question(id)
    assert found["status"] == "pending"
    assert "attend" in found["claimedBy"]
    # Another takes it at once, without waiting for the claim to run out; on a server too.
    harness.by_server = True
    with harness.terminal() as terminal:
        await terminal.shows("Nothing to do.", within=PATIENT)
        await leave(terminal)
    found = await harness.question(id)
    assert (found["status"], found["response"]) == ("cancelled", None)


@pytest.mark.long
async def test_a_session_that_was_cut_off_goes_on_from_its_checkpoint(
    harness: Attendance, model: Model, board: Board
):
    model.scripts |= {"say": scenes.SAY, "decide": deciding("approved")}
    id = await harness.ask(
        "Review it. play:say", outcomeSchema=APPROVAL, checkpointInterval=100,
        captureTranscript=True,
    )  # fmt: skip
    with harness.terminal() as terminal:
        await terminal.shows("Nothing to do.", within=PATIENT)
        await until(
            lambda: "checkpoint.json" in [one.name for one in harness.kept()], "a checkpoint"
        )
        os.kill(terminal.pid, signal.SIGKILL)
        await board.plate(status="closed")
    with harness.terminal() as terminal:
        await terminal.shows("This session was interrupted and resumes here", within=PATIENT)
        await terminal.type("Now decide. play:decide")
        await agree(terminal)
        await terminal.shows("It is kept.")
        await leave(terminal)
    found = await harness.question(id)
    assert (found["status"], found["response"]) == ("completed", "approved")
    assert found["transcript"].count("Review it. play:say") == 2  # Both parts of it.
    assert harness.kept() == []


@pytest.mark.long
async def test_two_harnesses_never_have_the_same(harness: Attendance, model: Model, board: Board):
    model.scripts["say"] = scenes.SAY
    first = await harness.ask("Review one. play:say", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal, harness.terminal(asks=True) as other:
        await terminal.shows("Nothing to do.", within=PATIENT)
        await other.shows("ann (attend", "has claimed it")
        await other.type("1")
        await other.shows("Wait until then")
        await leave(terminal)
    assert (await harness.question(first))["status"] == "cancelled"


# ---------------------------------------------------------------------- what a session is given


@pytest.mark.long
async def test_a_transcript_is_kept_where_it_was_asked_for(harness: Attendance, model: Model):
    model.scripts["decide"] = deciding("approved", then="The key sk-ant-REDACTED-example is bad.")
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL, captureTranscript=True)
    with harness.terminal() as terminal:
        await agree(terminal)
        await terminal.shows("is bad.")
        await leave(terminal)
    kept = (await harness.question(id))["transcript"]
    assert "Review it. play:decide" in kept
    assert f'[{TOOL}] {{"decision":"approved"}}' in kept
    assert "The key [redacted] is bad." in kept
    printed = await harness.claude.home.run(CALLBOARD, "transcript", id)
    assert printed.out.splitlines() == kept.splitlines()


@pytest.mark.long
async def test_a_context_of_ten_megabytes(harness: Attendance, model: Model):
    def beginning(sent: str) -> dict[str, Any]:
        [path] = set(re.findall(r"in the file (/[^ ]+/context\.json)\.", sent))
        return {"file_path": path, "limit": 3}

    model.scripts["decide"] = [[Call("Read", beginning)], *deciding("approved")]
    context = {"first": "The third index is missing.", "lines": ["x" * 1000] * 10_000}
    config = {
        "outcomeSchema": APPROVAL,
        "context": context,
        "cwd": str(harness.claude.home.project),
    }
    async with Callboard.open(harness.claude.home.database) as local:
        asked = await local.people.ask(
            type="interactive_session", prompt="Review it. play:decide", config=config
        )
    with harness.terminal() as terminal:
        await agree(terminal)
        await terminal.shows("It is kept.")
        assert model.was_told("The third index is missing.")
        await leave(terminal)
    assert (await harness.question(asked.id))["status"] == "completed"


async def test_system_prompt_model_and_servers_reach_the_agent(
    harness: Attendance, model: Model, tmp_path: Path
):
    config = tmp_path / "mcp.json"
    server = {"command": CALLBOARD, "args": ["mcp"]}
    config.write_text(json.dumps({"mcpServers": {"asker": server}}), encoding="utf-8")
    allowed = {"permissions": {"allow": ["mcp__asker__request_approval"]}}
    harness.claude.configure(allowed)
    ask = Call("mcp__asker__request_approval", {"prompt": "Is it safe?"})
    model.scripts["ask"] = [
        [Call("ToolSearch", {"query": "select:mcp__asker__request_approval"})],
        [ask],
        [Say("Asked.")],
    ]
    await harness.ask(
        "Review it. play:ask", systemPrompt="You are a careful reviewer.", model="opus",
        mcpConfig=str(config), outcomeSchema=APPROVAL,
    )  # fmt: skip
    with harness.terminal(asks=True) as terminal:
        await terminal.shows("Choose a number")
        terminal.press("Enter")
        await terminal.shows("model opus", "You are a careful reviewer.", f"asker: {CALLBOARD} mcp")
        terminal.press("Enter")
        await terminal.shows("Asked.", within=PATIENT)
        await leave(terminal)
    assert model.was_told("You are a careful reviewer.")
    found = (await harness.board.get("/interactions?type=approval"))["interactions"]
    assert [one["prompt"] for one in found] == ["Is it safe?"]


@pytest.mark.long
async def test_a_session_is_resumed(harness: Attendance, model: Model):
    model.scripts |= {"decide": deciding("rejected"), "again": deciding("approved", then="Now so.")}
    first = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await agree(terminal)
        await terminal.shows("It is kept.")
        await leave(terminal)
    second = await harness.ask("Refresh. play:again", outcomeSchema=APPROVAL, resumeSession=first)
    with harness.terminal() as terminal:
        await terminal.shows("Review it.", "Refresh.", within=PATIENT)
        await agree(terminal)
        await terminal.shows("Now so.")
        await leave(terminal)
    assert (await harness.question(first))["response"] == "rejected"
    assert (await harness.question(second))["response"] == "approved"


async def test_in_a_window_of_tmux(harness: Attendance, model: Model):
    model.scripts["decide"] = deciding("approved")
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal("--tmux") as terminal:
        await agree(terminal)
        await terminal.shows("It is kept.")
        await exit_agent(terminal)
        await terminal.shows("Your decision there is recorded", "completed: approved")
        await terminal.ends()
    found = await harness.question(id)
    assert (found["status"], found["response"]) == ("completed", "approved")


@pytest.mark.long
async def test_a_window_of_tmux_needs_nobody(harness: Attendance, model: Model, board: Board):
    harness.by_server = True
    model.scripts["decide"] = deciding("approved")
    id = await harness.ask("Review it. play:decide", outcomeSchema=APPROVAL)
    with harness.terminal("--tmux") as terminal:
        opener = terminal.pid
        await terminal.shows(DIALOG, within=PATIENT)
        in_window = terminal.pid
        assert in_window != opener
        os.kill(opener, signal.SIGKILL)
        held = (await harness.question(id))["claimedBy"]
        assert held.startswith(f"ann (attend {in_window}.")
        await agree(terminal)
        await terminal.shows("It is kept.")
        assert (await harness.question(id))["claimedBy"] == held
        await exit_agent(terminal)
        found = await board.closed(id)
    assert (found["status"], found["response"]) == ("completed", "approved")


@pytest.mark.long
async def test_ctrl_z_suspends_both_and_fg_brings_both_back(harness: Attendance, model: Model):
    model.scripts |= {"say": scenes.SAY, "decide": deciding("approved")}
    id = await harness.ask("Review it. play:say", outcomeSchema=APPROVAL)
    shell = ["bash", "--norc", "-i"]
    with ClaudeTerminal(shell, harness.claude.home.project, harness.claude.env) as terminal:
        await terminal.type("callboard attend --once --yes; echo ended-$?")
        await terminal.shows("Nothing to do.", within=PATIENT)
        terminal.press("C-z")
        await terminal.shows("Stopped")
        await terminal.type("echo hello-$((1 + 1))")
        await terminal.shows("hello-2")
        await terminal.type("fg")
        await terminal.shows("Nothing to do.")
        await terminal.type("Now decide. play:decide")
        await agree(terminal)
        await terminal.shows("It is kept.")
        await exit_agent(terminal)
        await terminal.shows("completed: approved")
    assert (await harness.question(id))["response"] == "approved"


async def test_an_agent_that_is_not_installed(harness: Attendance, tmp_path: Path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("python3", "sh", "env", "tmux"):
        (tools / name).symlink_to(shutil.which(name) or "")
    harness.env["PATH"] = f"{Path(CALLBOARD).parent}:{tools}"
    id = await harness.ask("Review it.", outcomeSchema=APPROVAL)
    with harness.terminal() as terminal:
        await terminal.shows("Claude Code is not installed here")
        await terminal.ends()
    found = await harness.question(id)
    assert found["status"] == "failed"
    assert "Claude Code is not installed here" in json.dumps(found["error"])
