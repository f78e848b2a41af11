"""Waiting for what another program does: by looking again and again, up to a deadline."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE = 90.0
_LOOK_AGAIN = 0.03

T = TypeVar("T")


async def until(look: Callable[[], T], what: str, within: float = PATIENCE) -> T:
    """The first true thing that `look` finds; `what` says what was missing when none came."""

    async def looking() -> T:
        return look()

    return await until_told(looking, lambda: what, within)


async def until_told(
    ask: Callable[[], Awaitable[T | None]], what: Callable[[], str], within: float = PATIENCE
) -> T:
    """The same for whoever has to be asked."""
    deadline = time.monotonic() + within
    while True:
        if seen := await ask():
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"after {within:.0f} s still not so: {what()}")
        await asyncio.sleep(_LOOK_AGAIN)
