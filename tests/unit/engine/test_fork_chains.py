"""A fork costs the same however many forks it comes after."""

import sqlite3
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard import Callboard, Phase, State, Workflow, agent
from callboard.engine.checkpoints import SinceCheckpoint
from callboard.events import names
from callboard.log.sqlite.log import SqliteLog

DEPTH = 200


class Draft(State):
    text: str = ""


def begin(state: Draft, text: str) -> None:
    state.text = text


@agent
async def write(state: Draft) -> str:
    return state.text + "."


def keep(state: Draft, output: str) -> None:
    state.text = output


DRAFT = Workflow(
    "draft", state=Draft, start=begin, phases=[Phase(agent=write, update=keep, terminal=True)]
)


class Meter:
    """What a database was asked: how many statements, and how many steps those took."""

    def __init__(self, *databases: sqlite3.Connection) -> None:
        self.statements = self.steps = 0
        for database in databases:
            database.set_trace_callback(self._statement)
            database.set_progress_handler(self._step, 10)

    def _statement(self, sql: str) -> None:
        self.statements += 1

    def _step(self) -> None:
        self.steps += 1

    def read(self) -> tuple[int, int]:
        """What it was since the last time."""
        found, self.statements, self.steps = (self.statements, self.steps), 0, 0
        return found


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Callboard]:
    board = Callboard.open(tmp_path / "x.db", [DRAFT])
    yield board
    assert isinstance(board.log, SqliteLog)
    board.log.crash()


def meter(board: Callboard) -> Meter:
    assert isinstance(board.log, SqliteLog)
    return Meter(board.log._reading, board.log._database)


async def chain(board: Callboard, depth: int, **how: Any) -> tuple[str, list[tuple[int, int]]]:
    """Fork forks of forks; the youngest, and what each cost."""
    session = (await board.run(DRAFT, "Dear Ann")).session_id
    measuring, costs = meter(board), list[tuple[int, int]]()
    for _ in range(depth):
        session = (await board.fork(session, **how)).session_id
        costs.append(measuring.read())
    return session, costs


def assert_flat(costs: list[tuple[int, int]], period: int = 40) -> None:
    """Most of the last forks cost no more than the dearest of the first ones.

    Not all of them: now and then a handle also looks for what others have written.
    """
    for kind in zip(*costs, strict=True):
        assert statistics.median(kind[-period:]) <= max(kind[:period])


async def test_a_fork_at_the_end_is_flat(board: Callboard):
    youngest, costs = await chain(board, DEPTH, run=False)
    assert_flat(costs)
    assert (await board.state(youngest)).text == "Dear Ann."
    told = Counter(event.name for event in await board.events(youngest))
    assert told[names.FORKED] == DEPTH
    assert told[names.CHECKPOINT] <= DEPTH / 8


async def test_a_fork_of_a_phase_that_is_run_again_is_flat(board: Callboard):
    _, costs = await chain(board, 80, phase="write")
    assert_flat(costs)


async def test_what_is_read_at_the_end_of_a_chain_is_flat(board: Callboard, tmp_path: Path):
    """From a process that has read nothing before."""
    measured: list[tuple[int, int]] = []
    for depth in (20, DEPTH - 20):
        youngest, _ = await chain(board, depth, run=False)
        other = Callboard.open(tmp_path / "x.db", [DRAFT])
        measuring = meter(other)
        head = await other.log.head(youngest)
        assert (await other.state(youngest)).text == "Dear Ann."
        assert len(await other.log.read(youngest, head - 3)) == 3
        await other.fork(youngest, run=False)
        measured.append(measuring.read())
        await other.close()
    shallow, deep = measured
    assert deep[0] <= shallow[0] * 1.5
    assert deep[1] <= shallow[1] * 1.5


async def test_a_chain_that_was_made_without_checkpoints_becomes_flat(
    board: Callboard, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(SinceCheckpoint, "is_due", lambda *_: False)
    youngest, _ = await chain(board, 100, run=False)
    monkeypatch.undo()
    measuring, costs = meter(board), list[tuple[int, int]]()
    for _ in range(20):
        youngest = (await board.fork(youngest, run=False)).session_id
        costs.append(measuring.read())
    assert max(costs[1:]) < costs[0]
    assert (await board.state(youngest)).text == "Dear Ann."


async def test_a_chain_at_the_first_event_keeps_what_start_did(board: Callboard):
    """Although every parent is deleted."""
    session = (await board.run(DRAFT, "Dear Ann")).session_id
    for _ in range(3):
        child = (await board.fork(session, position=1, run=False)).session_id
        await board.delete(session)
        session = child
    assert (await board.state(session)).text == "Dear Ann"
    edit = [{"op": "replace", "path": "/text", "value": "Dear Bob"}]
    edited = await board.fork(session, position=1, run=False, edits=edit)
    assert (await board.state(edited.session_id)).text == "Dear Bob"
    again = await board.fork(edited.session_id, position=1, run=False)
    assert (await board.state(again.session_id)).text == "Dear Ann"


async def test_a_fork_with_a_checkpoint_can_be_told_to_go_on_once(board: Callboard):
    youngest, _ = await chain(board, 16, run=False)
    while [e.name for e in await board.events(youngest)][-1] != names.CHECKPOINT:
        youngest = (await board.fork(youngest, run=False)).session_id
    assert await board.resume(youngest)
    assert not await board.resume(youngest)
