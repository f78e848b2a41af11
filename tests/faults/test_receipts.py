"""However answers, kills and hooks are interleaved, the record says what the agent really did."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.receipt_world import Call, World

from callboard.interactions.records import Interaction

FEW = 120
MANY = int(os.environ.get("CALLBOARD_INTERLEAVINGS", "100000"))
PARTS = 20


def lies(call: Call, found: Interaction, is_killed: bool) -> list[str]:
    """Where a record differs from what happened. Of an agent that was killed, less can be known."""
    response = found.response or {}
    said = response.get("approved")
    mine = call.answer is not None
    checks = {
        "it ran, and a refusal is recorded": not (call.ran and said is False),
        "it did not run, and is recorded as allowed": call.ran or said is not True,
        "an accepted answer has no receipt": not mine or found.receipt is not None,
        "the receipt stays pending": found.receipt != "pending",
        "it stays open": found.status != "pending",
        "delivered is not what was answered": found.receipt != "delivered"
        or response == call.answer,
        "an answer that was not accepted has a receipt": mine or found.receipt is None,
    }
    if not is_killed:
        checks |= {
            "it ran, and is not recorded as allowed": not call.ran or said is True,
            "a refusal is not recorded": call.allowed is not False or said is False,
            "the message of a refusal is another": call.allowed is not False
            or response.get("message") == call.message,
            "an answer that decided is not delivered": call.via != "hook"
            or found.receipt == "delivered",
        }
    return [lie for lie, holds in checks.items() if not holds]


async def play(seed: int, folder: Path, twins: bool = False) -> None:
    world = World(seed, folder)
    await (world.play_twins() if twins else world.play())
    for call in world.calls:
        found = await world.record(call)
        if found is None:
            assert call.answer is None
            continue
        wrong = lies(call, found, world.is_killed)
        assert not wrong, f"seed {seed}: {wrong}\n{call}\n{found}\n{world.told}"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """In memory where there is such a place: the agent's files are written again and again."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as made:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", made)
        yield Path(made)


async def test_the_record_says_what_the_agent_did(folder: Path):
    for seed in range(FEW):
        await play(seed, folder)


async def test_equal_calls_at_once_keep_their_own_outcomes(folder: Path):
    for seed in range(FEW):
        await play(seed, folder, twins=True)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))  # so that every worker has some of them
async def test_the_record_says_what_the_agent_did_in_many_stories(folder: Path, part: int):
    for seed in range(part, MANY, PARTS):
        await play(seed, folder)
