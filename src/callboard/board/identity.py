"""Which plate a report belongs to.

A plate is identified by its process on its host, not by the directory; if sessions of many
terminals run in one daemon, by the session.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace

from callboard.board.hosts import Host
from callboard.board.plate import Plate
from callboard.events import plates
from callboard.events.rows import Query
from callboard.log.protocol import EventLog
from callboard.systems.processes import ancestors, is_alive, started_at
from callboard.vendors.agents import VENDORS
from callboard.vendors.reports import Report


class PlateReader:
    """Reads plates from the log. Those from before hosts were recorded belong to this host."""

    def __init__(self, log: EventLog, host: Callable[[], Host]) -> None:
        self._log = log
        self._host = host

    async def all(self, query: Query) -> list[Plate]:
        """The plates that a query of their view finds."""
        return [self._placed(Plate.from_row(row)) for row in await self._log.rows(query)]

    async def here(self, query: Query) -> list[Plate]:
        """The plates among them whose clients run on this host."""
        return [plate for plate in await self.all(query) if plate.host == self._host().id]

    async def of_session(self, session_id: str, host: str | None = None) -> Plate | None:
        """The plate that a client's session was last on; `host` limits it to one host."""
        rows = await self._log.rows(Query("plate_sessions", {"session_id": session_id}))
        ids = [row["plate"] for row in rows]
        found = await self.all(Query("plates", one_of=("id", ids))) if ids else []
        meant = [plate for plate in found if host in (None, plate.host)]
        # It may have continued in another process: on the plate that has it now, or had it last.
        return max(meant, key=lambda one: _currency(one, session_id), default=None)

    async def of(self, report: Report) -> Plate | None:
        """The plate of the client that reports: by its process, otherwise by its session.

        A session that continues in another process keeps its plate if the previous process has
        ended. For a client that doesn't report its process, the session after `/clear` is found by
        its directory.
        """
        if report.pid is not None:
            plates = await self._at(report, Query("plates", {"pid": report.pid}))
            same = [one for one in plates if _is_process(one, report) and _may_share(one, report)]
            if same:
                # There can be several only without start times: prefer the same session, then the
                # latest.
                return max(same, key=lambda one: _currency(one, report.session_id))
        known = await self.of_session(report.session_id, report.host)
        if known is not None:
            return known if self._may_continue(known, report) else None
        return await self._announced(report)

    async def also_reported(self, report: Report) -> Plate | None:
        """The plate on which something else reports the same session already.

        An agent that speaks ACP can have our hooks, too. The session is the same in both, but hooks
        may come before the protocol says which one it is.
        """
        logged = [name for name, vendor in VENDORS.items() if vendor.is_logged]
        if report.agent in logged:
            return None
        found = await self._at(report, Query("plates", one_of=("agent", logged)))
        for one in found:
            is_same = one.session_id == report.session_id
            if one.status != "closed" and (is_same or _has_started_it(one, report, self._host())):
                return one
        return None

    def _may_continue(self, plate: Plate, report: Report) -> bool:
        if report.pid is None or plate.pid is None or not _is_same_boot(plate, report):
            return True
        if plate.host != self._host().id:
            # Its relay reports the end of a process before anything that came after it.
            is_same = plate.pid == report.pid and _is_process(plate, report)
            return is_same or plate.status in ("closed", "starting")
        # The system knows which processes run. The board does not: one may have died a moment ago,
        # and an agent can report the end of its own session, or another start time of its process.
        if not is_alive(plate.pid, plate.proc_start) or _has_started(plate, report):
            return True
        return plate.pid == report.pid and is_alive(report.pid, report.proc_start)

    async def _announced(self, report: Report) -> Plate | None:
        """The plate that waits for this client, or that its `/clear` left."""
        process = report.client_pid or report.pid
        if process is not None and report.host == self._host().id:
            # What was started may have started the client itself, as the scripts of npm do.
            line = sorted(one.pid for one in ancestors(process))
            for one in await self._at(report, Query("plates", one_of=("pid", line))):
                if _has_started(one, report):
                    return one
        if report.project_path is None:
            return None
        there = await self._at(report, Query("plates", {"project_path": report.project_path}))
        same = [one for one in there if one.agent == report.agent]
        if report.continues and report.pid is None:
            cleared = [one for one in same if one.status == "closed" and one.ended == "clear"]
            return max(cleared, key=lambda one: one.updated_at, default=None)
        # A plate may be waiting for a client whose process was not known.
        announced = [one for one in same if one.status == "starting" and one.pid is None]
        return min(announced, key=lambda one: one.created_at, default=None)

    async def _at(self, report: Report, query: Query) -> list[Plate]:
        """The plates on the host that the report comes from."""
        return [one for one in await self.all(query) if one.host == report.host]

    def _placed(self, plate: Plate) -> Plate:
        if plate.host:
            return plate
        host = self._host()
        return plate.having(host=host.id, host_name=host.name)


def _has_started(plate: Plate, report: Report) -> bool:
    """Whether what was started for a plate, and waits to be heard of, started this client."""
    if plate.status != "starting" or plate.agent != report.agent:
        return False
    line = ancestors(report.client_pid or report.pid or 0)
    return any((one.pid, one.start) == (plate.pid, plate.proc_start) for one in line)


def _has_started_it(plate: Plate, report: Report, here: Host) -> bool:
    """The same for a plate whose process reports for the client, which runs on this machine."""
    if plate.status != "starting" or report.host != here.id:
        return False
    line = ancestors(report.pid or 0)
    return any((one.pid, one.start) == (plate.pid, plate.proc_start) for one in line)


def _currency(plate: Plate, session_id: str) -> tuple[bool, bool, int]:
    return plate.session_id == session_id, plate.status != "closed", plate.updated_at


def limited(report: Report, host: str | None) -> Report:
    """The report as one of the host that its sender's token is limited to, whatever it says."""
    if host is None:
        return report
    # What a payload says about another host is not known to be true of this one.
    is_own = report.host == host
    name = report.host_name if is_own else None
    return replace(
        report, host=host, host_name=name or host, boot_id=report.boot_id if is_own else None
    )


def located(report: Report, host: Host) -> Report:
    """The report with the host that received it, unless it came from another one."""
    if report.host is not None:
        return report
    return replace(report, host=host.id, host_name=host.name, boot_id=host.boot_id)


def with_process(report: Report, host: Host) -> Report:
    """The report with details of its process, if that runs here."""
    if report.pid is None or report.host != host.id:
        return report
    if report.proc_start is None:
        report = replace(report, proc_start=started_at(report.pid))
    vendor = VENDORS.get(report.agent)
    return report if vendor is None or vendor.locate is None else vendor.locate(report)


def goes_on(plate: Plate, report: Report) -> bool:
    """Whether nothing about the reporting client is new: same process and same session."""
    if plate.session_id != report.session_id or plate.status == "closed":
        return False
    if report.pid is None:
        return True
    is_start = report.proc_start in (None, plate.proc_start)
    return report.pid == plate.pid and is_start and _is_same_boot(plate, report)


def session_key(report: Report) -> str:
    """Identifies a session: hosts that share their files share session ids, too."""
    return f"{report.host}:{report.agent}:{report.session_id}"


def plate_key(report: Report) -> str:
    """Identifies a client: by its session in a daemon, otherwise by its process."""
    if report.in_daemon or report.pid is None:
        return session_key(report)
    start = report.proc_start or report.session_id
    return f"{report.host}:{report.agent}:{report.boot_id}:{report.pid}:{start}"


def plate_id_for(report: Report) -> str:
    """The same id for every process that hears from a client, so that they share one plate."""
    who = plate_key(report).encode("utf-8", "replace")
    return "p" + hashlib.sha256(who).hexdigest()[:15]


def reattached(plate: Plate, report: Report) -> Report:
    """Reopen the plate of a session whose terminal is gone when a prompt comes from another one.

    The daemon doesn't report that, because for it the session never ended.
    """
    is_left = plate.status == "closed" and plate.ended == plates.PROCESS_EXIT
    prompts = any(signal.name == plates.PROMPT_SUBMIT for signal in report.signals)
    if not (report.in_daemon and is_left and prompts):
        return report
    return replace(report, signals=(plates.SESSION_START({}), *report.signals))


def _is_same_boot(plate: Plate, report: Report) -> bool:
    """Whether both processes ran in the same boot; true if that is unknown."""
    return not plate.boot_id or not report.boot_id or plate.boot_id == report.boot_id


def _is_process(plate: Plate, report: Report) -> bool:
    if not _is_same_boot(plate, report):
        return False
    if plate.proc_start is not None and report.proc_start is not None:
        return plate.proc_start == report.proc_start
    # Process ids are reused: without the start time, it can only be one that is alive.
    return plate.status != "closed" or plate.session_id == report.session_id


def _may_share(plate: Plate, report: Report) -> bool:
    """Whether a process's reports on one session belong on the plate of another.

    Most clients have one session at a time. In clients with several, each has its own plate.
    """
    if report.in_daemon:
        return plate.session_id == report.session_id
    vendor = VENDORS.get(report.agent)
    if vendor is None or not vendor.has_several:
        return True
    return plate.session_id == report.session_id or plate.status == "starting"


def new_plate(plate_id: str, report: Report, at_ms: int) -> Plate:
    """The plate of a client that was not heard from before."""
    return Plate(
        plate_id=plate_id,
        agent=report.agent,
        session_id=report.session_id,
        created_at=at_ms,
        updated_at=at_ms,
        last_event=plates.REGISTERED,
    )
