"""When a session's whole view is written down, so that folding can start there."""

import asyncio
from collections.abc import Sequence

from callboard.engine.batch import Batch
from callboard.events import names
from callboard.events.codec import dump_json
from callboard.events.envelope import Event
from callboard.state.control import control

# A state smaller than this is not worth a checkpoint of its own: folding is quicker.
_SMALLEST = 16_384

# Bytes that take milliseconds to write.
_LARGE = 262_144

# What a fork weighs beside its payload: its events are in a stream of their own, which has to be
# found and read. It keeps a chain of forks from becoming slower with every fork.
_FORK = 1024


def is_due(checkpoint: int, since: int) -> bool:
    """Whether what came since the last checkpoint outweighs it, both in bytes."""
    return since > max(checkpoint, _SMALLEST)


def write(batch: Batch) -> None:
    """Add the view as it is now."""
    view = batch.view
    batch.add(
        names.CHECKPOINT({"state": view.state, "phase": view.last_phase, "control": control(view)})
    )


async def weigh(events: Sequence[Event]) -> tuple[int, int]:
    """The bytes of the last checkpoint among the events, and of what came after it."""
    checkpoint = since = 0
    for event in events:
        size = len(dump_json(event.payload))
        if size > _LARGE:
            await asyncio.sleep(0)  # It took its time: others get their turn.
        if event.name == names.CHECKPOINT:
            checkpoint, since = size, 0
        else:
            since += size + (_FORK if event.name == names.FORKED else 0)
    return checkpoint, since
