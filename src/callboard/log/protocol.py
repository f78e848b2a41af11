"""The contract of a log. `callboard.testing.log_suite` tests it."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from callboard.errors import StoreError
from callboard.events.access import Token
from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import Query, Row
from callboard.log.registry import OwnerRegistry
from callboard.log.slot_store import SlotStore

Notify = Callable[[int | None], None]
"""Called with the position of the last event if it is known, otherwise with None."""

NotifyAppend = Callable[[Collection[str]], object]
"""Called with the streams that were written to."""


class Portion(NamedTuple):
    """At most this many events, and no more once their payloads reach this many bytes of JSON.

    There is at least one event, however large.
    """

    events: int
    size: int


Limit = int | Portion | None
"""How much to read: a number of events, a portion, or everything."""


@dataclass(frozen=True, slots=True)
class Base:
    """Where a forked stream starts. Nothing is copied."""

    stream: str
    position: int


@dataclass(frozen=True, slots=True)
class Lease:
    """Who may drive a stream. `alive` is false if the owner died or froze."""

    owner: str | None
    epoch: int
    settled: int
    alive: bool


class Writing(NamedTuple):
    """The conditions for an append, and what it does to the lease.

    expect: the stream must have this length, otherwise PositionConflict; with 0, an existing
        stream is SessionExists.
    epoch: this owner's lease must still have this epoch, otherwise OwnershipLost.
    claim: take the lease in the same transaction, otherwise SessionOwned. Our own lease keeps
        its epoch; one that was free, or whose owner is dead or frozen, gets the next.
    settle: release the lease; everything up to here has been acted on.
    release: release the lease; there is more to do.
    base: the stream is new and forks another one there, otherwise SessionExists; `expect` is
        then the position of the fork.

    The order of the checks is: does the stream exist, epoch, expect, claim. Settling or releasing
    what another living owner holds is also SessionOwned.
    """

    expect: int | None = None
    epoch: int | None = None
    claim: bool = False
    settle: bool = False
    release: bool = False
    base: Base | None = None


ANYHOW = Writing()


class Appended(NamedTuple):
    """The result of an append: the stream's new length, the lease's epoch, the bytes stored."""

    head: int
    epoch: int
    size: int


def no_views(event: Event) -> tuple[()]:
    """Project nothing, for a log without views."""
    return ()


class TokenStore(Protocol):
    """The access tokens, stored next to the streams, only by the hash of their secret."""

    async def find(self, sha256: str) -> Token | None:
        """The token with this hash, even if it is revoked or expired. Called on every request.

        The next call sees what another process adds or revokes.
        """
        ...

    async def list(self) -> Sequence[Token]:
        """The tokens that are not revoked, oldest first; at most 1000."""
        ...

    async def add(self, token: Token) -> None:
        """Store a token; others see it when this returns."""
        ...

    async def revoke(self, id: str, at_ms: int) -> Token:
        """Revoke a token; NotFound if it doesn't exist."""
        ...


HELD_FOR = 7 * 86_400.0
"""Seconds after which what a handle holds is forgotten, should it die without releasing it."""


class ServerState(Protocol):
    """What the servers of a log share for a while, by kind and key; it is in no stream.

    A value has an expiry. What is held belongs to a handle, and is free when that handle dies.
    """

    async def add(self, kind: str, key: str, value: str, seconds: float) -> bool:
        """Store a value for so long; returns whether it is the one that is stored now.

        Of several callers with different values, one gets True, until that value expires. Calling
        it again with the same value only moves the expiry.
        """
        ...

    async def find(self, kind: str, key: str) -> str | None:
        """The value, unless it has expired."""
        ...

    async def take(self, kind: str, key: str) -> str | None:
        """Remove a value and return it, unless it has expired; of several callers, one gets it."""
        ...

    async def values(self, kind: str) -> list[str]:
        """Every value of a kind that has not expired, in no particular order."""
        ...

    async def clear(self, kind: str) -> None:
        """Remove every value of a kind."""
        ...

    async def hold(self, kind: str, key: str) -> None:
        """Show other handles that this one holds a key, until it releases it or dies."""
        ...

    async def release(self, kind: str, key: str) -> None:
        """Hold a key no longer."""
        ...

    async def held_elsewhere(self, kind: str, keys: Collection[str]) -> set[str]:
        """Those of the keys that another living handle holds."""
        ...

    async def adopt(self, kind: str, start: str) -> set[str]:
        """Hold the keys with this start that dead handles held; of several callers, one gets each.

        Not those that their handles released, or that have been forgotten since.
        """
        ...


class EventLog(Protocol):
    """Streams of events with gapless positions 1, 2, 3, … and views.

    When `append` returns, its events survive `kill -9`. Appends of one event loop iteration share a
    commit; one that is refused doesn't affect the others.
    """

    owner: str
    """The id under which this log claims leases: one per open handle."""

    @property
    def tokens(self) -> TokenStore:
        """The access tokens."""
        ...

    @property
    def server_state(self) -> ServerState:
        """What servers share for a while."""
        ...

    @property
    def is_cut_off(self) -> bool:
        """Whether others may take our leases by now, because the log can't be reached.

        Every listener is called when this changes. Meanwhile a driver stops its agents, and starts
        none.
        """
        ...

    @property
    def incarnation(self) -> int:
        """Changes if events may have been lost that were already read, as after a failover.

        Every listener is called, and whatever was kept in memory has to be read again. 0 before the
        first connection.
        """
        ...

    @property
    def owners(self) -> OwnerRegistry:
        """Who has the log open, in any process."""
        ...

    @property
    def slots(self) -> SlotStore:
        """The slots of limits."""
        ...

    @property
    def path(self) -> Path | None:
        """The database file; None if the log is not a file."""
        ...

    def outage(self) -> StoreError | None:
        """Why the log can't be reached at the moment; None if it can, as far as is known."""
        ...

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append all of the events, or none. An empty sequence may still claim or settle.

        A stream is created by its first append. If the caller is cancelled, the events may or may
        not have been appended; other appends aren't affected.
        """
        ...

    async def read(
        self,
        stream: str,
        after: int = 0,
        upto: int | None = None,
        limit: Limit = None,
        skip: Collection[str] = (),
    ) -> list[Event]:
        """Events with after < position <= upto, without the names in `skip`.

        A fork's prefix is read under the fork's own id. An unknown stream has no events.
        """
        ...

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 if the stream doesn't exist."""
        ...

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position; 0 without one.

        A row of the view `checkpoints`: the stream's own, or one in the prefix that it shares, even
        if the stream with that prefix was deleted.
        """
        ...

    def tail(self, stream: str, after: int = 0) -> AsyncIterator[Event]:
        """Past events, then new ones from any process, without gaps or repeats.

        HistoryChanged if another server took over that lacks what was read.
        """
        ...

    def tail_all(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """All streams by one global sequence, which comes first in each pair.

        HistoryChanged if another server took over that lacks what was read.
        """
        ...

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence.

        A fork's prefix belongs to its parent and isn't repeated. Sequences grow and may have gaps.
        """
        ...

    async def last_sequence(self) -> int:
        """The sequence of the newest event; 0 if the log is empty."""
        ...

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        ...

    async def session_counts(self) -> Mapping[str, int]:
        """How many sessions there are of each status. A status that none has may be missing."""
        ...

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream; None if it doesn't exist."""
        ...

    async def unsettled(self, limit: int = 1000) -> list[str]:
        """Streams that have grown since their driver last settled, oldest change first."""
        ...

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` in the event loop after any commit; returns a function that stops it.

        None means every stream; `notify` then gets None. It may be called more often than needed,
        and not for leases that other processes take.
        """
        ...

    def on_append(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with the streams of each commit of this handle; returns what stops it.

        In the event loop, after the commit. Not for those of other processes.
        """
        ...

    def on_work(self, notify: NotifyAppend) -> Callable[[], None]:
        """Call `notify` with streams that others wrote to and that someone has to drive.

        Others are other handles, in any process. The streams have grown since they were settled,
        and no one drives them. This is a hint: `unsettled` knows all of them, and one may be named
        late, repeatedly, not at all, or although this handle wrote to it. Returns what stops it.
        """
        ...

    async def delete(self, stream: str) -> None:
        """Hide a stream and drop its rows, as if it had never existed.

        Its id isn't reused, and its forks stay complete, with the checkpoints they need.
        SessionNotFound if it doesn't exist; SessionOwned while a living owner drives it. The events
        stay until they are trimmed.
        """
        ...

    async def trim(self, limit: int = 1000) -> int:
        """Remove events of deleted streams that no fork needs; returns how many.

        Removes at most `limit`, so that others can append in between: call it until it returns 0.
        The newest event of the log is never removed.
        """
        ...

    async def rebuild(self) -> int:
        """Rebuild the views from the events; returns the number of events."""
        ...

    async def close(self) -> None:
        """Finish what was started and close every file."""
        ...
