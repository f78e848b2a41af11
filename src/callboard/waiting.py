"""Wait for whichever of several things happens first, or for one thing to its end."""

import asyncio
from collections.abc import Awaitable, Collection, Coroutine


async def wait_any(*awaited: Awaitable[object], timeout: float | None = None) -> int | None:
    """The index of the first one that is done, the lowest if several are; None after `timeout`.

    A coroutine belongs to this call: it is cancelled if something else is first, and its error is
    raised here. A future or task belongs to the caller and keeps running.
    """
    futures = [asyncio.ensure_future(one) for one in awaited]
    started = [future for future, one in zip(futures, awaited, strict=True) if future is not one]
    try:
        await asyncio.wait(futures, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for future in started:
            if future.done():
                future.result()
        return next((index for index, future in enumerate(futures) if future.done()), None)
    finally:
        for future in started:
            future.cancel()


async def to_the_end(work: Coroutine[object, None, None]) -> None:
    """Finish this work even if cancelled; a second cancellation interrupts it."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
    await task


async def end(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have ended, however they do."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
