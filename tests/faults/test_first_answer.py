"""Of several who end or claim one question at the same time, in several processes, one did it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from tests.faults.inbox_process import attempts

from callboard import Approval, Callboard, Phase, State, Workflow
from callboard.events.rows import KEYS, Query

CHILD = Path(__file__).with_name("inbox_process.py")
ENDINGS = ("input:received", "input:cancelled")
COUNT = 20

asking = Workflow("asking", state=State, phases=[Phase("a", human=Approval("?"), terminal=True)])


async def start(path: Path, name: str, ends: str, ids: list[str]) -> Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable, CHILD, path, name, ends, *ids, stdin=PIPE, stdout=PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


async def finish(process: Process) -> list[str]:
    said, _ = await process.communicate(b"go\n")
    assert process.returncode == 0
    return said.decode().splitlines()


async def race(board: Callboard, path: Path, ends: str, ids: list[str]) -> dict[str, list[Any]]:
    """Three handles in three processes at once; question → who did what with which result."""
    children = [await start(path, name, ends, ids) for name in ("one", "two")]
    told = await asyncio.gather(
        attempts(board, ends.split(","), ids, "here"), *(finish(child) for child in children)
    )
    results: dict[str, list[Any]] = defaultdict(list)
    for line in (line for lines in told for line in lines):
        id, by, result = line.split()
        results[id].append((by, result))
    return results


async def all_rows(board: Callboard) -> dict[str, list[dict[str, Any]]]:
    return {table: await board.log.rows(Query(table)) for table in KEYS}


@pytest.mark.parametrize("where", ["alone", "in one session"])
@pytest.mark.parametrize(
    ("type", "ends"), [("input", "answer,cancel"), ("interactive_session", "complete,cancel")]
)
async def test_one_end_wins_and_the_others_are_told(
    tmp_path: Path, where: str, type: str, ends: str
):
    path = tmp_path / "cb.db"
    async with Callboard.open(path, [asking]) as board:
        session = (await board.run(asking)).session_id if where != "alone" else None
        asked = [
            await board.people.ask(type=type, prompt="?", session_id=session) for _ in range(COUNT)
        ]
        results = await race(board, path, ends, [one.id for one in asked])
        for one in asked:
            assert len(results[one.id]) == 6
            [winner] = [by for by, result in results[one.id] if result == "done"]
            cancelled = winner.endswith("cancel")
            refusals = {result for by, result in results[one.id] if by != winner}
            assert refusals == {"INTERACTION_CLOSED" if cancelled else "ALREADY_ANSWERED"}
            done = await board.interaction(one.id)
            assert done.status == ("cancelled" if cancelled else "completed")
            assert done.answered_by == winner
            told = await board.log.read(session or one.id)
            ended = [e for e in told if e.name in ENDINGS and e.payload["id"] == one.id]
            assert [event.payload["by"] for event in ended] == [winner]
            tasks = [e.name for e in told if e.payload.get("taskId") == one.id]
            blocks = session is not None and type == "interactive_session"
            assert tasks == (["task:started", "task:completed"] if blocks else [])
        if session:
            info = await board.session(session)
            assert (info.status, len(info.pending)) == ("waiting", 1)
        # The end of a task is something to go on with; an answer that nobody awaits is not.
        awaited = [session] if session and type == "interactive_session" else []
        assert await board.log.unsettled() == awaited
        rows = await all_rows(board)
        await board.rebuild()
        assert await all_rows(board) == rows


async def test_one_claim_wins_while_answers_come_too(tmp_path: Path):
    path = tmp_path / "cb.db"
    async with Callboard.open(path) as board:
        asked = [await board.people.ask(type="input", prompt="?") for _ in range(COUNT)]
        results = await race(board, path, "claim", [one.id for one in asked])
        for one in asked:
            [holder] = [by for by, result in results[one.id] if result == "done"]
            assert {result for _, result in results[one.id]} == {"done", "CLAIMED"}
            assert (await board.interaction(one.id)).claimed_by == holder
        # The holder of a claim has no right to be the one who answers.
        results = await race(board, path, "answer", [one.id for one in asked])
        for one in asked:
            [winner] = [by for by, result in results[one.id] if result == "done"]
            done = await board.interaction(one.id)
            assert (done.response, done.claimed_by) == ({"value": winner}, None)


async def test_the_first_answer_to_a_workflow_wins_while_it_is_driven(tmp_path: Path):
    path = tmp_path / "cb.db"
    flow = Workflow(
        "twice",
        state=State,
        phases=[Phase("a", human=Approval("?"), next="b"), Phase("b", terminal=True)],
    )
    async with Callboard.open(path, [flow]) as board:
        sessions = [(await board.run(flow)).session_id for _ in range(COUNT)]
        ids = [one.id for one in await board.inbox()]
        children = [await start(path, name, "claim,cancel", ids) for name in ("one", "two")]
        answers = (board.answer(id, "yes") for id in ids for _ in range(3))
        results, *others = await asyncio.gather(
            asyncio.gather(*answers, return_exceptions=True), *map(finish, children)
        )
        assert sum(not isinstance(result, BaseException) for result in results) == COUNT
        # Nobody could take a question back that a workflow waits for.
        assert not [line for said in others for line in said if line.endswith("-cancel done")]
        await board.recover()
        assert [(await board.session(id)).status for id in sessions] == ["completed"] * COUNT
