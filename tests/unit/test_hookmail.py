"""A hook prints what people left for its agent: once, and only where that is right."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callboard.board.hook_folders import make_folders
from callboard.courier.mail import WAITS
from callboard.systems.processes import started_at
from callboard.vendors.hook_mail import (
    GONE,
    NEXT_TURN,
    NO_HOOKS,
    HookMail,
    context_for,
    told_of,
)
from callboard.vendors.settings.commands import calling, in_sh, spooling
from callboard.vendors.steering import WAITING, Outgoing, Recipient

US = os.getpid()
MESSAGE = Outgoing("m1", "Use the other table.", "now", "Ann")


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    folder = tmp_path / "it's.hooks"
    make_folders(folder)
    return folder


@pytest.fixture
def recipient(tmp_path: Path) -> Recipient:
    transcript = tmp_path / "transcript.jsonl"
    transcript.touch()
    return Recipient("claude", "s1", "/p", US, started_at(US), str(transcript), status="busy")


@pytest.fixture
def mail(hooks: Path) -> HookMail:
    def outputs(recipient: Recipient, message: Outgoing) -> dict[str, Any]:
        return {one: context_for(one, message) for one in ("PostToolUse", "Stop")}

    return HookMail(hooks, outputs, lambda recipient: Path(recipient.transcript or ""))


def run(line: str, event: str = "PostToolUse", session: str = "s1", **more: Any) -> str:
    """What a hook prints, as this process runs it."""
    payload = {"hook_event_name": event, "session_id": session, **more}
    done = subprocess.run(
        ["sh", "-c", line],
        input=json.dumps(payload).encode(),
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], "CLAUDE_PID": str(US)},
    )
    assert done.stderr == b""
    return done.stdout.decode()


def spooled(hooks: Path) -> int:
    return len(list((hooks / "spool").glob("*.json")))


@pytest.mark.parametrize("line", [spooling, calling, lambda *given: in_sh(spooling(*given))])
async def test_a_hook_prints_it_once_and_reports_as_usual(
    hooks: Path, mail: HookMail, recipient: Recipient, line: Any
):
    command = line(hooks, "claude")
    assert run(command) == ""
    assert (await mail.say(recipient, MESSAGE)).result == "accepted"
    assert (await mail.look(recipient, MESSAGE)).status is None
    told = json.loads(run(command))
    assert "Ann sent this message" in told["hookSpecificOutput"]["additionalContext"]
    assert told["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    assert "Use the other table." in told["systemMessage"]
    assert run(command) == ""
    assert (await mail.look(recipient, MESSAGE)).status == "delivered"
    assert spooled(hooks) == 3
    assert not await mail.recall(recipient, MESSAGE)


async def test_shells_spool_again_when_nothing_waits(
    hooks: Path, mail: HookMail, recipient: Recipient
):
    await mail.say(recipient, MESSAGE)
    run(spooling(hooks, "claude"))
    run(spooling(hooks, "claude"))
    box = hooks / "mailbox" / f"claude.{US}"
    assert [one.suffix for one in box.iterdir()] == [".given"]
    await mail.say(recipient, Outgoing("m2", "More.", "now"))
    assert "More." in run(spooling(hooks, "claude"))


@pytest.mark.parametrize(
    "other",
    [
        {"event": "PreToolUse"},
        {"session": "s2"},
        {"agent_id": "subagent"},
        {"event": "Stop", "stop_hook_active": True},
    ],
)
async def test_hooks_that_leave_it(
    hooks: Path, mail: HookMail, recipient: Recipient, other: dict[str, Any]
):
    await mail.say(recipient, MESSAGE)
    assert run(spooling(hooks, "claude"), **other) == ""
    assert await mail.recall(recipient, MESSAGE)
    assert run(spooling(hooks, "claude")) == ""
    assert (await mail.look(recipient, MESSAGE)).status == "untouched"


async def test_of_many_hooks_at_once_one_prints_it(
    hooks: Path, mail: HookMail, recipient: Recipient
):
    await mail.say(recipient, MESSAGE)
    with ThreadPoolExecutor(4) as threads:
        printed = [*threads.map(lambda number: run(spooling(hooks, "claude")), range(8))]
    assert len([one for one in printed if one]) == 1


async def test_the_transcript_shows_that_the_model_was_given_it(
    hooks: Path, mail: HookMail, recipient: Recipient
):
    transcript = Path(recipient.transcript or "")
    before = {"timestamp": "2020-01-01T00:00:00Z", "text": told_of(MESSAGE)}
    transcript.write_text(json.dumps(before) + "\n")
    await mail.say(recipient, MESSAGE)
    run(spooling(hooks, "claude"))
    assert (await mail.look(recipient, MESSAGE)).status == "delivered"
    after = {"timestamp": "2099-01-01T00:00:00Z", "content": f"x {told_of(MESSAGE)}"}
    with transcript.open("a") as file:
        file.write(json.dumps(after) + "\n")
    assert (await mail.look(recipient, MESSAGE)).status == "seen"


@pytest.mark.parametrize(
    ("status", "note"), [("busy", None), ("waiting", WAITING), ("idle", NEXT_TURN)]
)
async def test_when_it_will_be_delivered(
    mail: HookMail, recipient: Recipient, status: Any, note: str | None
):
    """During a turn, that depends on what the message is for, which its writer sees."""
    assert (await mail.reach(replace(recipient, status=status))).note == note


async def test_a_session_that_has_ended_or_has_no_hooks(mail: HookMail, recipient: Recipient):
    gone = Recipient("claude", "s1", "/p", 2**22 - 1, "0", recipient.transcript)
    assert (await mail.reach(gone)).note == GONE
    assert (await mail.say(gone, MESSAGE)).result == "untouched"
    assert (await mail.look(gone, MESSAGE)).status == "left"
    bare = Recipient("claude", "s1", "/p", US, started_at(US))
    assert (await mail.reach(bare)).note == NO_HOOKS


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"session": "s1"}', b"\xff{"])
def test_a_letter_that_is_none(hooks: Path, content: bytes):
    box = hooks / "mailbox" / f"claude.{US}"
    box.mkdir(parents=True)
    (box / "mail").touch()
    (box / "x.json").write_bytes(content)
    assert run(spooling(hooks, "claude")) == ""
    assert spooled(hooks) == 1


def test_it_is_quiet_however_it_is_called(hooks: Path):
    from callboard import hookmail

    for words in ([], ["x"], [str(hooks), "../x"], [str(hooks), "claude", "more"]):
        command = [sys.executable, "-I", "-S", hookmail.__file__, *words]
        done = subprocess.run(command, input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


async def test_a_crash_before_hooks_are_told_that_there_is_mail(
    mail: HookMail, recipient: Recipient, hooks: Path
):
    """It was left, and shells look only where a mark says so."""
    await mail.say(recipient, MESSAGE)
    mark = hooks / "mailbox" / f"claude.{US}" / WAITS
    mark.unlink()
    assert (await mail.look(recipient, MESSAGE)).status is None
    assert mark.exists()


async def test_a_hook_that_was_killed_before_it_printed(
    mail: HookMail, recipient: Recipient, hooks: Path
):
    """It doesn't wait for a hook anymore, so nothing else has to wait for it, either."""
    await mail.say(recipient, MESSAGE)
    (letter,) = (hooks / "mailbox" / f"claude.{US}").glob("*.json")
    letter.rename(letter.with_suffix(".taken"))
    assert (await mail.look(recipient, MESSAGE)).status == "left"
    assert not await mail.recall(recipient, MESSAGE)


@pytest.mark.parametrize("text", ["go", 'It\'s the\n"other" table: \\d <b>ü'])
async def test_only_a_record_of_the_message_shows_that_it_was_seen(
    mail: HookMail, recipient: Recipient, hooks: Path, text: str
):
    message = Outgoing("m1", text, "now", "Ann")
    await mail.say(recipient, message)
    printed = run(spooling(hooks, "claude"))
    transcript, at = Path(recipient.transcript or ""), "2999-01-01T00:00:00.000Z"
    written = {"timestamp": at, "message": f"I am good to go. {text}"}
    transcript.write_text(json.dumps(written, ensure_ascii=False) + "\n")
    assert (await mail.look(recipient, message)).status == "delivered"
    told = json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    record = {"timestamp": at, "attachment": {"content": [told]}}
    transcript.write_text(json.dumps(record, ensure_ascii=False) + "\n")
    assert (await mail.look(recipient, message)).status == "seen"


async def test_a_crash_before_it_was_left_shows_that_no_hook_has_it(
    hooks: Path, mail: HookMail, recipient: Recipient
):
    assert not (hooks / "mailbox").exists()
    assert (await mail.look(recipient, MESSAGE)).status == "untouched"
    ended = replace(recipient, proc_start="another")
    assert (await mail.look(ended, MESSAGE)).status == "left", "its folder may have been removed"
