"""Keeps sessions that were just driven in memory, so that the next drive does not load them.

An answer usually arrives in the process that asked. Loading a large state again would take most of
the time until the next agent starts.
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

from callboard.engine.batch import LiveState
from callboard.engine.checkpoints import SinceCheckpoint
from callboard.engine.workflow import Workflow
from callboard.events.codec import LARGE, dump_json, values_so_far
from callboard.state.session import SessionView

_MOST = 64
_MOST_MEMORY = 64_000_000

# Measured: a session's text is in memory twice, as JSON and in the user's types, and each value is
# an object in both. Events stored since may be compressed, and consist of short values only.
_PER_BYTE = 2
_PER_VALUE = 200
_PER_STORED_BYTE = 100


@dataclass(frozen=True, slots=True)
class Memory:
    """The estimated memory of a session in bytes, and how much of it was stored at the time."""

    size: int
    stored: int

    def after(self, stored: int) -> int | None:
        """The estimate when more is stored; None if it has to be made again.

        That takes longer the larger the view is, so it is done when the view may have doubled.
        """
        more = (stored - self.stored) * _PER_STORED_BYTE
        return self.size + more if 0 <= more <= self.size else None


@dataclass(frozen=True, slots=True)
class WarmSession:
    """A session as the last drive left it. A drive that continues with it copies what changes."""

    workflow: Workflow
    view: SessionView
    state: LiveState
    last_id: str
    since: SinceCheckpoint
    memory: Memory | None
    """None if there is no estimate yet."""
    root: Path | None = None
    """The folder with its status files, if it has any."""


class WarmSessions:
    """The sessions that were driven last, limited by their number and their memory."""

    def __init__(self, most: int = _MOST, most_memory: int = _MOST_MEMORY) -> None:
        self._most = most
        self._most_memory = most_memory
        self._kept: dict[str, tuple[WarmSession, int]] = {}
        self._memory = 0

    def find(self, session_id: str) -> WarmSession | None:
        """A session, which stays here; None if it is not here."""
        return self._kept.get(session_id, (None,))[0]

    def take(self, session_id: str, workflow: Workflow) -> WarmSession | None:
        """Remove and return a session; None if it is not here, or if its workflow was replaced."""
        found = self._drop(session_id)
        return found if found is not None and found.workflow is workflow else None

    async def keep(self, session: WarmSession) -> None:
        """Keep a session, and drop those that were driven longest ago if there is no room."""
        stored = session.since.checkpoint + session.since.size
        if stored * _PER_BYTE > self._most_memory:
            return  # Too large, whatever the estimate would be.
        size = None if session.memory is None else session.memory.after(stored)
        if size is None:
            data = dump_json(session.view)
            size = await _memory_for(data)
            session = replace(session, memory=Memory(size, stored))
            session.since.weighed(len(data))
        session_id = session.view.session_id
        self._drop(session_id)
        if size > self._most_memory:
            return
        self._kept[session_id] = session, size
        self._memory += size
        while len(self._kept) > self._most or self._memory > self._most_memory:
            self._drop(next(iter(self._kept)))

    def _drop(self, session_id: str) -> WarmSession | None:
        session, size = self._kept.pop(session_id, (None, 0))
        self._memory -= size
        return session


async def _memory_for(view: bytes) -> int:
    """The estimated memory of a session with this view, which is given as JSON."""
    counts = values_so_far(view)
    values = 0
    while (more := next(counts, None)) is not None:
        values = more
        if len(view) > LARGE:
            await asyncio.sleep(0)  # That took a while; let other tasks run.
    return _PER_BYTE * len(view) + _PER_VALUE * values
