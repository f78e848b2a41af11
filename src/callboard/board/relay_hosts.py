"""The machines whose relays report here, and whether they can be reached."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from callboard.board.hosts import Host
from callboard.clock import Clock
from callboard.errors import (
    ConflictError,
    NotFound,
    PlateNotFound,
    PositionConflict,
    SessionExists,
)
from callboard.events import plates as events
from callboard.events.envelope import NewEvent
from callboard.events.event_name import Entry
from callboard.events.rows import Query, Row
from callboard.events.shapes import Millis, Shape
from callboard.ids import event_id
from callboard.log.protocol import EventLog, Writing

if TYPE_CHECKING:
    from callboard.board.plates import Plates
    from callboard.board.tokens import AccessTokens

_KIND: Final = "relay"


@dataclass(frozen=True, slots=True)
class RelayHost(Shape):
    """A machine with a relay.

    connected: whether it can be reached now. seen_at: if not, when it last could.
    version: of Callboard on that machine.
    """

    id: str
    name: str
    version: str
    connected: bool
    seen_at: Millis


@dataclass(frozen=True, slots=True)
class RelayHostList(Shape):
    """The machines with a relay, by name."""

    hosts: list[RelayHost]


class BoardHosts(Protocol):
    """The machines whose coding agents are on the board."""

    async def list(self) -> list[RelayHost]:
        """The machines with a relay, by name."""
        ...

    async def remove(self, host_id: str) -> None:
        """Take a machine off the board: revoke its tokens, dismiss its plates, forget its relay.

        NotFound if the board doesn't know it; ConflictError for the server's own machine.
        """
        ...


@dataclass(frozen=True, slots=True)
class HostTraces:
    """The traces of machines. They are removed in the order in which they could come back."""

    tokens: "AccessTokens"
    plates: "Plates"

    async def remove(self, host_id: str) -> bool:
        """Revoke a machine's tokens and dismiss its plates. Returns whether there were any.

        ConflictError for the machine that this runs on: its agents report without a relay.
        """
        if host_id == self.plates.host().id:
            raise ConflictError("This is the server's own machine, which can't be removed.")
        tokens = [one for one in await self.tokens.list() if one.host == host_id]
        for token in tokens:
            await self.tokens.revoke(token.id)
        plates = [one for one in await self.plates.all() if one.host == host_id]
        for plate in plates:
            for pending in plate.pending:
                if pending.id is not None:
                    # Its relay lets go of the hook, so only the terminal can answer now.
                    await self.plates.let_wait(pending.id)
            try:
                await self.plates.dismiss(plate.plate_id)
            except PlateNotFound:
                continue
        return bool(tokens or plates)


class RelayHosts:
    """Knows them from the log. Its shared state shows which server a relay is connected to."""

    def __init__(
        self, log: EventLog, clock: Clock, remove_traces: Callable[[str], Awaitable[bool]]
    ) -> None:
        """remove_traces: removes what else the board has of a host; returns whether it had any."""
        self._log = log
        self._remove_traces = remove_traces
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

    async def remove(self, host_id: str) -> None:
        """Take a machine off the board: revoke its tokens, dismiss its plates, forget its relay."""
        known, traces = await self._row(host_id), await self._remove_traces(host_id)
        if known is None and not traces:
            raise NotFound(f"There is no machine {host_id!r}. List them: callboard hosts")
        if known is not None:
            await self._append(host_id, events.HOST_REMOVED({"host": host_id}))

    async def _host(self, row: Row, is_held: bool) -> RelayHost:
        seen_at: int = self._clock.now_ms() if is_held else row["seen_at"]
        if row["connected"] and not is_held:
            # The server that it was connected to died, and could not record that it left.
            query = Query("plates", {"host": row["id"]}, columns=("updated_at",))
            seen_at = max([seen_at, *(one["updated_at"] for one in await self._log.rows(query))])
        return RelayHost(row["id"], row["name"], row["version"], is_held, seen_at)

    async def connected(self, host: Host, version: str) -> None:
        """A relay has connected to this server."""
        self._here.add(host.id)
        await self._log.server_state.hold(_KIND, host.id)
        known = await self._row(host.id)
        told = events.HOST_CONNECTED({"host": host.id, "name": host.name, "version": version})
        same = ("name", host.name), ("version", version), ("connected", 1)
        if known is None or any(known[column] != value for column, value in same):
            await self._append(host.id, told)

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
