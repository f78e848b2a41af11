"""kill -9 of real processes: log and effects agree, nothing acknowledged is lost or repeated."""

import random
import signal
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faults.laws import check_laws
from tests.faults.processes import living

from callboard.events import names
from callboard.events.envelope import Event
from callboard.log.sqlite.log import SqliteLog
from callboard.state.fold import fold
from callboard.state.rows import project

pytestmark = pytest.mark.timeout(300)

SEEN = ["draft#1:charge True", "item 0", "item 2", "b"]
HALTS = 40
"""More than a run has, so that the last tests show that the end was reached."""


@dataclass
class Lives:
    """One database and its processes, each killed in the end but the last."""

    folder: Path
    sessions: int = 1
    kills: int = 0
    told: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])

    @asynccontextmanager
    async def life(self, *options: str) -> AsyncGenerator[Process]:
        files = (self.folder / "log.db", self.folder / "effects")
        sessions = str(self.sessions)
        async with living("killed", *files, sessions, *options, stdin=PIPE) as process:
            yield process

    async def until(self, process: Process, word: str, count: int) -> bool:
        """Read on until so many lines began with a word; False when the process ended first."""
        assert process.stdout is not None
        while count and (line := (await process.stdout.readline()).decode().split()):
            if line[0] == "event":
                self.told.append((line[1], int(line[2]), line[3]))
            if line[0] == "halt" and (word != "halt" or count > 1):
                self._go_on(process)
            count -= line[0] == word
        return not count

    def _go_on(self, process: Process) -> None:
        assert process.stdin is not None
        process.stdin.write(b"\n")

    async def killed(self, word: str, count: int, *options: str) -> bool:
        """Live until the process has said something so often, and be killed right there."""
        async with self.life(*options) as process:
            if not await self.until(process, word, count):
                return False
            process.send_signal(signal.SIGKILL)
            assert await process.wait() == -signal.SIGKILL
        self.kills += 1
        return True

    async def finish(self) -> None:
        """Live to the end."""
        async with self.life() as process:
            assert await self.until(process, "done", 1)
            assert await process.wait() == 0

    async def check(self) -> None:
        """Log and effects tell one story, in which nothing happened twice."""
        log = SqliteLog.open(self.folder / "log.db", project)
        streams = {f"s{n}": await log.read(f"s{n}") for n in range(self.sessions)}
        assert await log.unsettled() == []
        await log.close()
        lines = (self.folder / "effects").read_text().splitlines()
        effects = Counter(line for line in lines if not line.startswith("asked"))
        asked = Counter(line.split()[2] for line in lines if line.startswith("asked"))
        for session, events in streams.items():
            check_laws(events)
            assert events[-1].name == names.COMPLETED
            assert fold(events).state["seen"] == SEEN
            self._check_runs(session, events, effects)
            self._check_questions(events, asked)
        for session, position, id in self.told:
            assert streams[session][position - 1].id == id, "an acknowledged event was lost"

    def _check_runs(self, session: str, events: list[Event], effects: Counter[str]) -> None:
        started = Counter(e.payload["run"] for e in events if e.name == names.AGENT_STARTED)
        for run, attempts in started.items():
            planned = 2 if run == "each#1/1" else 1
            assert planned <= effects[f"ran {session}:{run}"] <= attempts
            assert attempts <= planned + self.kills
        assert 1 <= effects[f"once {session}:draft#1:charge"] <= 1 + self.kills

    def _check_questions(self, events: list[Event], asked: Counter[str]) -> None:
        requested = [one["id"] for one in names.REQUESTED.among(events)]
        assert len(requested) == 4
        assert all(1 <= asked[question] <= 1 + self.kills for question in requested)


async def test_a_process_that_nobody_kills(tmp_path: Path):
    lives = Lives(tmp_path)
    await lives.finish()
    await lives.check()


async def check_killed_at(folder: Path, halt: int) -> None:
    lives = Lives(folder)
    killed = await lives.killed("halt", halt, "--step")
    assert killed or halt > 30, "the process ended before it could be killed"
    await lives.finish()
    await lives.check()


@pytest.mark.parametrize("append", range(0, HALTS // 4, 4))
async def test_kill_before_one_append_and_after_the_next(append: int, tmp_path: Path):
    """The long test kills before and after each."""
    for halt in (4 * append + 1, 4 * append + 4):
        (tmp_path / str(halt)).mkdir()
        await check_killed_at(tmp_path / str(halt), halt)


@pytest.mark.long
@pytest.mark.parametrize("halt", range(1, HALTS + 1))
async def test_kill_before_and_after_every_append(halt: int, tmp_path: Path):
    await check_killed_at(tmp_path, halt)


@pytest.mark.parametrize("last", [9, pytest.param(13, marks=pytest.mark.long)])
async def test_kill_one_session_again_and_again(tmp_path: Path, last: int):
    """Each life is killed at a different place; in the end it has all been done once."""
    lives = Lives(tmp_path)
    for halt in range(3, last):
        if not await lives.killed("halt", halt, "--step"):
            break
    await lives.finish()
    await lives.check()
    assert lives.kills > 3


async def check_random_kills(folder: Path, chance: random.Random, lives: int) -> None:
    many = Lives(folder, sessions=12)
    for _ in range(lives):
        await many.killed("event", chance.randint(1, 150))
    await many.finish()
    await many.check()


async def test_kill_a_process_with_many_sessions_at_random(tmp_path: Path):
    await check_random_kills(tmp_path, random.Random("kill"), lives=4)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(30))
async def test_kill_many_processes_at_random(seed: int, tmp_path: Path):
    await check_random_kills(tmp_path, random.Random(seed), lives=8)
