"""Whatever is done to a session that nobody drives, its status files follow."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from callboard import Approval, Callboard, Interactive, Phase, State, Workflow
from callboard.errors import SessionNotFound
from callboard.statusfiles.story import POSITION

review = Interactive("Review it.", outcome_schema={"type": "freeform"})


async def break_down(state: State) -> None:
    raise RuntimeError("No ink.")


def flow(name: str, **phase: Any) -> Workflow:
    return Workflow(name, state=State, phases=[Phase("a", **phase, terminal=True)])


APPROVED = flow("approved", human=Approval("On?"))
REVIEWED = flow("reviewed", human=review)
BROKEN = flow("broken", agent=break_down)

Operation = Callable[[Callboard, str, str], Awaitable[Any]]
"""What is done, to a session and its question."""


def told(root: Path) -> dict[str, Any]:
    return json.loads((root / ".claude/state/workflow.json").read_text(encoding="utf-8"))


async def begin(root: Path, workflow: Workflow) -> tuple[str, str]:
    """A session that was driven to its first stop, and its question."""
    async with Callboard.open(root / "db", [workflow]) as board:
        session = (await board.run(workflow, status_files=root)).session_id
        asked = await board.inbox(session)
        return session, asked[0].id if asked else ""


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Callboard]:
    """Another process, which knows no workflow and drives nothing."""
    async with Callboard.open(tmp_path / "db") as opened:
        yield opened


async def check(board: Callboard, root: Path, session: str) -> None:
    """The files say what the log says."""
    files, info = told(root), await board.session(session)
    assert (files["session_status"], files[POSITION]) == (info.status, info.position)
    assert [one["id"] for one in files["questions"]] == [one.id for one in info.pending]


async def paused(board: Callboard, session: str, question: str) -> None:
    await board.pause(session)
    await board.resume(session)


OPERATIONS: dict[str, tuple[Workflow, Operation]] = {
    "answer": (APPROVED, lambda b, s, q: b.answer(q, True)),
    "people.complete, a simple question": (
        APPROVED,
        lambda b, s, q: b.people.complete(q, "completed", response=True),
    ),
    "people.complete": (REVIEWED, lambda b, s, q: b.people.complete(q, "completed", response="A")),
    "people.cancel": (REVIEWED, lambda b, s, q: b.people.cancel(q)),
    "people.claim": (REVIEWED, lambda b, s, q: b.people.claim(q, by="ann")),
    "people.ask": (
        APPROVED,
        lambda b, s, q: b.people.ask(type="input", prompt="Why?", session_id=s),
    ),
    "human.complete_interactive": (
        REVIEWED,
        lambda b, s, q: b.human.complete_interactive(q, "failed", error="No time."),
    ),
    "human.request_interactive": (
        APPROVED,
        lambda b, s, q: b.human.request_interactive("Look.", session_id=s),
    ),
    "pause": (APPROVED, lambda b, s, q: b.pause(s)),
    "resume": (APPROVED, paused),
    "cancel": (APPROVED, lambda b, s, q: b.cancel(s)),
}


@pytest.mark.parametrize("name", OPERATIONS)
async def test_the_files_follow(board: Callboard, tmp_path: Path, name: str):
    workflow, operation = OPERATIONS[name]
    session, question = await begin(tmp_path, workflow)
    before = told(tmp_path)[POSITION]

    await operation(board, session, question)

    assert told(tmp_path)[POSITION] > before
    await check(board, tmp_path, session)


async def test_the_files_of_a_deleted_session_say_that_it_was_cancelled(
    board: Callboard, tmp_path: Path
):
    session, _ = await begin(tmp_path, APPROVED)

    await board.delete(session)

    assert (told(tmp_path)["status"], told(tmp_path)["session_status"]) == ("failed", "cancelled")
    with pytest.raises(SessionNotFound):
        await board.session(session)


async def test_a_fork_leaves_the_files_to_its_parent_until_it_is_driven(
    board: Callboard, tmp_path: Path
):
    session, _ = await begin(tmp_path, APPROVED)

    forked = await board.fork(session, position=1, run=False)

    assert told(tmp_path)["session_id"] == session
    await check(board, tmp_path, session)
    async with Callboard.open(tmp_path / "db", [APPROVED]) as driver:
        await driver.drive(forked.session_id)
    assert told(tmp_path)["session_id"] == forked.session_id
    await check(board, tmp_path, forked.session_id)


async def test_a_retry_takes_the_files_when_it_is_driven(board: Callboard, tmp_path: Path):
    session, _ = await begin(tmp_path, BROKEN)

    forked = await board.retry(session, run=False)

    assert (told(tmp_path)["session_id"], told(tmp_path)["session_status"]) == (session, "failed")
    async with Callboard.open(tmp_path / "db", [BROKEN]) as driver:
        await driver.drive(forked.session_id)
    await check(board, tmp_path, forked.session_id)
