"""The spool is emptied into the plates: in order, each payload once, none lost."""

import asyncio
import os
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from callboard.board.listening import Listener
from callboard.board.spool import Spool, Spooled
from callboard.ids import short_id

_AT_ONCE = 200


class Emptying:
    """One at a time in this process; between processes, the spool sees to it."""

    def __init__(self, spool: Spool, listener: Listener) -> None:
        self._spool = spool
        self._listener = listener
        self._lock = asyncio.Lock()

    async def empty(self) -> None:
        """Hear everything that lies there."""
        async with self._lock:
            while taken := self._spool.take(_AT_ONCE):
                await self._hear(taken)

    async def _hear(self, taken: Iterable[Spooled]) -> None:
        left = list(taken)
        try:
            while left:
                one = left[0]
                await self._listener.overhear(
                    one.agent, one.payload, one.at_ms, one.pid, again=one.again
                )
                one.done()
                left.pop(0)
        finally:
            for one in left:
                one.give_back()

    def counted(self) -> dict[str, Any]:
        """What came in since this server began, for `callboard hooks status`."""
        return asdict(self._listener.received) | {"rejected": self._spool.counted.rejected}

    def close(self) -> None:
        """Leave what was taken and not heard to others."""
        self._spool.close()

    def keep(self, agent: str, body: bytes) -> None:
        """Leave something in the spool that could not be recorded just now."""
        name = self._spool.folder / f"{agent}.0.{os.getpid()}{short_id()}"
        try:
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(file, "wb") as writing:
                writing.write(body)
            name.rename(name.with_name(name.name + ".json"))
        except OSError:
            # The disk is full, or worse: the log of the server has told it already.
            name.unlink(missing_ok=True)
