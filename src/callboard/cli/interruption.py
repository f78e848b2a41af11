"""Ctrl-C and SIGTERM while a session is driven: the first stops it cleanly, the second at once."""

import asyncio
import signal
from concurrent.futures import ThreadPoolExecutor
from types import FrameType, TracebackType
from typing import Any, Self

from callboard.cli.leaving import leave_now

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Cancels a task when the process is asked to end, so that it can put things down."""

    def __init__(self, task: asyncio.Future[Any]) -> None:
        self.happened = False
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        # Not the loop's own handlers: those wait for an agent that blocks the loop.
        self._before = {number: signal.signal(number, self._caught) for number in _SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _caught(self, number: int, frame: FrameType | None) -> None:
        if self.happened:
            leave_now()
        self.stop()

    def stop(self) -> None:
        """Stop the task as a first Ctrl-C does."""
        self.happened = True
        self._loop.call_soon_threadsafe(self._task.cancel)


class Impatient(ThreadPoolExecutor):
    """Threads for plain functions, which the end of a run does not wait for."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let idle threads end; one at work is left to the end of the process."""
        super().shutdown(wait=False, cancel_futures=True)
