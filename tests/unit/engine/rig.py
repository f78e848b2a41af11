"""Processes that share one memory and one clock, for tests of what happens between them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from callboard import Callboard, Context, Phase, State, Workflow, agent
from callboard.drivers.local import Manner
from callboard.engine.operations import begin
from callboard.engine.runner import LINGER
from callboard.events.envelope import Event
from callboard.interactions.records import Interaction
from callboard.log.memory import MemoryLog, SharedMemory
from callboard.state.rows import project
from callboard.state.session import SessionView
from callboard.testing.fake_clock import FakeClock
from callboard.testing.faults import FaultyLog

Driving = asyncio.Task[SessionView]


class Notes(State):
    seen: list[Any] = []


def note(state: Notes, output: Any) -> None:
    state.seen.append(output)


class Rig:
    """Processes that share one memory and one clock; the first drives, the second is outside."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.memory = SharedMemory()
        self.calls: list[int] = []
        self.outside = self.process()

    def process(self, *workflows: Workflow) -> Callboard:
        self.log = FaultyLog(MemoryLog(project, self.clock, self.memory))
        return Callboard(self.log, workflows, self.clock)

    def flow(self, function: Callable[..., Any], **phase: Any) -> Workflow:
        """One agent, which notes its attempts."""

        @agent(name="asker")
        async def work(state: Notes, ctx: Context) -> Any:
            self.calls.append(ctx.attempt)
            return await function(ctx)

        return Workflow(
            "w", state=Notes, phases=[Phase("p", agent=work, update=note, terminal=True, **phase)]
        )

    async def start(self, workflow: Workflow, manner: Manner | None = None) -> Driving:
        """Begin a session in a process where nobody answers, but agents may wait."""
        driver = self.process(workflow).driver
        begun = driver.begin(workflow, "s", begin(workflow, None), manner or Manner(linger=LINGER))
        return await self._task(begun)

    async def drive(self, board: Callboard, manner: Manner | None = None) -> Driving:
        """Drive the session on in a process."""
        return await self._task(board.driver.drive("s", manner or Manner(linger=LINGER)))

    async def _task(self, driving: Coroutine[Any, Any, SessionView]) -> Driving:
        task = asyncio.create_task(driving)
        await self.clock.advance(0)
        return task

    async def inbox(self) -> dict[str, Interaction]:
        return {one.prompt: one for one in await self.outside.inbox("s")}

    async def answer(self, prompt: str, value: Any = "yes") -> None:
        await self.outside.answer((await self.inbox())[prompt].id, value)
        await self.clock.advance(0)

    async def events(self, name: str = "") -> list[Event]:
        return [event for event in await self.outside.log.read("s") if name in event.name]
