"""Who is alive: every handle holds an advisory lock, and shows twice a second that it runs.

One connection does this, and it is also where notifications arrive. Observers measure on their own
clock how long a beat has not changed. A lock that is gone isn't proof: a restart of the server
frees all of them, and their owners come back. A handle that could not beat for a while stops what
it drives, before others take it over.

One handle holds a second lock: it is elected. If it freezes, the others end its connection.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import psycopg

from callboard.clock import Clock
from callboard.errors import StoreError
from callboard.ids import short_id
from callboard.log.postgres.connections import Link, ReadPool, delays
from callboard.log.postgres.connector import Connector
from callboard.log.postgres.errors import translate
from callboard.log.postgres.setup import DISPATCHING, LOCKS, NOW_MS, keep_time
from callboard.log.registry import Description

CHANNEL = "callboard"
BEAT_EVERY = 0.5
_DEAD_AFTER = 1.0
"""Seconds without a beat from an owner whose lock is gone."""
_GRACE = 3.0
"""Seconds for the others to come back, after we had to."""
_MOST_AT_ONCE = 0.75
"""Between two looks, so many seconds count: we may have been frozen, and the others with us."""
_LATER = 1.0
"""By how many seconds the server gives us up later than we do."""
_RESIGNS_AFTER = 10.0
"""Seconds after which who no longer asks whether it is elected leaves that to others."""
_READY_WITHIN = 30.0
_AWAY_AFTER = 1.0
"""Seconds without a connection after which the server counts as away."""

_LOCKED = f"""
SELECT objid::bigint AS no, pid FROM pg_locks
WHERE locktype = 'advisory' AND classid = {LOCKS} AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
HELD = f"SELECT no FROM ({_LOCKED}) AS locked"
"""The numbers of the owners whose connections are open."""
_REGISTER = """
INSERT INTO owners (id, host, pid, workflows, engine_worker) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET beat = owners.beat + 1, beat_at = clock_timestamp(),
    workflows = excluded.workflows, engine_worker = excluded.engine_worker
RETURNING no
"""
_STAND = "SELECT pg_try_advisory_lock(%s, %s)"
_RESIGN = "SELECT pg_advisory_unlock(%s, %s)"
# Only if the elected one is among those that are frozen, and has not beaten since we looked.
_DEPOSE = f"""
WITH locked AS ({_LOCKED})
SELECT pg_terminate_backend(elected.pid)
FROM locked AS elected JOIN locked AS own USING (pid) JOIN owners ON owners.no = own.no
JOIN unnest(%s::text[], %s::bigint[]) AS frozen (id, beat) USING (id, beat)
WHERE elected.no = {DISPATCHING % 2**32}
"""
_SWEEP = f"""
DELETE FROM owners WHERE beat_at < clock_timestamp() - interval '1 minute'
    AND no NOT IN ({HELD})
"""
# One statement: our beat, the time, how far the log is, and how the others are.
_BEAT = f"""
WITH held AS ({HELD}),
mine AS (
    UPDATE owners SET beat = beat + 1, beat_at = clock_timestamp() WHERE id = %(owner)s RETURNING id
)
SELECT {NOW_MS}, log.incarnation, log.seq, EXISTS (SELECT FROM mine),
    others.id, others.beat, held.no IS NOT NULL
FROM log LEFT JOIN owners AS others ON others.id <> %(owner)s
LEFT JOIN held ON held.no = others.no
"""
_LOOK = f"""
SELECT beat, no IN ({HELD}) FROM owners WHERE id = %s
"""
_UNENDED = (
    "A process that hangs keeps others from looking for work, and its connection to %s can't be "
    "ended. Stop the process, and let all processes connect as the same user."
)

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Handle:
    """One open log: its id as an owner, when it considers others frozen, and what it can drive."""

    owner: str
    host: str
    clock: Clock
    frozen_after: float
    described: Description = field(default_factory=Description)

    @property
    def cut_off_after(self) -> float:
        """How many seconds without a beat it takes until we stop what others may soon take over."""
        return self.frozen_after * 2 / 3


def new_handle(clock: Clock, frozen_after: float) -> Handle:
    """A handle whose id says on which host and in which process it is."""
    host = socket.gethostname()
    return Handle(f"{host}-{os.getpid()}-{short_id(8)}", host, clock, frozen_after)


class _Seen(NamedTuple):
    beat: int
    silent: float
    """For how many seconds it has not beaten, as far as we have been looking."""
    at: float
    holds: bool


_LEFT = _Seen(-1, float("inf"), float("-inf"), holds=False)


class Liveness:
    """This handle's beat, and what it knows about the others."""

    def __init__(
        self,
        handle: Handle,
        connector: Connector,
        pool: ReadPool,
        heard: Callable[[str | None], None],
        caught_up: Callable[[int], None],
    ) -> None:
        self._handle = handle
        self._connector = connector
        self._address = connector.address
        self._pool = pool
        self._heard = heard
        self._caught_up = caught_up
        self._seen: dict[str, _Seen] = {}
        self._unknown: dict[str, float] = {}
        self._beaten_at = 0.0
        self._grace_until = 0.0
        self._link: Link | None = None
        self._ready = asyncio.Event()
        self._awaited = 0
        self._failure: StoreError | None = None
        self._away_since: float | None = None
        self._asked_at = float("-inf")
        self._elected = False
        self._has_warned = False
        self._loop = asyncio.get_running_loop()
        self._cutting_off: asyncio.TimerHandle | None = None
        self._task = self._loop.create_task(self._run())

    async def ready(self) -> None:
        """Wait until others can see that we are alive: only then may we take leases."""
        if self._ready.is_set():
            return
        self._awaited += 1
        try:
            await self._connector.open()
            patience = 0.0 if self._connector.is_cut_off else self._address.patience
            async with asyncio.timeout(min(patience, _READY_WITHIN)):
                await self._ready.wait()
        except TimeoutError:
            place = self._address.name
            failure = self._failure or StoreError(f"Cannot reach {place}.", path=place)
            # A new one each time, because tasks would otherwise share a traceback.
            raise type(failure)(failure.message, **failure.context) from failure
        finally:
            self._awaited -= 1

    @property
    def is_awaited(self) -> bool:
        """Whether something waits for this: what follows has to wait as well, to stay in order."""
        return self._awaited > 0

    def outage(self) -> StoreError | None:
        """Why there is no connection, if there has been none for more than a moment."""
        since, now = self._away_since, self._handle.clock.monotonic()
        if self._failure is None or since is None or now - since < _AWAY_AFTER:
            return None
        # One exception each, because callers would otherwise share one traceback.
        return type(self._failure)(self._failure.message, **self._failure.context)

    def alive(self, owner: str) -> bool:
        """Whether an owner is alive, as far as we know; one that may be new is."""
        return owner == self._handle.owner or not self._is_dead(owner)

    def elected(self) -> bool:
        """Whether this handle has the lock that only one can have; who asks stands for it.

        Others may have it by now if we could not beat for a while.
        """
        self._asked_at = self._handle.clock.monotonic()
        is_late = self._asked_at - self._beaten_at >= self._handle.cut_off_after
        return self._elected and not is_late

    async def has_died(self, owner: str) -> bool:
        """Whether an owner died or froze. Takes up to a few seconds if that isn't certain."""
        while owner != self._handle.owner:
            row = await self._pool.run(lambda link: _look(link, owner))
            if row is None:
                self._seen[owner] = _LEFT
                return True
            self._note(owner, *row)
            if self._is_dead(owner):
                return True
            if row[1]:
                return False
            await asyncio.sleep(_DEAD_AFTER / 10)
        return False

    def _is_dead(self, owner: str) -> bool:
        seen, now = self._seen.get(owner), self._handle.clock.monotonic()
        if seen is None:
            # No row: either it is newer than our last beat, or it is long gone.
            return self._beaten_at - self._unknown.setdefault(owner, now) >= _DEAD_AFTER
        if seen.holds:
            return seen.silent >= self._handle.frozen_after
        return seen.silent >= _DEAD_AFTER and now >= self._grace_until

    def _note(self, owner: str, beat: int, holds: bool) -> None:
        seen, now, silent = self._seen.get(owner), self._handle.clock.monotonic(), 0.0
        if seen is not None and seen.beat == beat:
            silent = seen.silent + min(now - seen.at, _MOST_AT_ONCE)
        self._seen[owner] = _Seen(beat, silent, now, holds)
        self._unknown.pop(owner, None)

    async def _run(self) -> None:
        """Beat until we are stopped, over one connection after another."""
        waits = delays()
        while True:
            try:
                self._link = await self._connector.connect()
                await self._register(self._link)
                waits = delays()
                await self._beat_on(self._link)
            except psycopg.Error as error:
                self._failure = translate(error, self._address.name)
            except StoreError as error:
                self._failure = error
            finally:
                self._disconnect()
            await asyncio.sleep(next(waits))

    def _disconnect(self) -> None:
        if self._link is not None:
            self._link.pgconn.finish()
            self._link = None
        # What we know about the others is old now, and they may have lost their locks as we did.
        self._seen.clear()
        self._unknown.clear()
        self._elected = False
        now = self._handle.clock.monotonic()
        self._grace_until = now + _GRACE
        self._away_since = now if self._away_since is None else self._away_since
        self._ready.clear()

    async def _register(self, link: Link) -> None:
        await link.execute("SET synchronous_commit = off")
        # If only the network is gone, we stop our agents before our lock is.
        lost_after = round((self._handle.cut_off_after + _LATER) * 1000)
        await link.execute(f"SET tcp_user_timeout = {lost_after}".encode())
        await link.execute(_SWEEP.encode())
        who = (self._handle.owner, self._handle.host, os.getpid())
        described = self._handle.described
        told = (described.to_json(), described.engine_worker)
        row = await (await link.execute(_REGISTER, (*who, *told))).fetchone()
        assert row is not None
        # Our own old connection may still hold it: the server notices later than we do.
        await link.execute("SELECT pg_advisory_lock(%s, %s)", (LOCKS, row[0]))
        await link.execute(f"LISTEN {CHANNEL}".encode())

    async def _beat_on(self, link: Link) -> None:
        while True:
            asked = self._handle.clock.now_ms()
            rows = await (
                await link.execute(_BEAT.encode(), {"owner": self._handle.owner})
            ).fetchall()
            now_ms, incarnation, sequence, is_registered, *_ = rows[0]
            keep_time(self._handle.clock, asked, now_ms)
            if not is_registered:
                # Others took us for dead, and removed our row.
                await self._register(link)
            self._note_all([row[4:] for row in rows if row[4] is not None])
            self._beaten_at = self._handle.clock.monotonic()
            await self._stand(link)
            self._beaten()
            self._connector.note(incarnation)
            self._caught_up(sequence)
            async for notice in link.notifies(timeout=BEAT_EVERY):
                if notice.payload != self._handle.owner:
                    self._heard(None)

    def _beaten(self) -> None:
        self._ready.set()
        self._away_since = None
        self._failure = None
        self._note_cut_off(False)
        self._stop_timer()
        after = self._handle.cut_off_after
        self._cutting_off = self._loop.call_later(after, self._note_cut_off, True)

    def _note_cut_off(self, is_cut_off: bool) -> None:
        if self._connector.is_cut_off != is_cut_off:
            self._connector.is_cut_off = is_cut_off
            self._heard("a connection that was lost, or is back")

    def _stop_timer(self) -> None:
        if self._cutting_off is not None:
            self._cutting_off.cancel()

    async def _stand(self, link: Link) -> None:
        """Take the lock of the elected one if it is free and we stand for it, or give it back."""
        stands = self._handle.clock.monotonic() - self._asked_at < _RESIGNS_AFTER
        if stands and not self._elected:
            row = await (await link.execute(_STAND, (LOCKS, DISPATCHING))).fetchone()
            self._elected = row is not None and row[0]
            if not self._elected:
                await self._depose(link)
        elif self._elected and not stands:
            self._elected = False
            await link.execute(_RESIGN, (LOCKS, DISPATCHING))

    async def _depose(self, link: Link) -> None:
        """If the elected one is frozen, end its connection: only that frees its lock."""
        frozen = {
            owner: seen.beat
            for owner, seen in self._seen.items()
            if seen.holds and self._is_dead(owner)
        }
        try:
            if frozen:
                await link.execute(_DEPOSE.encode(), (list(frozen), list(frozen.values())))
        except psycopg.errors.InsufficientPrivilege:
            if not self._has_warned:
                _log.warning(_UNENDED, self._address.name)
            self._has_warned = True

    def _note_all(self, others: list[tuple[str, int, bool]]) -> None:
        living = {owner for owner in self._seen if not self._is_dead(owner)}
        for owner, beat, holds in others:
            self._note(owner, beat, holds)
        present = {owner for owner, _, _ in others}
        for owner in self._seen.keys() - present:
            self._seen[owner] = _LEFT
        if any(self._is_dead(owner) for owner in living):
            self._heard("a death")

    async def stop(self) -> None:
        """Stop beating, and remove our row: from now on, this owner counts as dead."""
        is_away = self._failure is not None or not self._connector.is_open
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        if is_away:
            return  # Others remove it when they find that no one holds its lock.
        with suppress(StoreError):
            remove = b"DELETE FROM owners WHERE id = %s"
            await self._pool.run(lambda link: link.execute(remove, (self._handle.owner,)))

    def crash(self) -> None:
        """Stop at once, as if the process had died."""
        self._stop_timer()
        self._task.cancel()
        if self._link is not None:
            self._link.pgconn.finish()


async def _look(link: Link, owner: str) -> tuple[int, bool] | None:
    row = await (await link.execute(_LOOK.encode(), (owner,))).fetchone()
    return None if row is None else (row[0], row[1])
