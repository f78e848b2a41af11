"""Looks at the budget after commits: of this server, of others, and of workers."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from callboard.clock import Clock
from callboard.errors import CallboardError, StoreError
from callboard.log.protocol import EventLog

_log = logging.getLogger(__name__)

_PAUSE: Final = 2.0
"""Seconds between two looks while something happens."""


class BudgetWatch:
    """Checks the budget when it starts, and soon after each commit; otherwise it sleeps.

    A server that was killed after something was spent and before it asked asks when it starts.
    """

    def __init__(self, log: EventLog, check: Callable[[], Awaitable[None]], clock: Clock) -> None:
        self._log = log
        self._check = check
        self._clock = clock
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._undo: Callable[[], None] = lambda: None
        self._warned = ""

    def start(self) -> None:
        """Start watching."""
        self._undo = self._log.on_change(None, lambda _: self._changed.set())
        self._changed.set()
        self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Stop watching."""
        self._undo()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _watch(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._check()
                self._warned = ""
            except StoreError:
                self._changed.set()
            except CallboardError as error:
                self._warn(error)
            except Exception:
                _log.exception("The budget could not be checked")
            await self._clock.sleep(_PAUSE)

    def _warn(self, error: CallboardError) -> None:
        if error.message != self._warned:
            _log.warning("The budget can't be checked: %s", error.message)
            self._warned = error.message
