"""The terminal and the board decide at the same moment: the record says what really happened."""

import json
import os
from collections import Counter

import pytest
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.model import Model
from tests.real_clients.races import Ended, Race, Track, drawn

RACES = int(os.environ.get("CALLBOARD_RACES", "100"))
SEED = int(os.environ.get("CALLBOARD_RACES_SEED", "1"))
_A_SITTING = 25
"""Races in one terminal; then the next client starts, and its transcript anew."""

NEAR = [
    Race(0, key="1", approve=False, lead=0.0, runs_long=False),
    Race(1, key="1", approve=False, lead=0.3, runs_long=True),
    Race(2, key="1", approve=False, lead=-0.05, runs_long=False),
    Race(3, key="Escape", approve=True, lead=0.05, runs_long=False),
]


async def test_the_record_says_what_happened_however_answers_cross(
    claude: Claude, model: Model, board: Board
):
    await _all_true(await _raced(NEAR, claude, model, board), board)


@pytest.mark.long
@pytest.mark.timeout(3 * 3600)
async def test_no_record_differs_from_what_ran_in_many_races(
    claude: Claude, model: Model, board: Board
):
    races = drawn(RACES, SEED)
    ended: list[tuple[Ended, str]] = []
    for start in range(0, RACES, _A_SITTING):
        ended += await _raced(races[start : start + _A_SITTING], claude, model, board)
    await _all_true(ended, board)


async def _raced(
    races: list[Race], claude: Claude, model: Model, board: Board
) -> list[tuple[Ended, str]]:
    with claude.terminal() as terminal:
        await terminal.is_ready()
        track = Track(claude, terminal, model, board)
        ended = [await track.run(race) for race in races]
        # Once more: nothing that is learnt later may make it wrong again.
        ids = [one.record["id"] for one in ended]
        return [
            (track.again(one, await board.question(id)), id)
            for one, id in zip(ended, ids, strict=True)
        ]


async def _all_true(ended: list[tuple[Ended, str]], board: Board) -> None:
    receipts = Counter(str(one.record["receipt"]) for one, _ in ended)
    ran = sum(one.ran for one, _ in ended)
    print(f"{len(ended)} races, {ran} ran, receipts {dict(receipts)}")
    wrong = [(one, one.lies) for one, _ in ended if one.lies]
    shown = [json.dumps([lies, str(one.race), one.status, one.record]) for one, lies in wrong]
    assert not wrong, f"{len(wrong)} of {len(ended)}:\n" + "\n".join(shown)
