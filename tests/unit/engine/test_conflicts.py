"""Somebody appends while a session is driven: what was built is built again on what they wrote."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from callboard import Callboard, Context, Phase, State, Workflow, agent
from callboard.drivers.local import Manner
from callboard.engine import live as live_module
from callboard.engine.live import LiveSession
from callboard.engine.scene import Scene
from callboard.engine.tasks import ask
from callboard.interactions.questions import Rendered
from callboard.log.memory import MemoryLog
from callboard.state.rows import project

ITEMS = 60


class Votes(State):
    yes: int = 0


@agent
async def poll(state: Votes, ctx: Context) -> bool:
    return await ctx.ask(f"Is {ctx.item} fine?")


def count(state: Votes, output: bool) -> None:
    state.yes += output


POLL = Workflow(
    "poll",
    state=Votes,
    phases=[
        Phase(agent=poll, for_each=lambda s: range(ITEMS), parallel=8, update=count, terminal=True)
    ],
)


async def test_a_flood_of_answers_is_heard_without_folding_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    board, loads = Callboard.open(tmp_path / "x.db", [POLL]), 0
    whole = live_module.load

    async def counted(*given: Any, **more: Any) -> Any:
        nonlocal loads
        loads += 1
        return await whole(*given, **more)

    monkeypatch.setattr(live_module, "load", counted)
    session = await board.start("poll")
    driving = asyncio.create_task(board.driver.drive(session, Manner(linger=30)))
    asked = asyncio.Event()
    undo = board.log.on_change(session, lambda head: asked.set())
    while len(questions := await board.inbox(session)) < ITEMS:
        asked.clear()
        await asked.wait()
    undo()
    await asyncio.gather(*(board.answer(question.id, "yes") for question in questions))
    view = await driving
    assert (view.status, view.state["yes"]) == ("completed", ITEMS)
    assert loads == 1
    await board.close()


class Slow(MemoryLog):
    """A log to which somebody appends between two reads."""

    between: Any = None

    async def read(self, stream: str, *given: Any, **more: Any) -> Any:
        """Read; before the second time, somebody appends."""
        found = await super().read(stream, *given, **more)
        if self.between is not None:
            between, self.between = self.between, None
            await between()
        return found


async def test_who_waits_for_an_answer_hears_of_it_when_it_is_in_the_view():
    log = Slow(project)
    board = Callboard(log, [POLL])
    session = await board.start("poll")
    live = LiveSession(log, POLL, session, board.clock)
    await live.take_up()
    found: list[str] = []

    def put(scene: Scene) -> None:
        found.append(ask(scene.batch, Rendered("approval", "Fine?"), {}))

    await live.commit(put)

    async def decided() -> bool | None:
        return (await live.answer_to(found[0])).approved

    waiting = asyncio.create_task(decided())
    await asyncio.sleep(0)

    async def answer() -> None:
        await board.answer(found[0], "yes")

    def broken(scene: Scene) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await live.commit(broken)
    log.between = answer
    await live.commit(lambda scene: None)  # It is loaded anew, and then the answer comes.
    await asyncio.sleep(0)
    await live.catch_up()
    assert await waiting is True
