"""What nobody tells: found out by rounds, one at a time, by a clock that tests move."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.boards import SESSION, Board

from callboard.board.held_hooks import HeldHooks
from callboard.board.plate import Plate
from callboard.board.watchdog import MAX_RECOVERY_TIME_SECS, UNHELD_SECS, Rounds
from callboard.engine.inbox import Inbox
from callboard.engine.operations import Operations
from callboard.events import plates
from callboard.events.event_name import Entry
from callboard.events.moments import from_ms, iso
from callboard.systems.processes import started_at
from callboard.vendors.reports import HookRequest, Report


@dataclass
class Watch:
    """A board with somebody who looks after it, a client's process, and what that writes."""

    pid: int
    proc_start: str | None
    home: Path
    board: Board = field(default_factory=Board)

    def __post_init__(self) -> None:
        board = self.board
        self.holding = HeldHooks(board.log, Inbox(board.log, board.clock))
        self.rounds = Rounds(board.plates, self.holding, board.clock, self._drained)
        self.transcript = self.home / "transcript.jsonl"

    async def _drained(self) -> bool:
        """There is no spool here."""
        return True

    async def hear(self, *signals: Entry, **more: Any) -> Plate:
        report = Report(
            "claude",
            SESSION,
            signals,
            pid=self.pid,
            proc_start=self.proc_start,
            transcript_path=str(self.transcript),
            **more,
        )
        return await self.board.hear(report)

    async def asks(self, hold: str | None = "q1") -> Plate:
        details = {"toolName": "Bash", "toolInput": {"command": "ls"}, "asks": "Run ls"}
        request = HookRequest("permission", "Run ls", {"toolName": "Bash"})
        return await self.hear(
            Entry(plates.PERMISSION_REQUEST, details), request=request, hold=hold
        )

    async def pass_by(self, seconds: float) -> Plate:
        """Rounds, a quarter of a second apart."""
        for _ in range(round(seconds * 4)):
            self.board.clock.skip(0.25)
            await self.rounds.once()
        return await self.plate()

    async def plate(self) -> Plate:
        (found,) = await self.board.plates.all()
        return found

    def register(self, status: str, *, since: float = 0.0, session: str = SESSION) -> None:
        """What the client says of itself, and since how many seconds."""
        folder = self.home / "sessions"
        folder.mkdir(exist_ok=True)
        at = self.board.clock.now_ms() - round(since * 1000)
        told = {
            "pid": self.pid,
            "sessionId": session,
            "procStart": self.proc_start,
            "status": status,
            "updatedAt": at,
            "statusUpdatedAt": at,
        }
        (folder / f"{self.pid}.json").write_text(json.dumps(told))

    def write(self, text: str = "{}\n", *, after: float = 0.0) -> None:
        """The transcript goes on, so many seconds from now."""
        self.transcript.write_text(text)
        at = self.board.clock.now_ms() / 1000 + after
        os.utime(self.transcript, (at, at))

    def says(self, *records: dict[str, Any], after: float = 0.0) -> None:
        """The transcript ends with these records, written so many seconds from now."""
        at = iso(from_ms(self.board.clock.now_ms() + round(after * 1000)))
        self.write("".join(json.dumps({**one, "timestamp": at}) + "\n" for one in records))

    def called(self, use: str, content: str | None = None, **decided: Any) -> None:
        """The transcript holds a call of `ls` and, with a content, what became of it."""
        call = {"type": "tool_use", "id": use, "name": "Bash", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": use, "content": content}
        noon, later = "2026-01-31T12:00:00.000Z", "2999-01-01T00:00:00.000Z"
        records: list[dict[str, Any]] = [
            {"type": "assistant", "message": {"content": [call]}, "timestamp": noon},
            {"type": "user", "message": {"content": [result]}, "timestamp": later, **decided},
        ]
        told = records[:1] if content is None else records
        self.write("".join(json.dumps(one) + "\n" for one in told))


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    with subprocess.Popen(["sleep", "600"]) as process:
        yield Watch(process.pid, started_at(process.pid), tmp_path)
        process.kill()


async def status(watch: Watch, id: str = "q1") -> str:
    return (await watch.board.interaction(id)).status


async def test_a_process_that_is_gone_closes_its_plate(watch: Watch):
    await watch.hear(plates.SESSION_START({}))
    assert (await watch.pass_by(2)).status == "running"
    os.kill(watch.pid, 9)
    os.waitpid(watch.pid, 0)
    closed = await watch.pass_by(1.25)
    assert (closed.status, closed.ended) == ("closed", "process_exit")
    assert (await watch.pass_by(20)).status_at == closed.status_at, "it is told once"


async def test_a_number_that_another_process_got_is_not_the_same_process(watch: Watch):
    watch.proc_start = "1"
    await watch.hear(plates.SESSION_START({}))
    assert (await watch.pass_by(1.25)).status == "closed"


async def test_a_client_that_is_idle_by_its_own_account_was_interrupted(watch: Watch):
    await watch.hear(plates.PROMPT_SUBMIT({}))
    watch.board.clock.skip(1)
    watch.register("idle")
    assert (await watch.pass_by(1.5)).status == "running", "a hook may be on its way"
    left = await watch.pass_by(1)
    assert (left.status, left.interrupted) == ("idle", True)


ESC = {
    "type": "user",
    "message": {
        "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
    },
}
DONE = {"type": "assistant", "message": {"stop_reason": "end_turn", "content": []}}
CALLS = {"type": "assistant", "message": {"stop_reason": "tool_use", "content": []}}


async def test_esc_during_a_long_tool_is_seen_within_a_second(watch: Watch):
    await watch.hear(plates.TOOL_START({"toolName": "Bash"}))
    watch.board.clock.skip(30)
    watch.register("idle")
    watch.says(CALLS, ESC)
    left = await watch.pass_by(0.5)
    assert (left.status, left.interrupted, left.unseen) == ("idle", True, False)


async def test_an_old_esc_ends_no_new_turn(watch: Watch):
    watch.says(CALLS, ESC)
    await watch.hear(plates.PROMPT_SUBMIT({}))
    watch.board.clock.skip(0.1)
    watch.register("idle")
    assert (await watch.pass_by(1)).status == "running"


@pytest.mark.parametrize(
    ("record", "interrupted", "unseen"), [(ESC, True, False), (DONE, False, True)]
)
async def test_without_a_registry_the_transcript_shows_that_a_turn_is_over(
    watch: Watch, record: dict[str, Any], interrupted: bool, unseen: bool
):
    await watch.hear(plates.TOOL_START({"toolName": "Bash"}))
    watch.says(record, after=1)
    left = await watch.pass_by(MAX_RECOVERY_TIME_SECS)
    assert (left.status, left.interrupted, left.unseen) == ("idle", interrupted, unseen)


async def test_esc_of_a_client_without_a_registry_is_seen_within_a_second(watch: Watch):
    await watch.hear(plates.TOOL_START({"toolName": "Bash"}))
    await watch.pass_by(4)
    watch.says(CALLS, ESC)
    assert (await watch.pass_by(0.5)).status == "idle"
    # The call that it ended is reported afterwards.
    await watch.hear(plates.TOOL_CALL({"toolName": "Bash"}))
    left = await watch.pass_by(0.5)
    assert (left.status, left.interrupted) == ("idle", True)
    await watch.hear(plates.PROMPT_SUBMIT({}))
    assert (await watch.pass_by(1)).status == "running", "the next prompt counts"


async def test_without_a_registry_what_goes_on_runs(watch: Watch):
    await watch.hear(plates.TOOL_START({"toolName": "Bash"}))
    watch.says(DONE, CALLS, after=1)
    assert (await watch.pass_by(60)).status == "running"


async def test_without_any_sign_for_ten_minutes_it_is_idle(watch: Watch):
    await watch.hear(plates.PROMPT_SUBMIT({}))
    watch.transcript.unlink(missing_ok=True)
    watch.board.clock.skip(560)
    assert (await watch.pass_by(25)).status == "running"
    assert (await watch.pass_by(25)).status == "idle"


async def test_a_tool_may_be_silent_for_an_hour(watch: Watch):
    await watch.hear(plates.TOOL_START({"toolName": "Bash"}))
    watch.board.clock.skip(3560)
    assert (await watch.pass_by(25)).status == "running"
    assert (await watch.pass_by(25)).status == "idle"


async def test_the_branch_follows_a_checkout_while_the_session_is_idle(watch: Watch):
    head = watch.home / ".git" / "HEAD"
    head.parent.mkdir()
    head.write_text("ref: refs/heads/main\n")
    before = await watch.hear(plates.STOP({}), project_path=str(watch.home))
    assert (await watch.pass_by(1.25)).git_branch == "main"
    head.with_name("HEAD.lock").write_text("ref: refs/heads/topic/1\n")
    head.with_name("HEAD.lock").rename(head)
    after = await watch.pass_by(1.25)
    assert after.git_branch == "topic/1"
    assert (after.updated_at, after.status_at) == (before.updated_at, before.status_at)
    assert len(await watch.board.events(after)) == 3, "it is told once"


async def test_what_the_client_said_before_the_last_event_is_old(watch: Watch):
    watch.register("idle", since=5)
    await watch.hear(plates.PROMPT_SUBMIT({}))
    assert (await watch.pass_by(5)).status == "running"


async def test_what_another_session_of_the_process_says_does_not_count(watch: Watch):
    await watch.hear(plates.PROMPT_SUBMIT({}))
    watch.board.clock.skip(1)
    watch.register("idle", session="another")
    assert (await watch.pass_by(5)).status == "running"


async def test_a_dialog_that_was_left_takes_its_question_along(watch: Watch):
    await watch.asks()
    watch.register("waiting")
    assert (await watch.pass_by(1)).status == "awaiting_approval"
    watch.register("idle")
    left = await watch.pass_by(0.5)
    assert (left.status, left.interrupted, left.pending) == ("idle", True, ())
    assert await status(watch) == "cancelled"


async def test_a_command_that_runs_long_was_allowed_in_the_terminal(watch: Watch):
    await watch.asks()
    watch.called("t1")
    watch.board.clock.skip(3)
    watch.register("busy")
    assert (await watch.pass_by(1)).status == "awaiting_approval", "a refusal may still show"
    gone_on = await watch.pass_by(1)
    assert (gone_on.status, gone_on.pending) == ("running", ())
    told = await watch.board.interaction("q1")
    assert (told.status, told.response, told.via) == (
        "completed",
        {"approved": True},
        "terminal",
    )


async def test_a_yes_from_here_counts_although_esc_ends_the_call_at_once(watch: Watch):
    """Between two rounds: the client is at work for some milliseconds only."""
    await watch.asks()
    watch.board.clock.skip(1)
    await Operations(watch.board.log, watch.board.clock).answer("q1", {"approved": True}, by="ada")
    watch.called("toolu_1")
    plate = await watch.board.plates.hand_over("q1", {"approved": True})
    assert plate is not None
    watch.rounds.watch(plate, "q1")
    await watch.board.clock.advance(0.02)
    watch.register("busy")
    await watch.board.clock.advance(0.02)
    watch.register("idle")
    watch.called("toolu_1", "The user doesn't want to proceed.", toolDenialKind="user-rejected")
    await watch.pass_by(3)
    told = await watch.board.interaction("q1")
    assert (told.response, told.receipt) == ({"approved": True}, "delivered")
    await watch.rounds.stop()


async def test_without_a_transcript_a_refusal_here_is_not_taken_for_a_yes(watch: Watch):
    """A client told to keep none goes on after a refusal just as it does after a yes."""
    await watch.asks()
    watch.board.clock.skip(1)
    answer = {"approved": False, "message": "no"}
    await Operations(watch.board.log, watch.board.clock).answer("q1", answer, by="ada")
    await watch.board.plates.hand_over("q1", answer)
    watch.register("busy")
    await watch.pass_by(5)
    assert (await watch.board.interaction("q1")).receipt == "pending", "nothing shows it yet"
    await watch.hear(plates.STOP({}))
    await watch.pass_by(5)
    told = await watch.board.interaction("q1")
    assert (told.receipt, told.response) == ("delivered", answer)


@pytest.mark.parametrize(
    ("decided", "response"),
    [
        ({"permissionDecision": {"decision": "accept", "source": "user"}}, {"approved": True}),
        (
            {"toolDenialKind": "user-rejected"},
            {"approved": False, "message": "use mkdir"},
        ),
    ],
    ids=["allowed", "denied"],
)
async def test_the_transcript_says_how_it_was_decided(
    watch: Watch, decided: dict[str, Any], response: dict[str, Any]
):
    await watch.asks()
    waiting = asyncio.create_task(watch.holding.wait("q1"))
    await asyncio.sleep(0)
    watch.board.clock.skip(3)
    watch.register("busy")
    watch.called("t1", "REJECTED the user said:\nuse mkdir", **decided)
    assert (await watch.pass_by(1)).status == "running"
    told = await watch.board.interaction("q1")
    assert (told.status, told.response, told.via) == ("completed", response, "terminal")
    assert await waiting == told, "and the hook that was held gets to know"


async def test_what_another_hook_decided_is_no_answer_that_was_delivered(watch: Watch):
    await watch.asks()
    watch.board.clock.skip(3)
    watch.register("busy")
    by_hook = {"decision": "reject", "source": "hook"}
    watch.called("t1", "no", toolDenialKind="permission-rule", permissionDecision=by_hook)
    await watch.pass_by(1)
    told = await watch.board.interaction("q1")
    assert (told.response, told.via, told.receipt) == ({"approved": False}, "hook", None)


async def test_a_plate_that_is_stuck_recovers_within_twelve_seconds(watch: Watch):
    await watch.hear(plates.TOOL_START({"toolName": "ExitPlanMode"}))
    await watch.pass_by(3)
    watch.write(after=0)
    assert (await watch.pass_by(10)).status == "idle"


async def test_a_transcript_that_stands_still_recovers_nothing(watch: Watch):
    watch.write()
    await watch.hear(plates.STOP_FAILURE({"error": "rate_limit"}))
    assert (await watch.pass_by(60)).status == "error"


async def test_the_check_measures_from_the_last_event_that_was_recorded(watch: Watch):
    await watch.hear(plates.STOP_FAILURE({"error": "rate_limit"}))
    await watch.pass_by(5)
    await watch.hear(plates.HOOK_HEARD({"hook": "Notification"}))
    watch.write(after=1)
    assert (await watch.pass_by(30)).status == "error", "we were told of that"
    watch.write()
    assert (await watch.pass_by(MAX_RECOVERY_TIME_SECS)).status == "idle"


async def test_the_check_is_silent_while_the_client_says_that_it_waits(watch: Watch):
    await watch.hear(plates.TOOL_START({"toolName": "AskUserQuestion"}))
    watch.register("waiting")
    watch.write(after=5)
    assert (await watch.pass_by(30)).status == "awaiting_input"


async def test_after_sleep_hooks_get_time_to_arrive(watch: Watch):
    await watch.hear(plates.TOOL_START({"toolName": "AskUserQuestion"}))
    await watch.pass_by(1)
    watch.board.clock.skip(3600)
    watch.write()
    assert (await watch.pass_by(9)).status == "awaiting_input"
    assert (await watch.pass_by(12)).status == "idle"


async def test_a_held_hook_that_does_not_come_back_is_gone(watch: Watch):
    await watch.asks()
    assert (await watch.pass_by(UNHELD_SECS - 1)).pending
    left = await watch.pass_by(2)
    assert (left.status, left.pending) == ("idle", ())
    assert await status(watch) == "cancelled"


async def test_a_dialog_that_nobody_could_answer_here_stays_the_terminals(watch: Watch):
    await watch.asks(hold=None)
    assert (await watch.pass_by(60)).status == "awaiting_approval"
