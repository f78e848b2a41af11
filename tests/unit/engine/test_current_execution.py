"""The current execution: what an agent asks belongs to its own session, without saying so."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.engine.rig import Notes, note

from callboard import Callboard, Context, HumanInteractive, Phase, Workflow, agent
from callboard.engine.current_execution import current, worktree
from callboard.errors import NoExecution
from callboard.events import names
from callboard.events.envelope import NewEvent
from callboard.log.memory import MemoryLog
from callboard.log.protocol import ANYHOW, Appended, Writing
from callboard.state.rows import project
from callboard.testing.faults import FaultyLog


def workflow(function: Any) -> Workflow:
    phase = Phase("p", agent=agent(name="asker")(function), update=note, terminal=True)
    return Workflow("w", state=Notes, phases=[phase])


async def test_an_agent_s_questions_are_its_session_s():
    async with Callboard.open() as board:

        async def ask(state: Notes, ctx: Context) -> list[str]:
            id = await board.human.request_interactive("Review")
            pending = await board.human.list_pending()
            assert [one.id for one in pending] == [id]
            return [str(one.session_id) for one in pending]

        result = await board.run(workflow(ask))
        assert result.status == "waiting"
        assert (await board.view(result.session_id)).state["seen"] == [[result.session_id]]
        assert current() is None
        assert await board.human.list_pending() == []


async def test_many_at_once_see_their_own():
    together = asyncio.Barrier(3)
    async with Callboard.open() as board:

        async def ask(state: Notes, ctx: Context) -> bool:
            interactive = HumanInteractive[Any](board)
            interactive.request("Review", block_orchestration=False)
            await together.wait()
            running = current()
            return running is not None and running.session_id == ctx.session_id

        flow = workflow(ask)
        ids = [f"s{number}" for number in range(3)]
        results = await asyncio.gather(*(board.run(flow, session_id=id) for id in ids))
        assert [result.state.seen for result in results] == [[True]] * 3
        assert sorted(str(one.session_id) for one in await board.people.find()) == ids


class SlowToAsk(FaultyLog):
    """Takes its time with questions."""

    def __init__(self) -> None:
        super().__init__(MemoryLog(project))
        self.free = asyncio.Event()

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        if any(event.name == names.REQUESTED for event in events):
            await self.free.wait()
        return await super().append(stream, events, writing)


async def test_what_an_agent_asks_for_is_recorded_before_its_session_can_complete():
    """Fire and forget: the agent has gone on before there is a record, and the task still holds."""
    log = SlowToAsk()
    board = Callboard(log)
    asked: list[HumanInteractive[Any]] = []

    async def ask(state: Notes, ctx: Context) -> str:
        asked.append(HumanInteractive[Any](board))
        asked[0].request("Review")
        return "gone on"

    async def run() -> Any:
        return await board.run(workflow(ask))

    running = asyncio.create_task(run())
    for _ in range(100):
        await asyncio.sleep(0)
    assert not running.done()
    log.free.set()
    result = await running
    assert (result.status, result.state.seen) == ("waiting", ["gone on"])
    await asked[0].cancel()
    assert (await board.drive(result.session_id)).status == "completed"


async def test_one_that_cannot_be_asked_holds_nobody_up():
    async with Callboard.open() as board:

        async def ask(state: Notes, ctx: Context) -> str:
            HumanInteractive[Any](board, session_id="nowhere").request("Review")
            return "gone on"

        assert (await board.run(workflow(ask))).status == "completed"


async def test_plain_functions_in_threads_see_it_too():
    async with Callboard.open() as board:

        def ask(state: Notes, ctx: Context) -> bool:
            running = current()
            return running is not None and running.session_id == ctx.session_id

        assert (await board.run(workflow(ask))).state.seen == [True]


async def test_a_worktree_is_inherited_unless_another_is_given(tmp_path: Path):
    async with Callboard.open() as board:

        async def ask(state: Notes, ctx: Context) -> None:
            with ctx.worktree(tmp_path) as folder:
                assert folder == tmp_path
                await board.human.request_interactive("inherits")
                await board.human.request_interactive("overrides", cwd="/elsewhere")
                HumanInteractive[Any](board).request("later")
                with worktree(tmp_path / "inner"):
                    await board.human.request_interactive("inner")
            await board.human.request_interactive("outside")

        session = (await board.run(workflow(ask))).session_id
        found = {one.prompt: one.config["cwd"] for one in await board.inbox(session)}
        assert found == {
            "inherits": str(tmp_path),
            "overrides": "/elsewhere",
            "later": str(tmp_path),
            "inner": str(tmp_path / "inner"),
            "outside": str(Path.cwd()),
        }


def test_outside_an_agent_there_is_no_worktree(tmp_path: Path):
    with pytest.raises(NoExecution), worktree(tmp_path):
        pass


async def test_a_folder_that_is_gone_is_left_to_who_holds_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    async with Callboard.open() as board:
        id = await board.human.request_interactive("Review", standalone=True)
        assert (await board.human.get(id)).config == {"blockOrchestration": True}
