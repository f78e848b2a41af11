"""`callboard workers`."""

from datetime import datetime

import click

from callboard.board.protocol import Board
from callboard.cli import options
from callboard.cli.exit import DONE, FAILED
from callboard.cli.format import between, one_line
from callboard.cli.printing import Cell, print_json, print_table
from callboard.cli.screen import Screen
from callboard.cli.targets import Target
from callboard.display.amounts import counted
from callboard.engine.workers import (
    LOOKED_AT,
    WorkerInfo,
    WorkerOverview,
    WorkerSession,
)
from callboard.events.moments import from_ms

_UNKNOWN = "unknown"


@click.command("workers")
@options.anywhere
def command(place: Target, as_json: bool) -> int:
    """List the processes that drive sessions, and sessions that none can drive.

    The exit code is 1 if a session has work to do that no running worker can do, and 0 otherwise.
    """

    async def look(board: Board) -> tuple[WorkerOverview, int]:
        return await board.workers(), board.clock.now_ms()

    found, now_ms = place.look(look)
    if as_json:
        print_json([found.to_wire()])
    else:
        _print(Screen(), found, place, from_ms(now_ms))
    return FAILED if found.stranded_count else DONE


def _print(screen: Screen, found: WorkerOverview, place: Target, now: datetime) -> None:
    if found.workers:
        _print_workers(screen, found, now)
    else:
        start = (place.worker_command(), "command")
        screen.line("No workers are running. Start one: ", start)
    _print_driven(screen, found, now)
    _print_stranded(screen, found)
    if found.ready_count:
        screen.line()
        screen.line(f"{counted(found.ready_count, 'session')} ready, waiting for a worker.")
    if found.limited:
        screen.line((f"Only {LOOKED_AT:,} sessions were looked at.", "faint"))


def _print_workers(screen: Screen, found: WorkerOverview, now: datetime) -> None:
    rows = [_worker(screen, one, now) for one in found.workers]
    print_table(screen, ["process", "host", "status", "open for", "sessions", "workflows"], rows)


def _worker(screen: Screen, one: WorkerInfo, now: datetime) -> list[Cell]:
    status: Cell = (f"{screen.signs.done} running", "done")
    if not one.alive:
        status = (f"{screen.signs.failed} not responding", "failed")
    workflows = one_line(", ".join(map(str, one.workflows)))
    return [
        str(one.pid),
        one_line(one.host) or _UNKNOWN,
        status,
        _UNKNOWN if one.since is None else between(from_ms(one.since), now),
        str(one.session_count),
        workflows or "its own session",
    ]


def _print_driven(screen: Screen, found: WorkerOverview, now: datetime) -> None:
    driven = [(one, each) for one in found.workers if one.alive for each in one.sessions]
    if not driven:
        return
    screen.line()
    heads = ["session", "title", "workflow", "phase", "in phase for", "process"]
    print_table(screen, heads, [_session(one, each, now) for one, each in driven])
    if found.driven_count > len(driven):
        screen.line((f"And {found.driven_count - len(driven)} more.", "faint"))


def _session(worker: WorkerInfo, one: WorkerSession, now: datetime) -> list[Cell]:
    return [
        one.session_id,
        one_line(one.title or "", 40),
        one_line(one.workflow),
        one_line(one.phase or "not started"),
        _UNKNOWN if one.since is None else between(from_ms(one.since), now),
        f"{worker.pid} on {one_line(worker.host)}",
    ]


def _print_stranded(screen: Screen, found: WorkerOverview) -> None:
    if not found.stranded:
        return
    screen.line()
    count = counted(found.stranded_count, "session")
    screen.line((f"{count} that no running worker can drive", "failed"))
    for one in found.stranded:
        name = f"  {one_line(one.title, 40)}" if one.title else ""
        screen.line((one.session_id, "name"), name, f"  {one_line(one.reason)}")
        screen.line("  ", (f"{screen.signs.arrow} {one.next_step}", "command"))
    if found.stranded_count > len(found.stranded):
        more = found.stranded_count - len(found.stranded)
        screen.line((f"And {more} more.", "faint"))
