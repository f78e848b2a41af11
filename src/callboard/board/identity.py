"""Whose plate a report belongs to. Identity is the process, not the directory."""

from callboard.board.plate import Plate
from callboard.board.processes import is_alive
from callboard.events.rows import Query
from callboard.log.protocol import EventLog
from callboard.vendors.agents import VENDORS
from callboard.vendors.reports import Report

_CLEARED = "clear"


async def find_plate(log: EventLog, report: Report) -> Plate | None:
    """The plate of the client that reports: by its process, else by its session.

    A session that goes on in another process keeps its plate when the process before is over. In
    a client that tells no process, the session after `/clear` is found by its directory.
    """
    if report.pid is not None:
        plates = await _plates(log, pid=report.pid)
        same = [one for one in plates if _is_process(one, report) and _may_share(one, report)]
        if same:
            # Only without starts can there be several: then the session tells, or who was last.
            return max(same, key=lambda one: (one.session_id == report.session_id, one.updated_at))
    known = await of_session(log, report.session_id)
    if known is not None:
        return known if _may_continue(known, report) else None
    if report.project_path is None:
        return None
    if report.continues and report.pid is None:
        return await _cleared(log, report.agent, report.project_path)
    return await _announced(log, report.agent, report.project_path)


async def of_session(log: EventLog, session_id: str) -> Plate | None:
    """The plate that a client's session was last on."""
    rows = await log.rows(Query("plate_sessions", {"session_id": session_id}))
    if not rows:
        return None
    found = await log.rows(Query("plates", {"id": rows[0]["plate"]}))
    return Plate.from_row(found[0]) if found else None


def _is_process(plate: Plate, report: Report) -> bool:
    if plate.proc_start is not None and report.proc_start is not None:
        return plate.proc_start == report.proc_start
    # Numbers of processes are used again: without the start, only one that lives can be meant.
    return plate.status != "closed" or plate.session_id == report.session_id


def _may_continue(plate: Plate, report: Report) -> bool:
    if report.pid is None or plate.pid is None or plate.status == "closed":
        return True
    # It may have died a moment ago, and the next round has not seen it yet.
    return plate.pid == report.pid or not is_alive(plate.pid, plate.proc_start)


def _may_share(plate: Plate, report: Report) -> bool:
    """Whether what a process tells of one session belongs on the plate of another.

    Most clients have one session at a time. In one that has several, each is a plate.
    """
    vendor = VENDORS.get(report.agent)
    if vendor is None or not vendor.has_several:
        return True
    return plate.session_id == report.session_id or plate.status == "starting"


async def _announced(log: EventLog, agent: str, project_path: str) -> Plate | None:
    """A plate that waits for a client of which nobody knew the process."""
    waiting = [
        plate
        for plate in await _plates(log, project_path=project_path)
        if plate.agent == agent and plate.status == "starting" and plate.pid is None
    ]
    return min(waiting, key=lambda plate: plate.created_at, default=None)


async def _cleared(log: EventLog, agent: str, project_path: str) -> Plate | None:
    ended = [
        plate
        for plate in await _plates(log, project_path=project_path)
        if plate.agent == agent and plate.status == "closed" and plate.ended == _CLEARED
    ]
    return max(ended, key=lambda plate: plate.updated_at, default=None)


async def _plates(log: EventLog, **where: str | int) -> list[Plate]:
    return [Plate.from_row(row) for row in await log.rows(Query("plates", where))]
