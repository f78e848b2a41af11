"""A workflow completes exactly when its work is done and all its tasks are closed, in any order."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.faults.laws import check_laws

from callboard import Approval, Callboard, Interactive, Phase, State, Workflow
from callboard.errors import ConflictError
from callboard.events.rows import KEYS, Query
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.state.rows import project
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import Crashed, FaultyLog

pytestmark = pytest.mark.timeout(300)

OUTCOMES = ["completed", "cancelled", "timeout", "failed", "taken back"]
SESSION = "s"

flow = Workflow(
    "flow",
    state=State,
    phases=[
        Phase("first", human=Approval("First?"), next="second"),
        Phase("second", human=Interactive("Second?"), next="third"),
        Phase("third", human=Approval("Third?"), terminal=True),
    ],
)

opened = st.tuples(st.just("open"), st.booleans(), st.booleans())
closed = st.tuples(st.just("close"), st.integers(0, 5), st.sampled_from(OUTCOMES))
moves = st.one_of(
    opened,
    closed,
    st.tuples(st.just("answer")),
    st.tuples(st.just("drive")),
    st.tuples(st.just("pause")),
    st.tuples(st.just("crash"), st.integers(1, 3), st.booleans()),
)


@dataclass
class Play:
    """One session, and what the test knows of it by its own count."""

    clock: FakeClock = field(default_factory=FakeClock)
    memory: SharedMemory = field(default_factory=SharedMemory)
    asides: dict[str, tuple[bool, bool]] = field(default_factory=dict[str, tuple[bool, bool]])
    """What was asked aside and is open: whether it blocks, and whether it halts."""
    answered: int = 0
    visits: dict[str, int] = field(default_factory=dict[str, int])

    def process(self, log: FaultyLog | None = None) -> Callboard:
        return Callboard(log or MemoryLog(project, self.clock, self.memory), [flow], self.clock)

    async def run(self, ahead: list[tuple[Any, ...]]) -> None:
        self.board = self.process()
        await self.board.run(flow, session_id=SESSION)
        self.visits = {"first": 1}
        for what, *how in ahead:
            if (await self.board.session(SESSION)).status == "completed":
                break
            await getattr(self, what)(*how)
            await self.check()
        while self.asides or self.answered < 3:
            await (self.close(0, "completed") if self.asides else self.answer())
            await self.check()
        assert (await self.board.session(SESSION)).status == "completed"
        check_laws(await self.board.events(SESSION))
        before = {table: await self.board.log.rows(Query(table)) for table in KEYS}
        await self.board.rebuild()
        assert {table: await self.board.log.rows(Query(table)) for table in KEYS} == before

    async def check(self) -> None:
        """After a drive, the session is completed if nothing is open, and only then."""
        info = await self.board.session(SESSION)
        if info.status == "paused":
            await self.board.resume(SESSION)
        info = await self.board.drive(SESSION)
        # What halts holds the routing back too; what does not block is left open at the end.
        halted = any(halts for _, halts in self.asides.values())
        blocked = any(blocks for blocks, _ in self.asides.values())
        done = self.answered == 3 and not halted and not blocked
        assert (info.status == "completed") == done
        if done:
            for id in self.asides:
                assert (await self.board.interaction(id)).status == "pending"
                await self._end(id, "completed")
            self.asides.clear()
        rows = await self.board.log.rows(Query("tasks", {"status": "running"}))
        view = await self.board.view(SESSION)
        assert not halted or view.visits == self.visits, "it went on while it was halted"
        self.visits = view.visits
        assert {row["id"] for row in rows} == set(view.tasks)
        aside = {id for id, (blocks, _) in self.asides.items() if blocks}
        own = {one.id for one in info.pending if one.phase and one.type != "approval"}
        assert set(view.tasks) == aside | own

    async def open(self, blocks: bool, halts: bool) -> None:
        asked = await self.board.people.ask(
            type="interactive_session",
            prompt="Aside?",
            session_id=SESSION,
            config={"blockOrchestration": blocks, "haltExecution": halts},
        )
        self.asides[asked.id] = (blocks, halts)

    async def close(self, number: int, how: str) -> None:
        if not self.asides:
            return
        id = list(self.asides)[number % len(self.asides)]
        await self._end(id, how)
        del self.asides[id]

    async def _end(self, id: str, how: str) -> None:
        if how == "taken back":
            await self.board.people.cancel(id)
        else:
            await self.board.people.complete(id, how)
        for _ in range(2):
            try:
                await self.board.people.complete(id, "completed")
            except ConflictError:
                continue
            raise AssertionError("closed twice")

    async def answer(self) -> None:
        pending = [one for one in await self.board.inbox(SESSION) if one.phase]
        for one in pending:
            if one.type == "approval":
                await self.board.answer(one.id, "yes")
            else:
                await self._end(one.id, OUTCOMES[self.answered % len(OUTCOMES)])
            self.answered += 1

    async def drive(self) -> None:
        await self.board.drive(SESSION)

    async def pause(self) -> None:
        await self.board.pause(SESSION)

    async def crash(self, append: int, before: bool) -> None:
        """Another process drives, and dies at one of its appends."""
        log = FaultyLog(MemoryLog(project, self.clock, self.memory))
        log.crash(**{"before" if before else "after": append})
        with suppress(Crashed):
            await self.process(log).drive(SESSION)


plays = given(st.lists(moves, max_size=12))


@settings(max_examples=40)
@plays
def test_a_workflow_completes_when_the_last_task_is_closed(ahead: list[tuple[Any, ...]]):
    asyncio.run(Play().run(ahead))


@pytest.mark.long
@settings(max_examples=1000)
@plays
def test_a_workflow_completes_in_many_more_plays(ahead: list[tuple[Any, ...]]):
    asyncio.run(Play().run(ahead))
