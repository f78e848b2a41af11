"""Whether an append is allowed: the rules that every log shares, without any storage.

The order of the checks is part of the contract: does the stream exist, is the lease still ours, is
the stream as long as expected, and only then may the lease be taken.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from callboard.errors import (
    OwnershipLost,
    PositionConflict,
    SessionExists,
    SessionNotFound,
    SessionOwned,
)
from callboard.log.protocol import Base, Writing


class StreamState(NamedTuple):
    """A stream's length and lease."""

    head: int
    owner: str | None = None
    epoch: int = 0
    settled: int = 0

    @property
    def is_up_for_driving(self) -> bool:
        """Whether there is something to do in the stream, and no one drives it."""
        return self.owner is None and self.head > self.settled


@dataclass(frozen=True, slots=True)
class Claimant:
    """The caller, and how it knows whether another owner is alive."""

    owner: str
    alive: Callable[[str], bool]


def admit_fork(
    stream: str, standing: StreamState | None, base: Base, parent: StreamState | None
) -> StreamState:
    """The initial state of a stream that forks `parent`; raises if it can't."""
    if standing is not None:
        raise _exists(stream, standing.head)
    if parent is None:
        raise SessionNotFound(
            f"Session {base.stream} cannot be forked: it does not exist.",
            session=base.stream,
        )
    if not 0 <= base.position <= parent.head:
        raise PositionConflict(
            f"Session {base.stream} has {parent.head} events and cannot be forked at position "
            f"{base.position}; fork it between 0 and {parent.head}.",
            session=base.stream,
            expected=base.position,
            actual=parent.head,
        )
    return StreamState(base.position)


def admit(
    stream: str, standing: StreamState | None, writing: Writing, growth: int, claimant: Claimant
) -> StreamState:
    """The state of the stream after `growth` more events; raises if the append is refused."""
    touches_lease = writing.claim or writing.settle or writing.release
    if standing is None and not growth and touches_lease:
        raise SessionNotFound(f"There is no session {stream} to claim or settle.", session=stream)
    if writing.expect == 0 and writing.base is None and standing is not None and standing.head:
        raise _exists(stream, standing.head)
    now = standing or StreamState(0)
    if writing.epoch is not None:
        _check_epoch(stream, now, writing.epoch, claimant.owner)
    if writing.expect is not None and writing.expect != now.head:
        raise PositionConflict(
            f"Session {stream} has {now.head} events, not {writing.expect}: another writer was "
            "first. Read the new events and decide again.",
            session=stream,
            expected=writing.expect,
            actual=now.head,
        )
    if touches_lease and now.owner != claimant.owner:
        now = _take(stream, now, claimant, renew=writing.claim)
    head = now.head + growth
    if writing.settle:
        return StreamState(head, None, now.epoch, head)
    owner = None if writing.release else now.owner
    return StreamState(head, owner, now.epoch, now.settled)


def admit_gone(stream: str, writing: Writing, growth: int, claimant: Claimant) -> None:
    """Refuse an append to a deleted stream: it no longer exists, but its id is taken."""
    if writing.base is None:
        admit(stream, None, writing, growth, claimant)
    if growth or writing.base is not None:
        raise SessionExists(
            f"Session {stream} was deleted, and its id can't be reused. Choose another id.",
            session=stream,
            expected=0,
            actual=0,
        )


def admit_deletion(stream: str, owner: str | None, *, exists: bool) -> None:
    """Refuse to delete a stream that doesn't exist, or that a living owner drives."""
    if not exists:
        raise SessionNotFound(f"There is no session {stream} to delete.", session=stream)
    if owner is not None:
        raise _owned(stream, owner)


def _check_epoch(stream: str, now: StreamState, epoch: int, owner: str) -> None:
    if now.owner != owner or now.epoch != epoch:
        raise OwnershipLost(
            f"Session {stream} is no longer driven from here (epoch {epoch}): its lease is now at "
            f"epoch {now.epoch}, held by {now.owner or 'no process'}. Stop, and claim it again.",
            session=stream,
            owner=now.owner,
            epoch=now.epoch,
        )


def _take(stream: str, now: StreamState, claimant: Claimant, *, renew: bool) -> StreamState:
    if now.owner is not None and claimant.alive(now.owner):
        raise _owned(stream, now.owner)
    return now._replace(owner=claimant.owner, epoch=now.epoch + renew)


def _owned(stream: str, owner: str) -> SessionOwned:
    return SessionOwned(
        f"Session {stream} is driven by {owner}, which is running. Wait until it settles, "
        "or stop the process that holds it.",
        session=stream,
        owner=owner,
    )


def _exists(stream: str, head: int) -> SessionExists:
    return SessionExists(
        f"Session {stream} already exists, with {head} events. Choose another id.",
        session=stream,
        expected=0,
        actual=head,
    )
