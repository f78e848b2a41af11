"""The machines whose relays report here, and whether they can be reached."""

import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol

from callboard.board.host_requests import WITHIN, Deliver, HostRequests, new_request, number, words
from callboard.board.hosts import Host, local_host
from callboard.clock import Clock
from callboard.errors import (
    ConflictError,
    HostUnreachable,
    NotFound,
    PlateNotFound,
    Unauthenticated,
)
from callboard.events import plates as events
from callboard.events.event_name import Entry
from callboard.events.json_values import Object, as_list
from callboard.events.payloads.plates import HostConnectedPayload
from callboard.events.rows import Query, Row
from callboard.events.shapes import Millis, Shape
from callboard.log.protocol import EventLog

if TYPE_CHECKING:
    from callboard.board.plates import Plates
    from callboard.board.tokens import AccessTokens

_KIND: Final = "relay"
_MOST_AGENTS: Final = 20
_CONTESTED_EVERY_MS: Final = 600_000


@dataclass(frozen=True, slots=True)
class RelayHost(Shape):
    """A machine with a relay.

    connected: whether it can be reached now. seen_at: if not, when it last could.
    version: of Callboard on that machine. powers: what it lets servers do there, besides deciding.
    contested_at: when someone last used its token without its relay's secret, and was refused.
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


def _unknown(host_id: str) -> NotFound:
    message = f"There is no machine {host_id!r}. List them: callboard hosts"
    return NotFound(message, host=host_id)


def _differs(row: Row, new: Mapping[str, object]) -> bool:
    known = {**row, "powers": json.loads(row["powers"])}
    return any(known[column] != value for column, value in new.items())


@dataclass(frozen=True, slots=True)
class HostCheck(Shape):
    """What a machine says about itself.

    clock_ahead_ms: how far its clock is ahead of the server's, give or take half of took_ms.
    waiting: reports that the server doesn't have yet. spooled: hooks that the relay has not taken.
    agents: those for which hooks were installed that report there.
    """

    id: str
    version: str
    clock_ahead_ms: int
    took_ms: int
    waiting: int
    spooled: int
    agents: list[str]


@dataclass(frozen=True, slots=True)
class HostLog(Shape):
    """The last lines of a relay's log, oldest first."""

    lines: list[str]


class BoardHosts(Protocol):
    """The machines whose coding agents are on the board."""

    async def list(self) -> list[RelayHost]:
        """The machines with a relay, by name."""
        ...

    async def check(self, host_id: str) -> HostCheck:
        """Ask a machine how it is."""
        ...

    async def log(self, host_id: str, lines: int = 50) -> HostLog:
        """The last lines that a machine's relay has logged; needs the power `read` there."""
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
        self._bound: dict[str, str] = {}
        """The secrets that were compared with the stored ones. Those never change for a token."""
        self.requests = HostRequests(log, clock)

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
            raise _unknown(host_id)
        if known is not None:
            await self._append(host_id, events.HOST_REMOVED({"host": host_id}))

    async def _host(self, row: Row, is_held: bool) -> RelayHost:
        seen_at: int = self._clock.now_ms() if is_held else row["seen_at"]
        if row["connected"] and not is_held:
            # The server that it was connected to died, and could not record that it left.
            query = Query("plates", {"host": row["id"]}, columns=("updated_at",))
            seen_at = max([seen_at, *(one["updated_at"] for one in await self._log.rows(query))])
        powers, contested_at = json.loads(row["powers"]), row["contested_at"]
        name, version = row["name"], row["version"]
        return RelayHost(row["id"], name, version, is_held, seen_at, powers, contested_at)

    async def connected(
        self, host: Host, version: str, powers: Sequence[str] = (), secret: str = ""
    ) -> None:
        """A relay has connected to this server. secret: as `bound` returned it."""
        self._here.add(host.id)
        await self._log.server_state.hold(_KIND, host.id)
        known = await self._row(host.id)
        # One that names none doesn't undo what another one named.
        secret = secret or ("" if known is None else known["secret"])
        new = {"name": host.name, "version": version, "powers": list(powers), "secret": secret}
        if known is None or known["connected"] != 1 or _differs(known, new):
            told = HostConnectedPayload(
                host=host.id, name=host.name, version=version, powers=list(powers), secret=secret
            )
            if known is not None and known["contested_at"] is not None:
                told["contestedAt"] = known["contested_at"]
            await self._append(host.id, events.HOST_CONNECTED(told))

    async def bound(self, host_id: str, token_id: str, secret: str) -> str:
        """The secret as it is stored, if it is that of the machine's relay; else Unauthenticated.

        The first one that comes with a token is. So the token alone is worth nothing afterwards.
        """
        given = f"{token_id}:{sha256(secret.encode()).hexdigest()}" if secret else ""
        if given and self._bound.get(host_id) == given:
            return given
        known = await self._row(host_id)
        stored: str = "" if known is None else known["secret"]
        if known is None or not stored.startswith(f"{token_id}:"):
            return given
        if hmac.compare_digest(stored, given):
            self._bound[host_id] = given
            return given
        now, before = self._clock.now_ms(), known["contested_at"]
        if before is None or now - before >= _CONTESTED_EVERY_MS:
            await self._append(host_id, events.HOST_CONTESTED({"host": host_id}))
        raise Unauthenticated(
            "This token belongs to another relay. If it was copied, revoke it on the server, and "
            f"pair the machine again: callboard token revoke {token_id}"
        )

    async def disconnected(self, host_id: str, seen_at: int) -> None:
        """A relay has left this server, and none of the others has it."""
        if not await self._log.server_state.held_elsewhere(_KIND, [host_id]):
            known = await self._row(host_id)
            if known is not None and known["connected"]:
                told = events.HOST_DISCONNECTED({"host": host_id, "seenAt": seen_at})
                await self._append(host_id, told)
        self._here.discard(host_id)
        await self._log.server_state.release(_KIND, host_id)

    async def serve_own(self, host_id: str, deliver: Deliver) -> None:
        """This server does the commands for its own machine."""
        await self.requests.serve(host_id, deliver)
        if self._log.path is None:
            # Servers of a file are all on its machine, and each is asked for itself.
            await self._log.server_state.hold(_KIND, host_id)

    async def leave_own(self, host_id: str) -> None:
        """This server does them no longer."""
        self.requests.leave(host_id)
        if self._log.path is None:
            await self._log.server_state.release(_KIND, host_id)

    async def ask(
        self,
        host_id: str,
        command: str,
        data: Object,
        *,
        within: float = WITHIN,
        by: str | None = None,
        id: str | None = None,
    ) -> Object:
        """Let a machine do a command, and return its result. The caller has checked who asks.

        within: seconds for the result. id: asking again with the same id does nothing again, and is
        HostTimedOut with `was_asked` if it was started before. HostUnreachable if nothing was done,
        HostTimedOut if that is unknown, PowerNotGranted or HostFailed if the machine says so.
        """
        known, name = await self._row(host_id), host_id
        if known is not None:
            name = known["name"]
        elif host_id == local_host().id:
            name = local_host().name
        else:
            raise _unknown(host_id)
        is_here = host_id in self._here or host_id in self.requests.served
        if not is_here and not await self._log.server_state.held_elsewhere(_KIND, [host_id]):
            raise HostUnreachable(f"{name} can't be reached at the moment. Nothing was done there.")
        request = new_request(host_id, command, data, within, id)
        return await self.requests.ask(request, name, by)

    async def check(self, host_id: str, *, by: str | None = None) -> HostCheck:
        """Ask a machine how it is."""
        before = self._clock.now_ms()
        told = await self.ask(host_id, "check", {}, by=by)
        now = self._clock.now_ms()
        return HostCheck(
            id=host_id,
            version=words(told.get("version")),
            clock_ahead_ms=number(told.get("nowMs")) - (before + now) // 2,
            took_ms=now - before,
            waiting=number(told.get("waiting")),
            spooled=number(told.get("spooled")),
            agents=[words(one) for one in as_list(told.get("agents"))[:_MOST_AGENTS]],
        )

    async def log(self, host_id: str, lines: int = 50, *, by: str | None = None) -> HostLog:
        """The last lines that a machine's relay has logged; needs the power `read` there."""
        told = await self.ask(host_id, "log", {"lines": lines}, by=by)
        return HostLog([words(one) for one in as_list(told.get("lines"))[-lines:]])

    async def _append(self, host_id: str, told: Entry) -> None:
        await self.requests.record(host_id, told)

    async def _row(self, host_id: str) -> Row | None:
        rows = await self._log.rows(Query("hosts", {"id": host_id}))
        return rows[0] if rows else None
