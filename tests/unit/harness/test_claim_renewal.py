"""Who sees to a session, and what becomes of it when they die."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.unit.harness.confirmations import confirm

from callboard.app import Callboard
from callboard.errors import Claimed
from callboard.harness.claim_renewal import (
    RENEW_AFTER,
    TTL_MS,
    Harness,
    give_back,
    is_free,
    keep,
    take,
)
from callboard.harness.ending import SessionEnding
from callboard.harness.folders import Attempt, Folders, beside, of_server
from callboard.harness.recording import EndRecord, recorded
from callboard.harness.unrecorded import is_in_use, record_leftovers
from callboard.interactions.records import Interaction
from callboard.systems.processes import started_at
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.claude import launching

ME = Harness.here("ann")
ELSEWHERE = Harness(4711, "1", "another-machine", "bob")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def board(tmp_path: Path, clock: FakeClock) -> AsyncGenerator[Callboard]:
    async with Callboard.open(tmp_path / "t.db", clock=clock) as opened:
        yield opened


async def asked(board: Callboard, **config: Any) -> Interaction:
    config["outcomeSchema"] = {"type": "approval"}
    return await board.people.ask(type="interactive_session", prompt="Well?", config=config)


def dead() -> Harness:
    """A harness whose process has ended."""
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    return Harness(process.pid, "1", ME.host, "bob")


def test_a_name_tells_the_process():
    assert Harness.named(ME.name) == Harness(os.getpid(), ME.start, ME.host)
    assert Harness.named("ann") is None
    assert Harness.named(None) is None


async def test_two_never_have_the_same(board: Callboard):
    question = await asked(board)
    await take(board.people, question, ELSEWHERE)
    question = await board.people.get(question.id)
    assert not is_free(question, ME)
    with pytest.raises(Claimed):
        await take(board.people, question, ME)


async def test_a_claim_of_a_dead_harness_here_is_free_at_once(board: Callboard):
    question = await asked(board)
    await board.people.claim(question.id, by=dead().name, ttl_ms=TTL_MS)
    question = await board.people.get(question.id)
    assert is_free(question, ME)
    claimed = await take(board.people, question, ME)
    assert claimed.claimed_by == ME.name


async def test_a_claim_from_elsewhere_runs_out(board: Callboard, clock: FakeClock):
    question = await asked(board)
    await take(board.people, question, ELSEWHERE)
    await clock.advance(TTL_MS / 1000 + 1)
    question = await board.people.get(question.id)
    assert (await take(board.people, question, ME)).claimed_by == ME.name


async def see_renewals(board: Callboard, clock: FakeClock, renewing: FakeClock, id: str) -> None:
    """A claim stays its harness's for longer than it lasts.

    renewing: a clock that only the renewal sleeps by: it has been renewed when it sleeps again.
    """
    for _ in range(5):
        await sleeping(renewing)
        before = (await board.people.get(id)).claimed_until
        await clock.advance(RENEW_AFTER)
        await renewing.advance(RENEW_AFTER)
        await sleeping(renewing)
        renewed = await board.people.get(id)
        assert renewed.claimed_until != before
        assert renewed.claimed_by == ME.name


async def sleeping(clock: FakeClock) -> None:
    """Wait until somebody sleeps by this clock."""
    async with asyncio.timeout(60):
        while not clock.sleepers:
            await asyncio.sleep(0)


async def test_a_claim_is_renewed_until_somebody_ends_it(board: Callboard, clock: FakeClock):
    question = await take(board.people, await asked(board), ME)
    lost: list[str] = []
    renewing = FakeClock()
    keeping = asyncio.create_task(keep(board.people, question, ME, renewing, lost.append))
    await see_renewals(board, clock, renewing, question.id)
    await board.people.complete(question.id, "completed", response="approved")
    await renewing.advance(RENEW_AFTER)
    await asyncio.wait_for(keeping, 60)
    assert "answered" in lost[0]


async def test_what_is_given_back_is_free(board: Callboard):
    question = await take(board.people, await asked(board), ME)
    await give_back(board.people, question, ME)
    assert (await board.people.get(question.id)).claimed_by is None


# ---------------------------------------------------------------------- what is left behind


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))


async def left(
    board: Callboard, tmp_path: Path, **config: Any
) -> tuple[Folders, Interaction, Attempt]:
    """What a harness that has died keeps of a session."""
    question, gone = await asked(board, **config), dead()
    folders = Folders(tmp_path / "kept")
    attempt = folders.begin(question.id, asdict(gone))
    attempt.write_json("request.json", question.to_wire())
    return folders, question, attempt


def confirmed(attempt: Attempt, decision: Any) -> None:
    """The person has confirmed this decision in the client's dialog."""
    session = launching.session_id("q", 1)
    attempt.write_json("agent.json", {"session": session, "before": 0})
    confirm(attempt, session, decision)


async def test_a_decision_that_nobody_recorded_is_found(board: Callboard, tmp_path: Path):
    folders, _, attempt = await left(board, tmp_path)
    confirmed(attempt, "rejected")
    (found,) = await record_leftovers(board.people, folders, print, None)
    assert (found.status, found.response) == ("completed", "rejected")
    assert list(folders.all()) == []


async def test_an_agent_that_outlives_its_killed_harness_for_a_moment_is_waited_for(
    board: Callboard, tmp_path: Path
):
    folders, _, attempt = await left(board, tmp_path)
    confirmed(attempt, "rejected")
    agent = await asyncio.create_subprocess_exec("sleep", "0.5")
    ran = {**(attempt.read_json("agent.json") or {}), "pid": agent.pid}
    attempt.write_json("agent.json", {**ran, "start": started_at(agent.pid)})
    assert is_in_use(attempt)
    waiting = asyncio.ensure_future(agent.wait())
    (found,) = await record_leftovers(board.people, folders, print, None)
    assert (found.status, found.response) == ("completed", "rejected")
    await waiting


async def test_what_is_found_is_recorded_with_all_that_belongs_to_it(
    board: Callboard, tmp_path: Path
):
    wanted = {"requiredParticipants": ["ann", "bob"], "captureTranscript": True}
    folders, question, attempt = await left(board, tmp_path, **wanted)
    confirmed(attempt, "rejected")
    await board.people.complete(question.id, "completed", response="approved", by="ann")
    (found,) = await record_leftovers(board.people, folders, print, None)
    assert (found.status, found.response) == ("completed", {"ann": "approved", "bob": "rejected"})
    assert found.duration_ms is not None
    assert launching.TOOL in str(found.transcript)
    assert list(folders.all()) == []


async def test_what_nobody_asks_any_more_is_told_once_and_forgotten(
    board: Callboard, tmp_path: Path
):
    folders, question, attempt = await left(board, tmp_path)
    confirmed(attempt, "rejected")
    attempt.write_json("request.json", {**question.to_wire(), "id": "of a deleted session"})
    told: list[str] = []
    for _ in range(2):
        assert await record_leftovers(board.people, folders, told.append, None) == []
    assert len(told) == 1
    assert "of a deleted session" in told[0]
    assert list(folders.all()) == []


async def test_what_another_version_wrote_is_set_aside(board: Callboard, tmp_path: Path):
    folders, question, attempt = await left(board, tmp_path)
    attempt.write_json("request.json", {"id": question.id})
    attempt.keep_decision("rejected")
    told: list[str] = []
    for _ in range(2):
        assert await record_leftovers(board.people, folders, told.append, None) == []
    assert len(told) == 1
    [aside] = attempt.folder.parent.iterdir()
    assert str(aside) in told[0]
    assert (aside / "decision.json").exists()


@pytest.mark.parametrize("file", ["decision.json", "ending.json"])
@pytest.mark.parametrize("agrees", [True, False])
async def test_a_decision_that_nobody_confirmed_is_asked_about(
    board: Callboard, tmp_path: Path, agrees: bool, file: str
):
    folders, question, attempt = await left(board, tmp_path)
    told = {"decision": "approved", "outcome": "completed", "response": "approved"}
    confirmed(attempt, "rejected")
    attempt.write_json(file, {"call": "t1", **told})
    assert await record_leftovers(board.people, folders, print, None) == []
    assert list(folders.all()) == [attempt], "with nobody to ask it is kept"
    seen: list[SessionEnding] = []

    async def confirm(ending: SessionEnding) -> bool:
        seen.append(ending)
        return agrees

    found = await record_leftovers(board.people, folders, print, confirm)
    assert [(one.response, one.unsure) for one in seen] == [("approved", "unconfirmed")]
    assert [one.response for one in found] == (["approved"] if agrees else [])
    expected = "completed" if agrees else "pending"
    assert (await board.people.get(question.id)).status == expected
    assert list(folders.all()) == []


async def test_what_somebody_is_at_is_left_alone(board: Callboard, tmp_path: Path):
    question = await asked(board)
    folders = Folders(tmp_path / "kept")
    attempt = folders.begin(question.id, {"pid": ME.pid, "start": ME.start, "host": ME.host})
    attempt.keep_decision("rejected")
    assert is_in_use(attempt)
    assert await record_leftovers(board.people, folders, print, None) == []
    assert list(folders.all()) == [attempt]


async def test_an_agent_that_outlives_its_harness_is_left_alone(board: Callboard, tmp_path: Path):
    gone = dead()
    folders = Folders(tmp_path / "kept")
    attempt = folders.begin("q", {"pid": gone.pid, "start": gone.start, "host": gone.host})
    attempt.write_json("agent.json", {"pid": ME.pid, "start": ME.start})
    assert await record_leftovers(board.people, folders, print, None) == []
    assert list(folders.all()) == [attempt]


async def test_the_first_end_counts(board: Callboard):
    question = await asked(board)
    await board.people.complete(question.id, "completed", response="approved")
    found = await recorded(board.people, question.id, EndRecord("cancelled"), print)
    assert (found.status, found.response) == ("completed", "approved")


def test_folders_have_safe_names(tmp_path: Path):
    folders = Folders(tmp_path / "kept")
    attempt = folders.begin("../../evil", {})
    assert attempt.folder.parent.parent == folders.root
    assert folders.tries("../../evil") == [attempt]
    assert beside(tmp_path / "t.db").root == tmp_path / "attend-t.db"
    assert of_server("http://a:1").root != of_server("http://a:2").root


async def test_tries_are_counted(tmp_path: Path):
    folders = Folders(tmp_path / "kept")
    assert [folders.begin("q", {}).number for _ in range(3)] == [1, 2, 3]
