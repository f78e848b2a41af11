"""What a log promises. `callboard.testing.log_suite` holds every log to it."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from callboard.events.access import Token
from callboard.events.envelope import Event, NewEvent
from callboard.events.rows import Query, Row

Notify = Callable[[int | None], None]
"""Called with the position of the last event, if this handle wrote it; else with None."""


class Portion(NamedTuple):
    """At most so many events, and none after those whose payloads make so many bytes of JSON.

    There is at least one, however large it is.
    """

    events: int
    size: int


Limit = int | Portion | None
"""How much is read: so many events, a portion, or everything."""


@dataclass(frozen=True, slots=True)
class Base:
    """Where a forked stream takes its start from: nothing is copied."""

    stream: str
    position: int


@dataclass(frozen=True, slots=True)
class Lease:
    """Who may drive a stream. `alive` is false when the owner died or froze."""

    owner: str | None
    epoch: int
    settled: int
    alive: bool


@dataclass(frozen=True, slots=True)
class Writing:
    """Under which conditions an append may happen, and what it does to the lease.

    expect: the stream's length must be this, else PositionConflict; 0 where a stream is already
        is SessionExists.
    epoch: this owner's lease must still have this epoch, else OwnershipLost.
    claim: take the lease in the same transaction, else SessionOwned. A lease that is ours keeps
        its epoch; one that was free, or whose owner is dead or frozen, gets the next.
    settle: give the lease back; everything up to here has been acted on.
    release: give the lease back; something is left to do.
    base: the stream is new and forks another one there, else SessionExists; `expect` is then the
        position of the fork.

    The checks are made in this order: does the stream exist, epoch, expect, claim. No one can
    settle or release what another living owner holds: that is SessionOwned as well.
    """

    expect: int | None = None
    epoch: int | None = None
    claim: bool = False
    settle: bool = False
    release: bool = False
    base: Base | None = None


ANYHOW = Writing()


class Appended(NamedTuple):
    """What an append did: how long the stream is now, the lease's epoch, the bytes stored."""

    head: int
    epoch: int
    size: int


def no_views(event: Event) -> tuple[()]:
    """Project nothing: a log without views."""
    return ()


class TokenStore(Protocol):
    """The access tokens, kept beside the streams: by the hash of their secret only."""

    async def find(self, sha256: str) -> Token | None:
        """The token with this hash, revoked and expired ones too. Called with every request.

        What another process adds or revokes is seen by the next call.
        """
        ...

    async def list(self) -> Sequence[Token]:
        """The tokens that are not revoked, oldest first; at most 1000."""
        ...

    async def add(self, token: Token) -> None:
        """Keep a token; others see it when this returns."""
        ...

    async def revoke(self, id: str, at_ms: int) -> Token:
        """Let a token open nothing from now on; NotFound when there is none."""
        ...


class EventLog(Protocol):
    """Streams of events with dense positions 1, 2, 3, … and views beside them.

    When `append` returns, its events survive `kill -9`. Appends of one turn of the event loop
    share a commit; one that is refused does not disturb the others.
    """

    owner: str
    """The id under which this log claims leases: one per open handle."""

    @property
    def tokens(self) -> TokenStore:
        """Who may come in."""
        ...

    @property
    def path(self) -> Path | None:
        """The file that it is kept in; None if there is none."""
        ...

    async def append(
        self, stream: str, events: Sequence[NewEvent], writing: Writing = ANYHOW
    ) -> Appended:
        """Append all of the events, or none. An empty sequence may still claim or settle.

        A stream appears with its first append. If the caller is cancelled, the events may have
        been appended or not; those of others are not concerned.
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
        """Events with after < position <= upto, the names in `skip` left out.

        A fork's prefix is read under the fork's own id. Unknown stream: no events.
        """
        ...

    async def head(self, stream: str) -> int:
        """The position of the last event; 0 for a stream that does not exist."""
        ...

    async def checkpoint(self, stream: str, upto: int) -> int:
        """The newest checkpoint at or before a position; 0 when there is none.

        A row of the view `checkpoints`: the stream's own, or one in the prefix that it shares,
        also when the stream that holds the prefix was deleted.
        """
        ...

    def tail(self, stream: str, after: int = 0) -> AsyncIterator[Event]:
        """History, then whatever comes, from this process or another: no gap, no repeat."""
        ...

    def tail_all(self, after: int = 0) -> AsyncIterator[tuple[int, Event]]:
        """All streams by one global sequence, which comes first in each pair."""
        ...

    async def read_all(
        self, after: int, upto: int | None = None, limit: Limit = None
    ) -> list[tuple[int, Event]]:
        """Events of all streams with after < sequence <= upto, each with its sequence.

        A fork's prefix is its parent's and is not repeated. Sequences grow and may have holes.
        """
        ...

    async def last_sequence(self) -> int:
        """The sequence of the newest event; 0 for a log that is empty."""
        ...

    async def rows(self, query: Query) -> list[Row]:
        """Rows of a view."""
        ...

    async def lease(self, stream: str) -> Lease | None:
        """Who drives the stream; None for a stream that does not exist."""
        ...

    async def unsettled(self, limit: int = 1000) -> list[str]:
        """Streams that have grown since their driver last settled, oldest change first."""
        ...

    def on_change(self, stream: str | None, notify: Notify) -> Callable[[], None]:
        """Call `notify` in the event loop after any commit to the stream; returns an undo.

        None means every stream; `notify` is then given None.
        It may be called once too often, and is not reported leases that other processes take.
        """
        ...

    async def delete(self, stream: str) -> None:
        """Hide a stream at once and drop its rows: afterwards it is as if it had never been.

        Only its id is not given again, and its forks stay whole, with the checkpoints that
        they need. SessionNotFound when there is none; SessionOwned while a living owner drives
        it. The events are still there until they are trimmed.
        """
        ...

    async def trim(self, limit: int = 1000) -> int:
        """Remove events of deleted streams that no fork needs; returns how many.

        At most `limit`, so that others can append in between: call it until it returns 0. The
        newest event of all is never removed.
        """
        ...

    async def rebuild(self) -> int:
        """Empty the views and make them again from the events; returns how many events."""
        ...

    async def close(self) -> None:
        """Finish what was started and let go of every file."""
        ...
