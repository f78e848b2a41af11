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

from callboard.board.holding import Holding
from callboard.board.plate import Plate
from callboard.board.processes import started_at
from callboard.board.rounds import UNHELD_SECS, Rounds
from callboard.engine.inbox import Inbox
from callboard.engine.operations import Operations
from callboard.events import plates
from callboard.vendors.reports import Report, Request, Signal


@dataclass
class Watch:
    """A board with somebody who looks after it, a client's process, and what that writes."""

    pid: int
    proc_start: str | None
    home: Path
    board: Board = field(default_factory=Board)

    def __post_init__(self) -> None:
        board = self.board
        self.holding = Holding(board.log, Inbox(board.log, board.clock))
        self.rounds = Rounds(board.plates, self.holding, board.clock, self._drained)
        self.transcript = self.home / "transcript.jsonl"

    async def _drained(self) -> None:
        """There is no spool here."""

    async def hear(self, *signals: Signal, **more: Any) -> Plate:
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
        request = Request("permission", "Run ls", {"toolName": "Bash"})
        return await self.hear(
            Signal(plates.PERMISSION_REQUEST, details), request=request, hold=hold
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
    await watch.hear(Signal(plates.SESSION_START))
    assert (await watch.pass_by(2)).status == "running"
    os.kill(watch.pid, 9)
    os.waitpid(watch.pid, 0)
    closed = await watch.pass_by(1.25)
    assert (closed.status, closed.ended) == ("closed", "process_exit")
    assert (await watch.pass_by(20)).status_at == closed.status_at, "it is told once"


async def test_a_number_that_another_process_got_is_not_the_same_process(watch: Watch):
    watch.proc_start = "1"
    await watch.hear(Signal(plates.SESSION_START))
    assert (await watch.pass_by(1.25)).status == "closed"


async def test_a_client_that_is_idle_by_its_own_account_was_interrupted(watch: Watch):
    await watch.hear(Signal(plates.PROMPT_SUBMIT))
    watch.board.clock.skip(1)
    watch.register("idle")
    assert (await watch.pass_by(1.5)).status == "running", "a hook may be on its way"
    left = await watch.pass_by(1)
    assert (left.status, left.interrupted) == ("idle", True)


async def test_what_the_client_said_before_the_last_event_is_old(watch: Watch):
    watch.register("idle", since=5)
    await watch.hear(Signal(plates.PROMPT_SUBMIT))
    assert (await watch.pass_by(5)).status == "running"


async def test_what_another_session_of_the_process_says_does_not_count(watch: Watch):
    await watch.hear(Signal(plates.PROMPT_SUBMIT))
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


async def test_without_a_transcript_a_refusal_here_is_not_taken_for_a_yes(watch: Watch):
    """A client told to keep none goes on after a refusal just as it does after a yes."""
    await watch.asks()
    watch.board.clock.skip(1)
    answer = {"approved": False, "message": "no"}
    await Operations(watch.board.log, watch.board.clock).answer("q1", answer, by="ada")
    await watch.board.plates.hand_over("q1")
    watch.register("busy")
    await watch.pass_by(5)
    assert (await watch.board.interaction("q1")).receipt == "pending", "nothing shows it yet"
    await watch.hear(Signal(plates.STOP))
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
    await watch.hear(Signal(plates.TOOL_START, {"toolName": "ExitPlanMode"}))
    await watch.pass_by(3)
    watch.write(after=0)
    assert (await watch.pass_by(10)).status == "idle"


async def test_a_transcript_that_stands_still_recovers_nothing(watch: Watch):
    watch.write()
    await watch.hear(Signal(plates.STOP_FAILURE, {"error": "rate_limit"}))
    assert (await watch.pass_by(60)).status == "error"


async def test_the_check_is_silent_while_the_client_says_that_it_waits(watch: Watch):
    await watch.hear(Signal(plates.TOOL_START, {"toolName": "AskUserQuestion"}))
    watch.register("waiting")
    watch.write(after=5)
    assert (await watch.pass_by(30)).status == "awaiting_input"


async def test_after_sleep_hooks_get_time_to_arrive(watch: Watch):
    await watch.hear(Signal(plates.TOOL_START, {"toolName": "AskUserQuestion"}))
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
