"""What the logs in databases share about appending: requests, groups, and the rows of events."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from callboard.events import codec
from callboard.events.envelope import NewEvent, place
from callboard.events.rows import Projection, RowChange
from callboard.log.admission import StreamState
from callboard.log.protocol import Appended, Writing
from callboard.log.records import StoredId, stored_id

T = TypeVar("T")

_LARGE = 262_144
"""Payloads of this many bytes take so long to compress that a thread does it."""

EventRow = tuple[int, int, StoredId, str, int, int, StoredId | None, bytes]
"""Stream, position, id, name, version, time, cause and payload."""


class AppendRequest(NamedTuple):
    """One append with its encoded payloads, and the future that waits for it."""

    stream: str
    events: Sequence[NewEvent]
    payloads: Sequence[bytes]
    writing: Writing
    future: asyncio.Future[Appended]
    is_large: bool = False
    """Whether writing it, with the rows it changes, takes long."""
    incarnation: int = 1
    """The history of the log that the caller has read; 0 if it has read nothing."""


Outcome = Appended | Exception
Committed = tuple[list[Outcome], dict[str, int]]
"""The outcome of each request, and the new lengths of the changed streams."""


@dataclass(slots=True, eq=False)
class KnownStream:
    """A stream as of the current transaction."""

    id: str
    key: int
    base: int | None
    base_position: int
    updated_at: int
    standing: StreamState
    hidden: bool = False


async def encoded(events: Sequence[NewEvent]) -> tuple[list[bytes], bool]:
    """The stored payloads of events, and whether they are large."""
    plain = [codec.plain(event) for event in events]
    is_large = sum(map(len, plain)) > _LARGE
    payloads = await asyncio.to_thread(_packed, plain) if is_large else _packed(plain)
    return payloads, is_large


def _packed(payloads: list[bytes]) -> list[bytes]:
    return [codec.pack(payload) for payload in payloads]


def take_group(
    queue: list[AppendRequest], most_events: int, most_bytes: int | None = None
) -> tuple[list[AppendRequest], list[AppendRequest]]:
    """The next group, at least one request, without cancelled ones; and the rest of the queue."""
    count = events = size = 0
    for request in queue:
        count += 1
        events += len(request.events)
        if most_bytes is not None:
            size += sum(map(len, request.payloads))
        if events >= most_events or (most_bytes is not None and size >= most_bytes):
            break
    return [one for one in queue[:count] if not one.future.cancelled()], queue[count:]


def tell(future: asyncio.Future[T], outcome: T | Exception) -> None:
    """Complete a future, unless its task was cancelled; what was written stays written."""
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def entries(
    request: AppendRequest, known: KnownStream, project: Projection
) -> tuple[list[EventRow], list[RowChange]]:
    """The rows that an append writes. One pass, because this is the hot path."""
    stream, events, payloads, *_ = request
    key, position = known.key, known.standing.head
    rows: list[EventRow] = []
    changes: list[RowChange] = []
    last: str | None = None
    stored: StoredId | None = None
    for new, payload in zip(events, payloads, strict=True):
        position += 1
        id, name, _, at_ms, version, caused_by, _ = new
        changes += project(place(new, stream, position))
        # Usually the cause is the event before.
        cause = stored if caused_by == last else caused_by and stored_id(caused_by)
        last, stored = id, stored_id(id)
        rows.append((key, position, stored, name, version, at_ms, cause, payload))
    return rows, changes


def moves_lease(before: StreamState, after: StreamState) -> bool:
    """Whether more than the stream's length changes."""
    return (
        before.owner != after.owner
        or before.epoch != after.epoch
        or before.settled != after.settled
        or (before.head > before.settled) is not (after.head > after.settled)
    )
