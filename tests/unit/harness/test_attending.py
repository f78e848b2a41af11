"""One session, from the claim to its record, with something simple in the agent's place."""

import errno
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.harness.confirmations import confirm
from tests.unit.harness.test_claim_renewal import see_renewals

from callboard.app import Callboard
from callboard.clock import Clock, SystemClock
from callboard.errors import AgentError, NotFound
from callboard.harness import attending
from callboard.harness.attending import Attendance, Office
from callboard.harness.claim_renewal import Harness, take
from callboard.harness.ending import SessionEnding
from callboard.harness.folders import Attempt, beside
from callboard.harness.preparing import PreparedSession
from callboard.harness.pty import Exit, Passthrough
from callboard.harness.request import wanted
from callboard.interactions.records import Interaction
from callboard.terminals.persons_terminal import PersonsTerminal
from callboard.testing.fake_clock import FakeClock

ME = Harness.here("ann")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def board(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Callboard]:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setattr(attending, "PersonsTerminal", NoTerminal)
    async with Callboard.open(tmp_path / "t.db", clock=clock) as opened:
        yield opened


class NoTerminal(PersonsTerminal):
    """Nobody sits there."""

    def __init__(self) -> None:
        pass


async def asked(board: Callboard, **config: Any) -> Interaction:
    config.setdefault("outcomeSchema", {"type": "approval"})
    question = await board.people.ask(type="interactive_session", prompt="Ship?", config=config)
    return await take(board.people, question, ME)


def attendance(board: Callboard, question: Interaction, folder: Path, clock: Clock) -> Attendance:
    office = Office(board.people, beside(folder / "t.db"), ME, clock)
    return Attendance(office, PreparedSession(question, wanted(question), "/bin/true", folder))


def decides(monkeypatch: pytest.MonkeyPatch, decision: str, *, confirmed: bool = True) -> None:
    """The agent submits a decision and leaves. confirmed: whether the person let it through."""

    def start(stage: Passthrough, words: list[str], cwd: Path, env: dict[str, str]) -> None:
        settings = next(word for word in words if word.startswith("--settings="))
        session = next(word for word in words if word.startswith("--session-id="))
        attempt = Attempt(Path(settings.partition("=")[2]).parent)
        if confirmed:
            confirm(attempt, session.partition("=")[2], decision)
        else:
            attempt.keep_decision(decision)

    def run(stage: Passthrough, on_lost: Any) -> Exit:
        return Exit(0)

    monkeypatch.setattr(Passthrough, "start", start)
    monkeypatch.setattr(Passthrough, "run", run)


async def never(ending: SessionEnding) -> bool:
    raise AssertionError(f"{ending} needs no asking")


async def test_a_decision_is_recorded_though_the_disk_is_full(
    board: Callboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    decides(monkeypatch, "approved")
    write = Attempt.write

    def full(attempt: Attempt, name: str, content: bytes | str) -> Path:
        if name == "ending.json" or attempt.decision is not None:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(attempt, name, content)

    monkeypatch.setattr(Attempt, "write", full)
    told: list[str] = []
    question = await asked(board, captureTranscript=True)
    done = await attendance(board, question, tmp_path, SystemClock()).attend(never, told.append)
    assert done is not None
    assert (done.status, done.response) == ("completed", "approved")
    assert "No space left on device" in told[0]


async def test_the_claim_is_kept_while_a_person_thinks(
    board: Callboard, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    decides(monkeypatch, "approved", confirmed=False)
    question, renewing = await asked(board), FakeClock()

    async def confirm(ending: SessionEnding) -> bool:
        await see_renewals(board, clock, renewing, question.id)
        return True

    done = await attendance(board, question, tmp_path, renewing).attend(confirm, print)
    assert done is not None
    assert (done.status, done.response) == ("completed", "approved")


async def test_a_question_that_is_gone_leaves_nothing_behind(
    board: Callboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    decides(monkeypatch, "approved")
    gone = replace(await asked(board), id="of a deleted session")
    with pytest.raises(NotFound):
        await attendance(board, gone, tmp_path, SystemClock()).attend(never, print)
    assert list(beside(tmp_path / "t.db").all()) == []


async def test_what_keeps_an_agent_from_starting_is_told_apart(
    board: Callboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def start(stage: Passthrough, *given: Any) -> None:
        raise OSError(errno.ENOEXEC, "Exec format error")

    monkeypatch.setattr(Passthrough, "start", start)
    question = await asked(board)
    with pytest.raises(AgentError, match=r"cannot be started.*Exec format error"):
        await attendance(board, question, tmp_path, SystemClock()).attend(never, print)
    assert list(beside(tmp_path / "t.db").all()) == []
