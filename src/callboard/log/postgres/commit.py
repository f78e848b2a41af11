"""Commits groups of appends, each in one transaction that is sent at once.

The first attempt trusts what is remembered about the streams, and the database compares. If another
handle was faster, the next attempt reads them and locks them first, so it can't be overtaken again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from callboard.errors import StoreError
from callboard.log.appending import AppendRequest, Committed, KnownStream
from callboard.log.postgres.connections import WRITER, Execution, Link, delays, send_together
from callboard.log.postgres.connector import Connector
from callboard.log.postgres.errors import (
    is_about_values,
    is_conflict,
    is_locked,
    is_lost,
    translate,
)
from callboard.log.postgres.plan import Facts, GroupPlan, Place, Rules, make_plan
from callboard.log.postgres.reader import STREAM, known_stream
from callboard.log.postgres.views import statements
from callboard.log.records import id_bytes

Result = TypeVar("Result")

_REMEMBERED = 10_000
"""The number of streams to cache; 100,000 waiting sessions must not take up memory."""
_ENDS_WITHIN = 20
"""How often to look whether the process of a lost connection has ended."""
_KEYS_IN_BLOCK = 64
"""As the sequence `stream_keys` counts."""

_SELECT = f"SELECT {STREAM} FROM streams WHERE id = ANY (%s)"
_LOCK = f"{_SELECT} ORDER BY key FOR NO KEY UPDATE"
_OWNERS = """
WITH RECURSIVE part (asked, position, key, base, start) AS (
    SELECT wanted.key, wanted.position, streams.key, streams.base, streams.base_position
    FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (key, position)
    JOIN streams ON streams.key = wanted.key
    UNION ALL
    SELECT part.asked, part.position, streams.key, streams.base, streams.base_position
    FROM part JOIN streams ON streams.key = part.base WHERE part.position <= part.start
)
SELECT asked, position, key FROM part WHERE base IS NULL OR position > start
"""
_CREATE = (
    b"SELECT create_streams(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], "
    b"%s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])"
)
_MOVE = (
    b"SELECT move_streams(%s::bigint[], %s::bigint[], %s::text[], %s::bigint[], %s::bigint[], "
    b"%s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[])"
)
_WRITE = (
    b"SELECT write_events(%s::bigint[], %s::bigint[], %s::bytea[], %s::text[], %s::bigint[], "
    b"%s::bigint[], %s::bytea[], %b::bytea[])"
)
# Both in one statement, if there is nothing to do between them.
_MOVE_AND_WRITE = _MOVE + _WRITE.replace(b"SELECT", b",", 1)
# A writer that was stopped in the middle of a group keeps its locks, and has committed nothing.
_FREE = f"""
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = '{WRITER}' AND datname = current_database() AND pid <> pg_backend_pid()
    AND wait_event = 'ClientRead' AND xact_start < clock_timestamp() - interval '4 seconds'
"""
_ME = "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
_END = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s
"""


class GroupCommit:
    """Writes groups through one connection, one at a time."""

    def __init__(self, connector: Connector, rules: Rules) -> None:
        self.held: set[str] = set()
        self.wrote: tuple[int, int] | None = None
        """The first and the last sequence of the last group."""
        self._connector = connector
        self._address = connector.address
        self._rules = rules
        self._link: Link | None = None
        self._backend: tuple[object, ...] = ()
        self._streams: dict[str, KnownStream] = {}
        self._keys: list[int] = []
        self._unsure: GroupPlan | None = None
        """A plan that was sent over a connection that was lost before the reply."""

    async def link(self) -> Link:
        """The connection, a new one if it was lost."""
        if self._link is None or self._link.closed:
            self._streams.clear()
            self._link = link = await self._connector.connect(WRITER)
            before = self._backend
            self._backend = await (await link.execute(_ME)).fetchone() or ()
            if before and self._unsure is not None:
                await _wait_for_end(link, before)
        return self._link

    async def commit(self, group: Sequence[AppendRequest]) -> Committed:
        """Do what the group asks. Never raises: an error applies to every request in it."""
        try:
            return await self._commit(group)
        except psycopg.Error as error:
            if len(group) > 1 and is_about_values(error):
                return await self._commit_one_by_one(group)
            return [self._failure(error) for _ in group], {}
        except Exception as error:
            return [self._failure(error) for _ in group], {}

    async def _commit_one_by_one(self, group: Sequence[AppendRequest]) -> Committed:
        """Commit each on its own, so that a value that no table accepts fails only its request."""
        parts = [await self.commit([request]) for request in group]
        heads: dict[str, int] = {}
        for _, changed in parts:
            heads |= changed
        return [outcome for outcomes, _ in parts for outcome in outcomes], heads

    def _failure(self, error: Exception) -> Exception:
        # One exception each, because the waiting tasks would otherwise share one traceback.
        place = self._address.name
        if isinstance(error, psycopg.Error) and not is_about_values(error):
            failure = translate(error, place)
        elif isinstance(error, StoreError):
            failure = type(error)(error.message, **error.context)
        else:
            failure = StoreError(f"{place} cannot hold a value: {error}.", path=place)
        failure.__cause__ = error
        return failure

    async def _commit(self, group: Sequence[AppendRequest]) -> Committed:
        deadline = self._rules.clock.monotonic() + self._address.patience
        locks = False
        for delay in delays():
            try:
                plan = await self._attempt(group, locks=locks)
            except psycopg.Error as error:
                self._forget(group)
                await self._recover(error, deadline, delay)
                locks = locks or is_conflict(error)
            except BaseException:
                await self._roll_back()
                raise
            else:
                self._remember(plan)
                return plan.outcomes, plan.heads
        raise AssertionError  # There is always another delay.

    async def run(self, work: Callable[[Link], Awaitable[Result]]) -> Result:
        """Do something in a transaction; it is repeated if another one was first."""
        deadline = self._rules.clock.monotonic() + self._address.patience
        for delay in delays():
            try:
                link = await self.link()
                async with link.transaction():
                    return await work(link)
            except psycopg.Error as error:
                try:
                    await self._recover(error, deadline, delay)
                except psycopg.Error:
                    raise translate(error, self._address.name) from error
        raise AssertionError  # There is always another delay.

    async def _recover(self, error: psycopg.Error, deadline: float, delay: float) -> None:
        """Prepare for another attempt; raises the error if there can't be one."""
        await self._roll_back()
        if not (is_conflict(error) or is_locked(error) or is_lost(error)):
            raise error
        is_away = self._connector.is_cut_off and is_lost(error)
        if is_away or self._rules.clock.monotonic() > deadline:
            if self._unsure is None:
                raise error
            self._unsure = None
            raise StoreError(
                f"The connection to {self._address.name} was lost during a commit, so it isn't "
                "known whether these events were written. Read the session before you repeat it.",
                path=self._address.name,
            ) from error
        if is_locked(error):
            await self._free_locks()
        if is_lost(error):
            await asyncio.sleep(delay)

    async def _attempt(self, group: Sequence[AppendRequest], *, locks: bool) -> GroupPlan:
        link = await self.link()
        if self._unsure is not None:
            unsure, self._unsure = self._unsure, None
            if await _was_written(link, unsure):
                return unsure
        if locks:
            await link.execute("BEGIN")
        plan = await self._plan(link, group, locks=locks)
        self._unsure = plan
        await self._write(link, plan, in_transaction=locks)
        self._unsure = None
        return plan

    async def _plan(self, link: Link, group: Sequence[AppendRequest], *, locks: bool) -> GroupPlan:
        """Decide, and read streams until nothing is doubtful."""
        named = {request.stream for request in group}
        named |= {request.writing.base.stream for request in group if request.writing.base}
        missing = named if locks else {one for one in named if one not in self._streams}
        fresh: set[str] = set()
        owners: dict[Place, int] = {}
        while True:
            if missing:
                await self._load(link, missing, _LOCK if locks else _SELECT)
                fresh |= missing
            await self._need_keys(link, sum(one not in self._streams for one in named))
            facts = Facts(self._streams, fresh, self._keys, owners, self._connector.incarnation)
            plan = make_plan(self._rules, facts, group)
            if not plan.doubtful and not plan.unknown:
                return plan
            missing = plan.doubtful
            if plan.unknown:
                owners |= await _find_owners(link, plan.unknown)

    async def _load(self, link: Link, streams: Collection[str], sql: str) -> None:
        for stream in streams:
            self._streams.pop(stream, None)
        async for row in await link.execute(sql.encode(), (list(streams),)):
            known = known_stream(row)
            self._streams[known.id] = known

    async def _need_keys(self, link: Link, count: int) -> None:
        while len(self._keys) < count:
            row = await (await link.execute("SELECT nextval('stream_keys')")).fetchone()
            assert row is not None
            self._keys += range(row[0], row[0] + _KEYS_IN_BLOCK)

    async def _write(self, link: Link, plan: GroupPlan, *, in_transaction: bool) -> None:
        # The counter comes last, because everyone else who writes waits for it.
        self.wrote = None
        executions: list[Execution] = [*_stream_writes(plan, self._streams)]
        executions += statements(plan.changes)
        if plan.events:
            executions.append(_event_writes(plan))
        if [sql for sql, _ in executions] == [_MOVE, _WRITE]:
            executions = [(_MOVE_AND_WRITE, [*executions[0][1], *executions[1][1]])]
        if in_transaction:
            executions.append((b"COMMIT", []))
        if len(executions) == 1:
            ((sql, values),) = executions
            cursor = await link.execute(sql, values)
            if plan.events:
                self._note_sequence(plan, await cursor.fetchone())
        elif executions:
            row = await send_together(link, executions, sum(len(one[-1]) for one in plan.events))
            if plan.events:
                self._note_sequence(plan, row)

    def _note_sequence(self, plan: GroupPlan, row: tuple[int, ...] | None) -> None:
        assert row is not None
        self.wrote = (row[-1] - len(plan.events) + 1, row[-1])

    async def _roll_back(self) -> None:
        link = self._link
        if link is not None and not link.closed:
            with suppress(psycopg.Error):
                if link.info.transaction_status != TransactionStatus.IDLE:
                    await link.execute("ROLLBACK")
                self._unsure = None

    async def _free_locks(self) -> None:
        """Disconnect writers that have held locks for too long without doing anything."""
        with suppress(psycopg.Error):
            await (await self.link()).execute(_FREE.encode())

    def _forget(self, group: Sequence[AppendRequest]) -> None:
        for request in group:
            self._streams.pop(request.stream, None)
            if request.writing.base:
                self._streams.pop(request.writing.base.stream, None)

    def forget(self, stream: str) -> None:
        """Forget the cached state of a stream that was changed elsewhere."""
        self._streams.pop(stream, None)
        self.held.discard(stream)

    def learn(self, grown: Sequence[KnownStream]) -> None:
        """Update what is remembered about streams that others wrote to."""
        for known in grown:
            before = self._streams.get(known.id)
            # What was read before our own last commit is older than what we remember.
            if before is not None and before.standing.head < known.standing.head:
                self._streams[known.id] = known

    def forget_all(self) -> None:
        """Forget all streams, and the keys for new ones, which others may get as well."""
        self._streams.clear()
        self._keys.clear()

    def _remember(self, plan: GroupPlan) -> None:
        del self._keys[: len(plan.created)]
        for known in (*plan.created.values(), *plan.moved.values()):
            self._streams[known.id] = known
            if known.standing.owner == self._rules.claimant.owner:
                self.held.add(known.id)
            else:
                self.held.discard(known.id)
        if len(self._streams) > _REMEMBERED:
            for stream in list(islice(self._streams, _REMEMBERED // 2)):
                del self._streams[stream]

    def close(self) -> None:
        """Close the connection, at once."""
        if self._link is not None:
            self._link.pgconn.finish()


def _stream_writes(plan: GroupPlan, before: dict[str, KnownStream]) -> list[Execution]:
    found: list[Execution] = []
    if plan.created:
        rows = [
            (new.id, new.key, new.base, new.base_position, *_state(new), new.updated_at)
            for new in plan.created.values()
        ]
        columns: list[list[object]] = [list(column) for column in zip(*rows, strict=True)]
        found.append((_CREATE, [*columns, list(plan.parents)]))
    if plan.moved:
        rows = [
            (new.key, *_state(before[new.id]), *_state(new), new.updated_at)
            for new in plan.moved.values()
        ]
        found.append((_MOVE, [list(column) for column in zip(*rows, strict=True)]))
    return found


def _state(known: KnownStream) -> tuple[int, str | None, int, int]:
    return known.standing


def _event_writes(plan: GroupPlan) -> Execution:
    streams, positions, ids, names, versions, times, causes, payloads = zip(
        *plan.events, strict=True
    )
    stored = [id_bytes(id) for id in ids]
    caused = [None if cause is None else id_bytes(cause) for cause in causes]
    columns = (streams, positions, stored, names, versions, times, caused, payloads)
    return _WRITE, [list(column) for column in columns]


async def _find_owners(link: Link, places: Collection[Place]) -> dict[Place, int]:
    keys, positions = zip(*places, strict=True)
    rows = await link.execute(_OWNERS, (list(keys), list(positions)))
    return {(asked, position): key async for asked, position, key in rows}


async def _wait_for_end(link: Link, backend: tuple[object, ...]) -> None:
    """Wait until a lost connection's backend has ended: it may still commit until then."""
    for delay in islice(delays(), _ENDS_WITHIN):
        if not await (await link.execute(_END, backend)).fetchall():
            return
        await asyncio.sleep(delay)
    raise StoreError(
        "A connection was lost during a commit, and the server doesn't end its process, so it "
        "isn't known whether these events were written."
    )


async def _was_written(link: Link, plan: GroupPlan) -> bool:
    """Whether a plan was committed, although we got no reply. All of it was, or nothing."""
    if plan.events:
        key, position, id, *_ = plan.events[0]
        sql = "SELECT id FROM events WHERE stream = %s AND position = %s"
        row = await (await link.execute(sql, (key, position))).fetchone()
        return row is not None and row[0] == id_bytes(id)
    changed = {new.id: new for new in (*plan.created.values(), *plan.moved.values())}
    rows = await (await link.execute(_SELECT, (list(changed),))).fetchall()
    now = {row[0]: (row[1], *row[5:9]) for row in rows}
    return now == {id: (new.key, *_state(new)) for id, new in changed.items()}
