"""Deleting streams, in slices, and rebuilding the views. See `callboard.log.sqlite.deletion`.

Streams have no order by age here, so a pass over the deleted ones may free others that it has
already looked at: there are passes until one frees nothing.
"""

from collections.abc import Callable, Sequence

from callboard.events.envelope import Event
from callboard.events.rows import KEYS, SESSION_COLUMN, SHARED, Projection
from callboard.log.admission import admit_deletion
from callboard.log.postgres.connections import Link
from callboard.log.postgres.reader import all_after, kept_for_forks
from callboard.log.postgres.setup import LOCKS, TRIMMING
from callboard.log.postgres.views import check, statements

_FIND = "SELECT key, owner FROM streams WHERE id = %s AND hidden = 0 FOR UPDATE"
_HIDE = """
UPDATE streams SET hidden = 1, owner = NULL, settled = head, unsettled = false WHERE key = %s
"""
_TO_TRIM = "SELECT key, base FROM streams WHERE hidden = 1 ORDER BY key DESC"
_NEEDED = "SELECT max(base_position) FROM streams WHERE base = %s"
# The newest event is kept, as in the other logs.
_REMOVE = """
DELETE FROM events WHERE seq IN (
    SELECT seq FROM events WHERE stream = %s AND position > %s AND seq < (SELECT seq FROM log)
    LIMIT %s
)
"""
_UNNEEDED = "SELECT 1 FROM events WHERE stream = %s AND position > %s LIMIT 1"
_DROP_SHARED = (
    f"DELETE FROM {SHARED} WHERE {SESSION_COLUMN[SHARED]} = "
    "(SELECT id FROM streams WHERE key = %s) AND position > %s"
).encode()
_CUT_OFF = "UPDATE streams SET base = NULL, base_position = 0 WHERE key = %s"


async def hide(link: Link, stream: str, alive: Callable[[str], bool]) -> None:
    """Hide a stream and drop its rows, in the open transaction."""
    row = await (await link.execute(_FIND, (stream,))).fetchone()
    key, owner = row or (0, None)
    admit_deletion(stream, owner if owner and alive(owner) else None, exists=row is not None)
    await link.execute(_HIDE, (key,))
    for view, column in SESSION_COLUMN.items():
        if view != SHARED:
            await link.execute(f"DELETE FROM {view} WHERE {column} = %s".encode(), (stream,))
    await link.execute(_DROP_SHARED, (key, await _needed(link, key) or 0))


async def _needed(link: Link, key: int) -> int | None:
    """The position up to which forks read a stream's own events; None without forks."""
    row = await (await link.execute(_NEEDED, (key,))).fetchone()
    return row[0] if row else None


async def trim(link: Link, limit: int) -> int:
    """Remove at most this many events that can no longer be read, in the open transaction."""
    await link.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCKS, TRIMMING))
    removed, is_done = 0, False
    while removed < limit and not is_done:
        is_done = True
        for key, base in await (await link.execute(_TO_TRIM)).fetchall():
            upto = await _needed(link, key)
            if upto is None and base is not None:
                await _cut_off(link, key, base)
                is_done = False
            removed += await _trim_stream(link, key, upto or 0, limit - removed)
            if removed >= limit:
                break
    return removed


async def _trim_stream(link: Link, key: int, kept: int, limit: int) -> int:
    removed = (await link.execute(_REMOVE, (key, kept, limit))).rowcount
    if await (await link.execute(_UNNEEDED, (key, kept))).fetchone() is None:
        await link.execute("UPDATE streams SET hidden = 2 WHERE key = %s", (key,))
    return removed


async def _cut_off(link: Link, key: int, base: int) -> None:
    """Detach a stream from the one it forked, which may then need less."""
    await link.execute(_CUT_OFF, (key,))
    sql = "UPDATE streams SET hidden = 1 WHERE key = %s AND hidden <> 0"
    if (await link.execute(sql, (base,))).rowcount:
        await link.execute(_DROP_SHARED, (base, await _needed(link, base) or 0))


async def rebuild(link: Link, project: Projection) -> int:
    """Rebuild the views in the open transaction; others read the old ones until it commits."""
    # Appends wait here, before they hold anything that we need.
    await link.execute("SET LOCAL lock_timeout = '30s'")
    await link.execute("LOCK TABLE streams IN SHARE ROW EXCLUSIVE MODE")
    for view in KEYS:
        await link.execute(f"DELETE FROM {view}".encode())
    count = last = 0
    while found := await all_after(link, last):
        await _write(link, [event for _, event in found], project)
        count += len(found)
        last = found[-1][0]
    hidden = await (await link.execute("SELECT key, id FROM streams WHERE hidden <> 0")).fetchall()
    for key, stream in hidden:
        kept = await kept_for_forks(link, stream, key, await _needed(link, key) or 0)
        await _write(link, kept, project, only=SHARED)
        count += len(kept)
    return count


async def _write(
    link: Link, events: Sequence[Event], project: Projection, only: str | None = None
) -> None:
    changes = [change for event in events for change in project(event)]
    wanted = [change for change in changes if only is None or change.table == only]
    for sql, values in statements(check(wanted)):
        await link.execute(sql, values)
