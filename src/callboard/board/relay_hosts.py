"""The machines whose relays report here, and whether they can be reached."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from callboard.board.hosts import Host
from callboard.clock import Clock
from callboard.errors import PositionConflict, SessionExists
from callboard.events import plates as events
from callboard.events.envelope import NewEvent
from callboard.events.event_name import Entry
from callboard.events.payloads.plates import HostConnectedPayload
from callboard.events.rows import Query, Row
from callboard.events.shapes import Millis, Shape
from callboard.ids import event_id
from callboard.log.protocol import EventLog, Writing

_KIND: Final = "relay"


@dataclass(frozen=True, slots=True)
class RelayHost(Shape):
    """A machine with a relay.

    connected: whether it can be reached now. seen_at: if not, when it last could.
    version: of Callboard on that machine. powers: what it lets servers do there, besides deciding.
    contested_at: when another process last tried to use its token while its relay was connected.
    """

    id: str
    name: str
    version: str
    connected: bool
    seen_at: Millis
    powers: list[str]
    contested_at: Millis | None = None


@dataclass(frozen=True, slots=True)
class RelayHostList(Shape):
    """The machines with a relay, by name."""

    hosts: list[RelayHost]


def _differs(row: Row, new: Mapping[str, object]) -> bool:
    known = {**row, "powers": json.loads(row["powers"])}
    return any(known[column] != value for column, value in new.items())


class BoardHosts(Protocol):
    """The machines whose coding agents are on the board."""

    async def list(self) -> list[RelayHost]:
        """The machines with a relay, by name."""
        ...


class RelayHosts:
    """Knows them from the log. Its shared state shows which server a relay is connected to."""

    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._here: set[str] = set()

    @property
    def here(self) -> frozenset[str]:
        """The hosts whose relays are connected to this server."""
        return frozenset(self._here)

    async def list(self) -> list[RelayHost]:
        """The machines with a relay, by name."""
        here = self.here  # Before the rows: a relay that leaves is recorded first.
        rows = await self._log.rows(Query("hosts"))
        away = [row["id"] for row in rows if row["connected"] and row["id"] not in here]
        held = here | await self._log.server_state.held_elsewhere(_KIND, away)
        found = [await self._host(row, row["id"] in held) for row in rows]
        return sorted(found, key=lambda one: (one.name, one.id))

    async def _host(self, row: Row, is_held: bool) -> RelayHost:
        seen_at: int = self._clock.now_ms() if is_held else row["seen_at"]
        if row["connected"] and not is_held:
            # The server that it was connected to died, and could not record that it left.
            query = Query("plates", {"host": row["id"]}, columns=("updated_at",))
            seen_at = max([seen_at, *(one["updated_at"] for one in await self._log.rows(query))])
        powers, contested_at = json.loads(row["powers"]), row["contested_at"]
        name, version = row["name"], row["version"]
        return RelayHost(row["id"], name, version, is_held, seen_at, powers, contested_at)

    async def connected(self, host: Host, version: str, powers: Sequence[str] = ()) -> None:
        """A relay has connected to this server."""
        self._here.add(host.id)
        await self._log.server_state.hold(_KIND, host.id)
        known = await self._row(host.id)
        new = {"name": host.name, "version": version, "powers": list(powers)}
        if known is None or known["connected"] != 1 or _differs(known, new):
            told = HostConnectedPayload(
                host=host.id, name=host.name, version=version, powers=list(powers)
            )
            if known is not None and known["contested_at"] is not None:
                told["contestedAt"] = known["contested_at"]
            await self._append(host.id, events.HOST_CONNECTED(told))

    async def disconnected(self, host_id: str, seen_at: int) -> None:
        """A relay has left this server, and none of the others has it."""
        if not await self._log.server_state.held_elsewhere(_KIND, [host_id]):
            known = await self._row(host_id)
            if known is not None and known["connected"]:
                told = events.HOST_DISCONNECTED({"host": host_id, "seenAt": seen_at})
                await self._append(host_id, told)
        self._here.discard(host_id)
        await self._log.server_state.release(_KIND, host_id)

    async def _row(self, host_id: str) -> Row | None:
        rows = await self._log.rows(Query("hosts", {"id": host_id}))
        return rows[0] if rows else None

    async def _append(self, host_id: str, told: Entry) -> None:
        stream = f"host-{host_id}"
        event = NewEvent(event_id(), told.name, told.payload, self._clock.now_ms())
        while True:
            writing = Writing(expect=await self._log.head(stream), settle=True)
            try:
                await self._log.append(stream, [event], writing)
            except (PositionConflict, SessionExists):
                continue
            return
