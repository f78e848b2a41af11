"""Ctrl-C and SIGTERM while a session is driven: the first stops it cleanly, the second at once."""

import asyncio
import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, NoReturn, Self

from callboard.cli.exits import INTERRUPTED

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = b"\x1b[?25h"


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


def leave_threads_behind() -> None:
    """End the process if plain functions still run in threads: nothing can stop those."""
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if any(not thread.daemon for thread in others):
        leave_now()


def leave_now() -> NoReturn:
    """End the process here; the database needs nobody to say goodbye to it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, RuntimeError):
            continue
    if sys.stdout.isatty():
        os.write(sys.stdout.fileno(), _SHOW_CURSOR)
    os._exit(INTERRUPTED)
