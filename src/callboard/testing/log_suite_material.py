"""Material for the log's contract: events, and a projection that the events describe themselves."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Protocol

import pytest

from callboard.errors import CallboardError
from callboard.events.envelope import Event, Json, NewEvent
from callboard.events.json_values import objects
from callboard.events.rows import Cell, Change, Drop, Projection, Put, RowChange
from callboard.ids import event_id
from callboard.log.protocol import Base, EventLog, Writing

AT = 1_769_860_800_123
"""When the suite's events happen, unless they say otherwise."""

PATIENCE = 20.0
"""Seconds to wait before deciding that something will never happen."""


class OpenLog(Protocol):
    """Opens another handle on the store under test."""

    def __call__(self, project: Projection = ...) -> EventLog:
        """Open a handle."""
        ...


class Contract:
    """What every part of the suite needs. See `callboard.testing.log_suite`."""

    @pytest.fixture
    def open_log(self) -> Iterator[OpenLog]:
        """A function that opens handles on one store. Closes them all at the end."""
        raise NotImplementedError("Give an open_log fixture; see LogContract.")

    @pytest.fixture
    def log(self, open_log: OpenLog) -> EventLog:
        """One handle, with views."""
        return open_log(described)

    def kill(self, log: EventLog) -> None:
        """Stop a handle as `kill -9` would stop its process: without releasing its leases."""
        raise NotImplementedError("Give a kill method; see LogContract.")


def happened(name: str = "happened", payload: Mapping[str, Json] | None = None) -> NewEvent:
    """An event of any kind."""
    return NewEvent(event_id(), name, {} if payload is None else payload, AT)


def several(count: int) -> list[NewEvent]:
    """This many distinguishable events."""
    return [happened("counted", {"number": number}) for number in range(1, count + 1)]


def completed(output: Json) -> NewEvent:
    """An agent's output, to which patches can refer."""
    return happened("agent:completed", {"agent": "a", "output": output})


def intent(values: Sequence[Json], outputs: Mapping[int, int] | None = None) -> NewEvent:
    """A state change that puts each value at its own path; `outputs` are references."""
    patches = [
        {"op": "add", "path": f"/{index}", "value": value} for index, value in enumerate(values)
    ]
    return NewEvent(event_id(), "state:intent", {"patches": patches}, AT, outputs=outputs)


def changing(*changes: RowChange) -> NewEvent:
    """An event that `described` turns into these changes."""
    told = [{"kind": type(change).__name__, **asdict(change)} for change in changes]
    return happened("rows:changed", {"changes": told})


def described(event: Event) -> list[RowChange]:
    """A projection: events made by `changing` carry their own row changes."""
    changes = [dict(change) for change in objects(event.payload.get("changes"))]
    return [_KINDS[change.pop("kind")](**change) for change in changes]


_KINDS: Mapping[object, Callable[..., RowChange]] = {
    kind.__name__: kind for kind in (Put, Change, Drop)
}


def session_row(session: str, **more: Cell) -> Put:
    """A row of the sessions view."""
    return Put("sessions", {"id": session, "workflow": "w", "created_at": AT, **more})


def attributes(error: pytest.ExceptionInfo[CallboardError]) -> Mapping[str, object]:
    """The attributes of an error."""
    return error.value.context


def places(events: Sequence[Event]) -> list[int]:
    """The positions of events."""
    return [event.position for event in events]


def fork(stream: str, position: int, *, expect: int | None = None) -> Writing:
    """Start a stream as a fork of another one, at one of its positions."""
    return Writing(expect=expect, base=Base(stream, position))


async def soon(told: asyncio.Event) -> None:
    """Wait for something that has to happen, and reset it."""
    async with asyncio.timeout(PATIENCE):
        await told.wait()
    told.clear()
