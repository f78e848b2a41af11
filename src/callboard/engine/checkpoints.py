"""Decides when to write a checkpoint, a session's whole view, so that folding can start there."""

import asyncio
from collections.abc import Sequence

from callboard.engine.batch import Batch
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.state.control import control

# A smaller state is not worth a checkpoint: folding is faster.
_SMALLEST = 16_384

# Payloads of this many bytes take milliseconds to serialize.
_LARGE = 262_144

# What a fork counts in addition to its payload: its events are in a separate stream that has to be
# found and read. This keeps long chains of forks from getting slower with each fork.
_FORK = 1024


def is_due(checkpoint: int, since: int) -> bool:
    """Whether the events since the last checkpoint are larger than it, both in bytes."""
    return since > max(checkpoint, _SMALLEST)


def write(batch: Batch) -> None:
    """Add the current view."""
    view = batch.view
    batch.add(
        names.CHECKPOINT({"state": view.state, "phase": view.last_phase, "control": control(view)})
    )


async def weigh(events: Sequence[Event]) -> tuple[int, int]:
    """The size in bytes of the last checkpoint among the events, and of everything after it."""
    checkpoint = since = 0
    for event in events:
        size = len(dump_json(event.payload))
        if size > _LARGE:
            await asyncio.sleep(0)  # That took a while; let other tasks run.
        if event.name == names.CHECKPOINT:
            checkpoint, since = size, 0
        else:
            since += size + (_FORK if event.name == names.FORKED else 0)
    return checkpoint, since
