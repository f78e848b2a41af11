"""Phases with a limit: their agents wait for a slot, and nothing else does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from callboard import Approval, Callboard, Context, Phase, Retry, State, Workflow, agent
from callboard.drivers.local import Manner
from callboard.drivers.watching import WatchingDriver
from callboard.engine.current_execution import current
from callboard.engine.runner import Drive
from callboard.engine.slots import LEAVING
from callboard.errors import DefinitionError
from callboard.events import names
from callboard.events.limits import AgentLimit
from callboard.state.session import SessionView

PATIENCE = 90.0


class Stage:
    """Agents that run until they are told to finish, and how many ran at once."""

    def __init__(self) -> None:
        self.running: dict[str, asyncio.Event] = {}
        self.order: list[str] = []
        self.most = 0
        self.changed = asyncio.Event()

    async def work(self, name: str) -> str:
        self.running[name] = asyncio.Event()
        self.order.append(name)
        self.most = max(self.most, len(self.running))
        self.changed.set()
        try:
            await self.running[name].wait()
        finally:
            del self.running[name]
            self.changed.set()
        return name

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not is_so():
                self.changed.clear()
                await self.changed.wait()

    async def runs(self, *names: str) -> None:
        await self.until(lambda: set(self.running) == set(names))

    def finish(self, *names: str) -> None:
        for name in names:
            self.running[name].set()


class Notes(State):
    seen: list[Any] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


def limited(stage: Stage, **phase: Any) -> Workflow:
    @agent
    async def work(state: Notes, ctx: Context) -> str:
        return await stage.work(ctx.session_id if ctx.item is None else str(ctx.item))

    given: dict[str, Any] = {"limit": "llm", "terminal": True, **phase}
    return Workflow("w", state=Notes, phases=[Phase("p", agent=work, update=note, **given)])


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture(params=["memory", "sqlite"])
async def open_board(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Callable[..., Callboard]]:
    opened: list[Callboard] = []

    def open_board(*workflows: Workflow) -> Callboard:
        db = None if request.param == "memory" else tmp_path / "log.db"
        opened.append(Callboard.open(db, workflows))
        return opened[-1]

    yield open_board
    for board in opened:
        await board.close()


async def standing(board: Callboard, in_use: int, waiting: int) -> AgentLimit:
    """The limit, once so many have a slot and so many wait."""
    async with asyncio.timeout(PATIENCE):
        while True:
            found = next((one for one in await board.limits.list() if one.name == "llm"), None)
            if found is not None and (found.in_use, found.waiting) == (in_use, waiting):
                return found
            if found is None and (in_use, waiting) == (0, 0):
                return AgentLimit("llm", None, 0, 0, [])
            await asyncio.sleep(0.005)


def driving(board: Callboard, session: str) -> asyncio.Task[SessionView]:
    return asyncio.create_task(board.driver.drive(session, Manner(linger=60)))


async def started(board: Callboard, *sessions: str) -> list[asyncio.Task[SessionView]]:
    """Drive sessions, each of which is in the queue before the next one starts."""
    tasks: list[asyncio.Task[SessionView]] = []
    for number, session in enumerate(sessions, 1):
        await board.start("w", session_id=session)
        tasks.append(driving(board, session))
        async with asyncio.timeout(PATIENCE):
            while sum((one.in_use + one.waiting for one in await board.limits.list()), 0) < number:
                await asyncio.sleep(0.005)
    return tasks


async def named(board: Callboard, session: str) -> list[str]:
    return [event.name for event in await board.events(session)]


async def test_agents_take_turns(open_board: Callable[..., Callboard], stage: Stage):
    board = open_board(limited(stage))
    await board.limits.set("llm", 2)
    tasks = await started(board, "a", "b", "c", "d")
    await stage.runs("a", "b")
    assert names.AGENT_STARTED not in await named(board, "c")
    stage.finish("b")
    await stage.runs("a", "c")
    stage.finish("a", "c")
    await stage.runs("d")
    stage.finish("d")
    assert [view.status for view in await asyncio.gather(*tasks)] == ["completed"] * 4
    assert (stage.order, stage.most) == (["a", "b", "c", "d"], 2)
    await standing(board, 0, 0)


async def test_a_phase_without_a_limit_asks_the_log_for_nothing(
    open_board: Callable[..., Callboard], stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    board = open_board(limited(stage, limit=None))
    monkeypatch.delattr(board.log, "slots")
    await board.start("w", session_id="a")
    task = driving(board, "a")
    await stage.runs("a")
    stage.finish("a")
    assert (await task).status == "completed"


async def test_items_of_one_session_take_turns(open_board: Callable[..., Callboard], stage: Stage):
    board = open_board(limited(stage, for_each=lambda state: list("abcde"), parallel=4))
    await board.limits.set("llm", 2)
    await board.start("w", session_id="s")
    task = driving(board, "s")
    await stage.runs("a", "b")
    await standing(board, 2, 2)
    stage.finish("a")
    await stage.runs("b", "c")
    await standing(board, 2, 2)
    await board.limits.set("llm", 8)
    await stage.runs("b", "c", "d", "e")
    stage.finish("b", "c", "d", "e")
    view = await task
    assert (view.status, view.state["seen"]) == ("completed", list("abcde"))
    await standing(board, 0, 0)


@pytest.mark.parametrize("interrupt", [False, True])
async def test_a_session_that_waits_for_a_slot_can_be_paused_and_resumed(
    open_board: Callable[..., Callboard], stage: Stage, interrupt: bool
):
    board = open_board(limited(stage))
    await board.limits.set("llm", 1)
    first, second = await started(board, "a", "b")
    await board.pause("b", interrupt=interrupt)
    assert (await second).status == "paused"
    await standing(board, 1, 0)
    await board.resume("b")
    second = driving(board, "b")
    await standing(board, 1, 1)
    stage.finish("a")
    await stage.runs("b")
    stage.finish("b")
    assert [(await task).status for task in (first, second)] == ["completed"] * 2


async def test_a_session_that_waits_for_a_slot_can_be_cancelled(
    open_board: Callable[..., Callboard], stage: Stage
):
    board = open_board(limited(stage))
    await board.limits.set("llm", 1)
    first, second, third = await started(board, "a", "b", "c")
    await board.cancel("b")
    assert (await second).status == "cancelled"
    assert names.AGENT_STARTED not in await named(board, "b")
    stage.finish("a")
    await stage.runs("c")
    stage.finish("c")
    assert [(await task).status for task in (first, third)] == ["completed"] * 2


async def test_a_cancelled_drive_gives_everything_back(
    open_board: Callable[..., Callboard], stage: Stage
):
    board = open_board(limited(stage))
    await board.limits.set("llm", 1)
    first, second = await started(board, "a", "b")
    for task in (second, first):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await standing(board, 0, 0)
    assert sorted(await board.log.unsettled()) == ["a", "b"]


async def test_a_retry_that_waits_for_a_slot_does_not_spin(
    open_board: Callable[..., Callboard], stage: Stage, monkeypatch: pytest.MonkeyPatch
):
    @agent
    async def fails_once(state: Notes, ctx: Context) -> str:
        await stage.work(f"attempt {ctx.attempt}")
        if ctx.attempt == 1:
            raise ValueError("again")
        return "done"

    again = Phase("p", agent=fails_once, terminal=True, retry=Retry(2, backoff=0), limit="llm")
    board = open_board(Workflow("w", state=Notes, phases=[again]))
    await board.limits.set("llm", 1)
    [task] = await started(board, "a")
    await stage.runs("attempt 1")
    other = asyncio.create_task(board.log.slots.take("llm", "other", "run"))
    await standing(board, 1, 1)
    stage.finish("attempt 1")
    slot = await other
    await standing(board, 1, 1)
    slept: list[float | None] = []
    seconds_left = Drive._seconds_left

    def noted(drive: Drive) -> float | None:
        slept.append(seconds_left(drive))
        return slept[-1]

    monkeypatch.setattr(Drive, "_seconds_left", noted)
    board.driver.nudge()
    while not slept:
        await asyncio.sleep(0)
    assert set(slept) == {None}
    board.log.slots.free(slot)
    await stage.runs("attempt 2")
    stage.finish("attempt 2")
    assert (await task).status == "completed"


async def test_an_agent_gives_up_its_slot_while_it_waits_for_a_person(
    open_board: Callable[..., Callboard], stage: Stage
):
    @agent
    async def asks(state: Notes, ctx: Context) -> Any:
        if ctx.session_id == "asks":
            await stage.work("before")
            await ctx.ask("Sure?")
        return await stage.work(ctx.session_id)

    phase = Phase("p", agent=asks, terminal=True, limit="llm", timeout=3600)
    board = open_board(Workflow("w", state=Notes, phases=[phase]))
    await board.limits.set("llm", 1)
    first, second = await started(board, "asks", "other")
    await stage.runs("before")
    stage.finish("before")
    await stage.runs("other")
    [asked] = await board.inbox("asks")
    await board.answer(asked.id, "yes")
    await standing(board, 1, 1)
    assert list(stage.running) == ["other"]
    stage.finish("other")
    await stage.runs("asks")
    stage.finish("asks")
    assert [(await task).status for task in (first, second)] == ["completed"] * 2
    assert stage.most == 1


async def test_an_agent_that_waits_for_another_session_lends_it_the_slot(
    open_board: Callable[..., Callboard], stage: Stage
):
    holder: list[Callboard] = []

    @agent
    async def parent(state: Notes, ctx: Context) -> Any:
        running = current()
        assert running is not None
        assert running.slot is not None
        children = [holder[0].run("child", session_id=f"child{number}") for number in range(2)]
        done = await asyncio.gather(*children)
        await stage.work("after")
        return [one.status for one in done]

    @agent
    async def child(state: Notes, ctx: Context) -> str:
        return await stage.work(ctx.session_id)

    flows = [
        Workflow(name, state=Notes, phases=[Phase("p", agent=work, terminal=True, limit="llm")])
        for name, work in (("w", parent), ("child", child))
    ]
    board = open_board(*flows)
    holder.append(board)
    await board.limits.set("llm", 1)
    await board.start("w", session_id="parent")
    task = driving(board, "parent")
    for _ in range(2):
        await stage.until(lambda: len(stage.running) == 1)
        stage.finish(*stage.running)
        await stage.until(lambda: not stage.running)
    await stage.runs("after")
    assert (await standing(board, 1, 0)).slots[0].session_id == "parent"
    stage.finish("after")
    assert (await task).status == "completed"
    assert stage.most == 1


async def test_sessions_that_wait_do_not_hold_up_others(
    open_board: Callable[..., Callboard], stage: Stage
):
    @agent
    async def free(state: Notes, ctx: Context) -> str:
        return "free"

    quick = Workflow("quick", state=Notes, phases=[Phase("p", agent=free, terminal=True)])
    board = open_board(limited(stage), quick)
    await board.limits.set("llm", 0)
    driver = WatchingDriver(board.driver, board.log, board.clock, concurrency=2)
    await driver.start()
    for number in range(5):
        await board.start("w", session_id=f"w{number}")
    await standing(board, 0, 5)
    await board.start("quick", session_id="quick")
    async with asyncio.timeout(PATIENCE):
        async for event in board.tail("quick"):
            if event.name == names.COMPLETED:
                break
        while driver.driving != 5:
            await asyncio.sleep(0.005)
    await driver.stop(0)
    await standing(board, 0, 0)
    assert len(await board.log.unsettled()) == 5


def leaving(board: Callboard, session: str) -> asyncio.Task[SessionView]:
    """Drive a session as a job does."""
    manner = Manner(linger=60, parks=True, slot_wait=LEAVING)
    return asyncio.create_task(board.driver.carry_on(session, manner))


async def test_a_job_ends_while_the_session_keeps_its_place(
    open_board: Callable[..., Callboard], stage: Stage
):
    board = open_board(limited(stage))
    await board.limits.set("llm", 1)
    [first] = await started(board, "a")
    for session in "bc":
        await board.start("w", session_id=session)
        assert (await leaving(board, session)).status == "running"
    assert await board.log.unsettled() == ["a"]
    leases = [await board.log.lease(session) for session in "bc"]
    assert [lease and lease.owner for lease in leases] == [None, None]
    # Nothing happens when it is woken before its turn.
    await leaving(board, "b")
    await standing(board, 1, 2)
    stage.finish("a")
    await first
    await until_due(board, "b")
    second = leaving(board, "b")
    await stage.runs("b")
    stage.finish("b")
    assert (await second).status == "completed"
    await until_due(board, "c")


async def test_a_job_does_not_end_while_other_items_run(
    open_board: Callable[..., Callboard], stage: Stage
):
    board = open_board(limited(stage, for_each=lambda state: list("abc"), parallel=3))
    await board.limits.set("llm", 1)
    await board.start("w", session_id="s")
    job = leaving(board, "s")
    await stage.runs("a")
    await standing(board, 1, 2)
    await board.limits.set("llm", 0)
    stage.finish("a")
    # Now nothing runs, and the others keep their places.
    assert (await job).status == "running"
    await standing(board, 0, 2)
    await board.limits.set("llm", 2)
    await until_due(board, "s")
    job = leaving(board, "s")
    await stage.runs("b", "c")
    stage.finish("b", "c")
    assert (await job).status == "completed"
    await standing(board, 0, 0)


async def test_a_turn_that_a_session_does_not_need_is_given_up(
    open_board: Callable[..., Callboard], stage: Stage
):
    board = open_board(limited(stage, human=Approval("On?")))
    await board.limits.set("llm", 1)
    await board.start("w", session_id="a")
    job = leaving(board, "a")
    await stage.runs("a")
    stage.finish("a")
    assert (await job).status == "waiting"
    await board.limits.set("llm", 0)
    assert await board.log.slots.queue("llm", "a", "gone#1", lambda: True) is None
    await board.limits.set("llm", 1)
    await until_due(board, "a")
    assert (await leaving(board, "a")).status == "waiting"
    await standing(board, 0, 0)


async def until_due(board: Callboard, session: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while await board.log.slots.due() != [session]:
            await asyncio.sleep(0.005)


async def test_questions_of_a_waiting_session_can_be_answered(
    open_board: Callable[..., Callboard], stage: Stage
):
    @agent
    async def work(state: Notes, ctx: Context) -> str:
        return await stage.work(ctx.session_id)

    flow = Workflow(
        "w",
        state=Notes,
        phases=[
            Phase("ask", human=Approval("On?"), next="work"),
            Phase("work", agent=work, terminal=True, limit="llm"),
        ],
    )
    board = open_board(flow)
    await board.limits.set("llm", 0)
    await board.start("w", session_id="a")
    assert (await driving(board, "a")).status == "waiting"
    [asked] = await board.inbox("a")
    await board.answer(asked.id, "yes")
    task = driving(board, "a")
    await standing(board, 0, 1)
    await board.limits.set("llm", 1)
    await stage.runs("a")
    stage.finish("a")
    assert (await task).status == "completed"


@pytest.mark.parametrize("name", ["", " llm", "l\nm", "x" * 65, 7])
def test_a_wrong_name_is_refused(stage: Stage, name: Any):
    with pytest.raises(DefinitionError, match="limit="):
        limited(stage, limit=name)


def test_a_limit_needs_an_agent():
    asks = Phase("p", human=Approval("On?"), limit="llm", terminal=True)
    with pytest.raises(DefinitionError, match="limit needs an agent"):
        Workflow("w", state=Notes, phases=[asks])
