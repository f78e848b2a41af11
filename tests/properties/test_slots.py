"""However agents come, go and die: never too many at once, and no one waits for ever."""

import asyncio
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.postgres import PostgresServer

from callboard.log.memory import MemoryLog, SharedMemory
from callboard.log.postgres.log import PostgresLog
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.faults import Mortal

PATIENCE = 90.0

Open = Callable[[], Mortal]


class Step(NamedTuple):
    """One thing that happens: to a process, or to one of the agents that are there."""

    what: Literal["take", "free", "give up", "die", "set", "unset"]
    which: int


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["take", "take", "take", "free", "free", "give up", "die", "set", "unset"]),
        st.integers(0, 5),
    ),
    max_size=30,
)


class Wish(NamedTuple):
    """An agent that has a slot, or wants one."""

    label: str
    process: int
    task: asyncio.Task[str]


class Machine:
    """Three processes that share a log, and a model of what the log has to do."""

    def __init__(self, open_log: Open) -> None:
        self._open = open_log
        self._logs = [open_log() for _ in range(3)]
        self._number: int | None = None
        self._having: list[Wish] = []
        self._waiting: list[Wish] = []
        self._count = 0

    async def do(self, step: Step) -> None:
        """Do it, and see that the log does what the model does."""
        match step.what:
            case "take":
                self._take(step.which % 3)
            case "free" if self._having:
                wish = self._having.pop(step.which % len(self._having))
                self._logs[wish.process].slots.free(await wish.task)
            case "give up" if self._waiting:
                self._waiting.pop(step.which % len(self._waiting)).task.cancel()
            case "die":
                await self._die(step.which % 3)
            case "set" | "unset":
                self._number = step.which if step.what == "set" else None
                await self._logs[0].slots.set("llm", self._number)
            case _:
                return
        room = None if self._number is None else max(self._number - len(self._having), 0)
        granted = len(self._waiting) if room is None else room
        self._having += self._waiting[:granted]
        self._waiting = self._waiting[granted:]
        await self._agree()

    def _take(self, process: int) -> None:
        self._count += 1
        label = f"agent{self._count}"
        take = self._logs[process].slots.take("llm", label, "run")
        self._waiting.append(Wish(label, process, asyncio.create_task(take)))

    async def _die(self, process: int) -> None:
        for wish in (*self._having, *self._waiting):
            if wish.process == process:
                wish.task.cancel()
        self._logs[process].crash()
        self._logs[process] = self._open()
        # Those who wait look at once, instead of half a second later.
        await self._logs[process].slots.set("llm", self._number)
        self._having = [one for one in self._having if one.process != process]
        self._waiting = [one for one in self._waiting if one.process != process]

    async def _agree(self) -> None:
        """Wait until the log has done what it has to; then it must have done nothing else."""
        expected = [one.label for one in self._having], [one.label for one in self._waiting]
        async with asyncio.timeout(PATIENCE):
            while await self._queue() != (sorted(expected[0]), expected[1]):
                await asyncio.sleep(0.001)
            for wish in self._having:
                await asyncio.shield(wish.task)
        assert not any(wish.task.done() for wish in self._waiting)

    async def _queue(self) -> tuple[list[str], list[str]]:
        slots = [slot for limit in await self._logs[0].slots.list() for slot in limit.slots]
        having = sorted(slot.session_id for slot in slots if not slot.waiting)
        return having, [slot.session_id for slot in slots if slot.waiting]

    async def close(self) -> None:
        for wish in (*self._having, *self._waiting):
            wish.task.cancel()
        for log in self._logs:
            await log.close()


async def play(open_log: Open, wanted: Sequence[Step]) -> None:
    machine = Machine(open_log)
    try:
        for step in wanted:
            await machine.do(step)
    finally:
        await machine.close()


@given(steps)
def test_in_memory(wanted: list[Step]):
    memory = SharedMemory()
    asyncio.run(play(lambda: MemoryLog(memory=memory), wanted))


@settings(max_examples=10)
@given(steps)
def test_in_sqlite(wanted: list[Step]):
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(lambda: SqliteLog.open(Path(folder) / "log.db"), wanted))


@settings(max_examples=4)
@given(steps.map(lambda some: [step for step in some if step.what != "die"]))
def test_in_postgres(postgres: PostgresServer, wanted: list[Step]):
    url = postgres.emptied()
    asyncio.run(play(lambda: PostgresLog.open(url), wanted))


@pytest.mark.long
@pytest.mark.timeout(1200)
@settings(max_examples=20)
@given(steps)
def test_in_postgres_with_deaths(postgres: PostgresServer, wanted: list[Step]):
    url = postgres.emptied()
    asyncio.run(play(lambda: PostgresLog.open(url), wanted))


class Storm:
    """Processes whose agents all want a slot at once; some die with everything they have."""

    def __init__(self, logs: Sequence[Mortal], number: int, seed: int) -> None:
        self._logs = logs
        self._number = number
        self._dice = random.Random(seed)
        self._at_work: dict[int, int] = dict.fromkeys(range(len(logs)), 0)
        self.most = 0
        self.done = 0

    async def run(self, agents: int) -> None:
        await self._logs[0].slots.set("llm", self._number)
        processes = [
            asyncio.gather(
                *(self._agent(process, agent) for agent in range(agents)), return_exceptions=True
            )
            for process in range(len(self._logs))
        ]
        async with asyncio.timeout(PATIENCE):
            while self.done < agents // 2:
                await asyncio.sleep(0.001)
            self._at_work[len(self._logs) - 1] = 0
            self._logs[-1].crash()
            processes.pop().cancel()
            await asyncio.gather(*processes)

    async def _agent(self, process: int, agent: int) -> None:
        log = self._logs[process]
        slot = await log.slots.take("llm", f"{process}-{agent}", "run")
        self._at_work[process] += 1
        self.most = max(self.most, sum(self._at_work.values()))
        await asyncio.sleep(self._dice.random() / 200)
        self._at_work[process] -= 1
        self.done += 1
        log.slots.free(slot)


async def weather(logs: list[Mortal], seed: int) -> None:
    storm = Storm(logs, 3, seed)
    try:
        await storm.run(12)
    finally:
        for log in logs:
            await log.close()
    assert storm.most <= 3
    assert storm.done >= 12 * (len(logs) - 1)


@pytest.mark.parametrize("seed", range(3))
async def test_a_storm_in_memory(seed: int):
    memory = SharedMemory()
    await weather([MemoryLog(memory=memory) for _ in range(4)], seed)


async def test_a_storm_in_sqlite(tmp_path: Path):
    await weather([SqliteLog.open(tmp_path / "log.db") for _ in range(4)], 1)


async def test_a_storm_in_postgres(postgres_url: str):
    await weather([PostgresLog.open(postgres_url) for _ in range(4)], 1)
