"""Decides when to write a checkpoint, a session's whole view, so that folding can start there."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from callboard.engine.batch import Batch
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event, Json
from callboard.state.control import control

# A smaller state is not worth a checkpoint: folding is faster.
_SMALLEST = 16_384

# Fewer events than this are folded as fast as a checkpoint is read.
_MANY = 64

# Bytes that take milliseconds to write.
_LARGE = 262_144

# What a fork counts in addition to its payload: its events are in a separate stream that has to be
# found and read. This keeps long chains of forks from getting slower with each fork.
_FORK = 1024


@dataclass(slots=True)
class SinceCheckpoint:
    """Sizes in bytes that decide on the next checkpoint: of the last one, and of the events since.

    Narration does not count, because no fold reads it.
    """

    checkpoint: int = 0
    size: int = 0
    events: int = 0
    _enough: int = 0

    def is_due(self, state: Json) -> bool:
        """Whether folding the events since takes longer than reading a new checkpoint would."""
        # Twice, so that all large checkpoints together are at most 1.5 times the last one.
        least = 2 * self.checkpoint if self.checkpoint > _SMALLEST else _SMALLEST
        if self.size <= least or self.events >= _MANY:
            return self.size > least
        # A checkpoint is as large as the state. Reading a few events takes no longer, unless most
        # of their content has been replaced since.
        if self.size > self._enough:
            self.weighed(len(dump_json(state)))
        return self.size > self._enough

    def weighed(self, state: int) -> None:
        """Note the size of the state in bytes."""
        self._enough = 2 * state

    def start_over(self, checkpoint: int) -> None:
        """Note that a checkpoint of this size was written."""
        self.checkpoint, self.size, self.events, self._enough = checkpoint, 0, 0, 0

    def add(self, size: int, events: int) -> None:
        """Count events that were written, by their total size."""
        self.size += size
        self.events += events

    async def count(self, events: Iterable[Event]) -> None:
        """Count events that were read."""
        for event in events:
            if event.name in names.NARRATION:
                continue
            size = len(dump_json(event.payload))
            if size > _LARGE:
                await asyncio.sleep(0)  # That took a while; let other tasks run.
            if event.name == names.CHECKPOINT:
                self.start_over(size)
            else:
                self.add(size + (_FORK if event.name == names.FORKED else 0), 1)


def write(batch: Batch) -> None:
    """Add the current view."""
    view = batch.view
    batch.add(
        names.CHECKPOINT({"state": view.state, "phase": view.last_phase, "control": control(view)})
    )
