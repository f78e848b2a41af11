"""Batches what an agent says while it works, to keep it cheap.

Writes at most one delta event per run every 50 ms. Anything else that the run records comes after
what it said before.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from callboard.clock import Clock
from callboard.engine.outputs import plain
from callboard.engine.ports import Item, Text, Thinking, ToolCall, ToolResult
from callboard.errors import CallboardError
from callboard.events import names
from callboard.events.event_name import Entry, EventName
from callboard.events.payloads.agents import Narrated, TextDeltaPayload, ThinkingDeltaPayload

PACE = 0.05

DeltaName = EventName[TextDeltaPayload] | EventName[ThinkingDeltaPayload]

Write = Callable[[Entry], Awaitable[None]]


class Narrator:
    """Batches the deltas of one run."""

    def __init__(self, who: Narrated, write: Write, clock: Clock) -> None:
        self._who = who
        self._write = write
        self._clock = clock
        self._kind: DeltaName | None = None
        self._pieces: list[str] = []
        self._timer: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    async def tell(self, item: Item) -> None:
        """Handle one item of an agent's stream."""
        match item:
            case Text(delta):
                await self._gather(names.TEXT_DELTA, delta)
            case Thinking(delta):
                await self._gather(names.THINKING_DELTA, delta)
            case ToolCall(id, name, given):
                shown = plain(given, f"The input of tool {name!r}")
                await self._now(
                    names.TOOL_CALLED({**self._who, "toolId": id, "toolName": name, "input": shown})
                )
            case ToolResult(id, output, is_error):
                shown = plain(output, f"The result of tool call {id!r}")
                await self._now(
                    names.TOOL_RESULT(
                        {**self._who, "toolId": id, "output": shown, "isError": is_error}
                    )
                )
            case _:
                pass

    async def _now(self, said: Entry) -> None:
        await self.flush()
        await self._write(said)

    async def _gather(self, kind: DeltaName, delta: str) -> None:
        if kind != self._kind:
            await self.flush()
        self._kind = kind
        self._pieces.append(delta)
        if self._timer is None:
            self._timer = asyncio.create_task(self._later())

    async def _later(self) -> None:
        await self._clock.sleep(PACE)
        self._timer = None
        with suppress(CallboardError):  # The next flush raises it again, to its caller.
            await self.flush()

    async def flush(self) -> None:
        """Write what has been batched."""
        if not self._pieces and not self._turn.locked():
            return
        async with self._turn:
            if not self._pieces or self._kind is None:
                return
            kind, said = self._kind, list(self._pieces)
            self._pieces.clear()
            try:
                await self._write(kind({**self._who, "delta": "".join(said)}))
            except CallboardError:
                self._pieces[:0] = said
                raise

    async def close(self) -> None:
        """Write the rest and stop the timer."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        await self.flush()
