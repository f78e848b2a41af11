"""What tests of the engine share: a clock that they move, and boards on one database."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from callboard import Callboard, Workflow
from callboard.testing.fake_clock import FakeClock


class Gate:
    """An agent that tells when it works, and goes on when it is let."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self.stopped = False
        self.calls: list[str] = []


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def workflows() -> list[Workflow]:
    """What the board knows; modules give their own."""
    return []


@pytest.fixture(params=["memory", "sqlite"])
async def board(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock, workflows: list[Workflow]
) -> AsyncIterator[Callboard]:
    db = None if request.param == "memory" else tmp_path / "cb.db"
    async with Callboard.open(db, workflows, clock=clock) as board:
        yield board


@pytest.fixture
async def here(tmp_path: Path, flow: Workflow) -> AsyncIterator[Callboard]:
    async with Callboard.open(tmp_path / "cb.db", workflows=[flow]) as board:
        yield board


@pytest.fixture
async def elsewhere(tmp_path: Path, here: Callboard) -> AsyncIterator[Callboard]:
    """Another handle on the same database, that knows no workflow."""
    async with Callboard.open(tmp_path / "cb.db") as board:
        yield board
