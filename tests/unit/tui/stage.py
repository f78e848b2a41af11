"""The board on a stage: key presses in, and the screen as text out."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.unit.tui.scripted import ScriptedSource
from textual.pilot import Pilot

from callboard.testing.fake_clock import FakeClock
from callboard.tui.app import BoardApp

SNAPSHOTS = Path(__file__).parent / "snapshots"
WITHIN = 90


@dataclass
class Stage:
    app: BoardApp
    pilot: Pilot[None]
    clock: FakeClock

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.rest()

    async def type(self, text: str) -> None:
        await self.press(*("space" if char == " " else char for char in text))

    async def until(self, claim: Callable[[], object]) -> None:
        """Let time pass on both clocks until something is so."""
        async with asyncio.timeout(WITHIN):
            while not claim():
                self.clock.skip(0.1)
                await self.pilot.pause(0.01)
        await self.rest()

    async def rest(self) -> None:
        """Until the screen has stopped changing.

        Textual's own pause takes a process that gets no processor time for an idle one.
        """
        shown, calm = self.text, 0
        async with asyncio.timeout(WITHIN):
            while calm < 3:
                await self.pilot.pause(0.01)
                before, shown = shown, self.text
                calm = calm + 1 if shown == before else 0

    async def settle(self) -> None:
        """Until the board has looked at everything it was told of."""
        await self.until(lambda: not self.app.mirror.is_behind)

    @property
    def lines(self) -> list[str]:
        """What stands on the screen, dialogs on top."""
        strips = self.app.screen._compositor.render_strips()
        return [strip.text.rstrip() for strip in strips]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def matches(self, name: str) -> None:
        """Compare with what is kept; CALLBOARD_SNAPSHOTS=write keeps what is shown now."""
        kept = SNAPSHOTS / f"{name}.txt"
        shown = self.text + "\n"
        if os.environ.get("CALLBOARD_SNAPSHOTS") == "write":
            kept.write_text(shown, encoding="utf-8")
        assert shown == kept.read_text(encoding="utf-8")


@asynccontextmanager
async def staged(
    source: ScriptedSource, folder: Path, size: tuple[int, int] = (80, 24)
) -> AsyncGenerator[Stage]:
    """The board in a terminal of this size, when it has looked for the first time."""
    clock = FakeClock()
    app = BoardApp(source, clock, folder / "board.json", "http://127.0.0.1:2255")
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = Stage(app, pilot, clock)
        if source.away is None:
            await stage.until(lambda: app.mirror.loaded)
            await stage.settle()
        yield stage
