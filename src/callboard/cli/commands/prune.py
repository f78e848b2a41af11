"""`callboard prune --older-than PERIOD`."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import click

from callboard.app import Callboard
from callboard.cli import options
from callboard.cli.doctor.findings import amount
from callboard.cli.format import moment
from callboard.cli.printing import bar, print_json
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.cli.units import period
from callboard.display.amounts import counted
from callboard.errors import SessionNotFound, StoreError, ValidationError
from callboard.events.moments import from_ms
from callboard.events.rows import Query
from callboard.events.shapes import Shape
from callboard.events.status import ENDED
from callboard.log.protocol import EventLog

CLOSED: Final = "closed"
_PRUNABLE = (*ENDED, CLOSED)
_NOTHING = "Nothing to delete."


@dataclass(frozen=True, slots=True)
class Outdated(Shape):
    """A session or plate that can be deleted, and its number of events."""

    session_id: str
    workflow: str
    status: str
    updated_at: datetime
    position: int


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed; `freed` is None if the file could not be shrunk."""

    sessions: int
    events: int
    freed: int | None


def _statuses(ctx: click.Context, parameter: click.Parameter, given: str) -> tuple[str, ...]:
    statuses = tuple(one.strip() for one in given.split(",") if one.strip())
    if not statuses or any(status not in _PRUNABLE for status in statuses):
        raise click.BadParameter(f"choose from {', '.join(_PRUNABLE)}, separated by commas.")
    return statuses


@click.command("prune")
@click.option(
    "--older-than",
    type=period,
    metavar="PERIOD",
    required=True,
    help="Minimum time since the last change: 12h, 30d, 8w.",
)
@click.option(
    "--status",
    "statuses",
    metavar="LIST",
    callback=_statuses,
    default=",".join(_PRUNABLE),
    show_default=True,
    help="Filter by status; closed stands for plates of coding agents.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, without deleting it.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@options.common
def command(
    older_than: timedelta,
    statuses: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    database: Database,
    as_json: bool,
) -> None:
    """Permanently delete old sessions and plates.

    Forks are kept. Afterwards the file is shrunk if no other process has the database open;
    otherwise its free space is reused.
    """
    screen = Screen()

    async def look(board: Callboard) -> tuple[list[Outdated], int]:
        now = board.clock.now_ms()
        before = now - int(older_than.total_seconds() * 1000)
        return await _outdated(board.log, before, statuses), now

    found, now_ms = database.ask(look)
    if dry_run:
        return _say(screen, found, now_ms, as_json=as_json)
    if found and not yes:
        _confirm(screen, found, now_ms)
    pruned = database.ask(lambda board: remove(board, found)) if found else Pruned(0, 0, 0)
    return _tell(screen, pruned, as_json=as_json)


async def _outdated(log: EventLog, before_ms: int, statuses: tuple[str, ...]) -> list[Outdated]:
    """The sessions and plates that ended this way and last changed by then, oldest first."""
    before = ("updated_at", before_ms)
    ended = ("status", tuple(one for one in statuses if one in ENDED))
    # A session with an open interactive session is still needed, for its record.
    pending = await log.rows(Query("human_interactions", {"status": "pending"}))
    needed = {row["execution_id"] for row in pending}
    found = [
        Outdated(
            session_id=row["id"],
            workflow=row["workflow"],
            status=row["status"],
            updated_at=from_ms(row["updated_at"]),
            position=row["position"],
        )
        for row in await log.rows(Query("sessions", at_most=before, one_of=ended))
        if row["id"] not in needed
    ]
    if CLOSED in statuses:
        found += [
            Outdated(
                session_id=row["id"],
                workflow=row["agent"],
                status=CLOSED,
                updated_at=from_ms(row["updated_at"]),
                position=await log.head(row["id"]),
            )
            for row in await log.rows(Query("plates", {"status": CLOSED}, at_most=before))
        ]
    return sorted(found, key=lambda one: one.updated_at)


def _say(screen: Screen, found: Sequence[Outdated], now_ms: int, *, as_json: bool) -> None:
    """Print what would be removed: each session for programs, the totals for people."""
    if as_json:
        print_json(one.to_wire() for one in found)
    else:
        said = f"Would delete {_summary(found, now_ms)}." if found else _NOTHING
        screen.line(said)


def _summary(found: Sequence[Outdated], now_ms: int) -> str:
    counts = Counter(one.status for one in found)
    kinds = ", ".join(f"{counts[status]} {status}" for status in _PRUNABLE if counts[status])
    events = counted(sum(one.position for one in found), "event")
    now = from_ms(now_ms)
    oldest, newest = moment(found[0].updated_at, now), moment(found[-1].updated_at, now)
    return f"{counted(len(found), 'session')} ({kinds}; {events}; from {oldest} to {newest})"


def _confirm(screen: Screen, found: Sequence[Outdated], now_ms: int) -> None:
    if not (sys.stdin.isatty() and screen.is_terminal):
        raise ValidationError(
            f"This would permanently delete {_summary(found, now_ms)}. Confirm with --yes, or "
            "preview with --dry-run.",
            field="yes",
        )
    screen.line(f"This permanently deletes {_summary(found, now_ms)}.")
    click.confirm("Continue?", default=False, abort=True)


async def remove(board: Callboard, found: Sequence[Outdated]) -> Pruned:
    """Remove these sessions, then their events, then the space they took."""
    # Standard output may be for a program.
    screen = Screen(sys.stderr)
    sessions = events = 0
    with bar(screen, "Deleting sessions") as report:
        for number, one in enumerate(found, 1):
            try:
                if one.status == CLOSED:
                    await board.log.delete(one.session_id)
                else:
                    await board.operations.delete(one.session_id, trim=False)
                sessions += 1
            except SessionNotFound:
                pass  # Another process was faster.
            report(number, len(found))
    total = sum(one.position for one in found)
    with bar(screen, "Deleting events") as report:
        while removed := await board.log.trim():
            events += removed
            report(min(events, total), total)
    return Pruned(sessions, events, await _free(board))


async def _free(board: Callboard) -> int | None:
    if board.log.path is None:
        return 0  # In PostgreSQL, there is no file to shrink.
    try:
        return await board.compact()
    except StoreError:
        # The sessions are gone anyway; only the file hasn't shrunk.
        return None


def _tell(screen: Screen, pruned: Pruned, *, as_json: bool) -> None:
    if as_json:
        counts = {"sessions": pruned.sessions, "events": pruned.events}
        return print_json([{"ok": True, **counts, "bytesFreed": pruned.freed}])
    if not pruned.sessions:
        return screen.line(_NOTHING)
    screen.line(
        f"Deleted {counted(pruned.sessions, 'session')}, {counted(pruned.events, 'event')}."
    )
    if pruned.freed is None:
        screen.line(
            "The file wasn't shrunk: other processes have the database open, or the disk is "
            "nearly full. Its free space will be reused."
        )
    elif pruned.freed:
        screen.line(f"The file is {amount(pruned.freed)} smaller.")
    return None
