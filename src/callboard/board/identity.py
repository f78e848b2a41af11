"""Whose plate a report belongs to. Identity is the process on its host, not the directory; where
sessions of many terminals run in one daemon, it is the session."""

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
    """Reads plates from the log. Those that were recorded before hosts were belong to this one."""

    def __init__(self, log: EventLog, host: Callable[[], Host]) -> None:
        self._log = log
        self._host = host

    async def all(self, query: Query) -> list[Plate]:
        """The plates that a query of their view finds."""
        return [self._placed(Plate.from_row(row)) for row in await self._log.rows(query)]

    async def here(self, query: Query) -> list[Plate]:
        """Those of them whose clients run on this host."""
        return [plate for plate in await self.all(query) if plate.host == self._host().id]

    async def of_session(self, session_id: str, host: str | None = None) -> Plate | None:
        """The plate that a client's session was last on; `host` where only one is meant."""
        rows = await self._log.rows(Query("plate_sessions", {"session_id": session_id}))
        ids = [row["plate"] for row in rows]
        found = await self.all(Query("plates", one_of=("id", ids))) if ids else []
        meant = [plate for plate in found if host in (None, plate.host)]
        # It may have continued in another process: on the plate that has it now, or had it last.
        return max(meant, key=lambda one: _currency(one, session_id), default=None)

    async def of(self, report: Report) -> Plate | None:
        """The plate of the client that reports: by its process, else by its session.

        A session that continues in another process keeps its plate when the process before is over.
        In a client that tells no process, the session after `/clear` is found by its directory.
        """
        if report.pid is not None:
            plates = await self._at(report, Query("plates", {"pid": report.pid}))
            same = [one for one in plates if _is_process(one, report) and _may_share(one, report)]
            if same:
                # Only without starts can there be several: the session tells, or who was last.
                return max(same, key=lambda one: _currency(one, report.session_id))
        known = await self.of_session(report.session_id, report.host)
        if known is not None:
            return known if _may_continue(known, report) else None
        return await self._announced(report)

    async def _announced(self, report: Report) -> Plate | None:
        """The plate that waits for this client, or that its `/clear` left."""
        if report.client_pid is not None:
            line = {one.pid: one.start for one in ancestors(report.client_pid)}
            started = await self._at(report, Query("plates", one_of=("pid", sorted(line))))
            for one in started:
                if one.status == "starting" and line.get(one.pid or 0) == one.proc_start:
                    return one
        if report.project_path is None:
            return None
        there = await self._at(report, Query("plates", {"project_path": report.project_path}))
        same = [one for one in there if one.agent == report.agent]
        if report.continues and report.pid is None:
            cleared = [one for one in same if one.status == "closed" and one.ended == "clear"]
            return max(cleared, key=lambda one: one.updated_at, default=None)
        # A plate may wait for a client of which no one knew the process.
        announced = [one for one in same if one.status == "starting" and one.pid is None]
        return min(announced, key=lambda one: one.created_at, default=None)

    async def _at(self, report: Report, query: Query) -> list[Plate]:
        """Those on the host that the report comes from."""
        return [one for one in await self.all(query) if one.host == report.host]

    def _placed(self, plate: Plate) -> Plate:
        if plate.host:
            return plate
        host = self._host()
        return plate.having(host=host.id, host_name=host.name)


def _currency(plate: Plate, session_id: str) -> tuple[bool, bool, int]:
    return plate.session_id == session_id, plate.status != "closed", plate.updated_at


def located(report: Report, host: Host) -> Report:
    """The report with the host that it is heard on, unless it came from another."""
    if report.host is not None:
        return report
    return replace(report, host=host.id, host_name=host.name, boot_id=host.boot_id)


def with_process(report: Report, host: Host) -> Report:
    """The report with what its process shows, if that runs here."""
    if report.pid is None or report.host != host.id:
        return report
    if report.proc_start is None:
        report = replace(report, proc_start=started_at(report.pid))
    vendor = VENDORS.get(report.agent)
    return report if vendor is None or vendor.locate is None else vendor.locate(report)


def goes_on(plate: Plate, report: Report) -> bool:
    """Whether nothing is new about the client that reports: it is known by process and session."""
    if plate.session_id != report.session_id or plate.status == "closed":
        return False
    if report.pid is None:
        return True
    is_start = report.proc_start in (None, plate.proc_start)
    return report.pid == plate.pid and is_start and _is_same_boot(plate, report)


def session_key(report: Report) -> str:
    """What tells a session from all others: hosts that share their files share sessions too."""
    return f"{report.host}:{report.agent}:{report.session_id}"


def plate_key(report: Report) -> str:
    """What tells a client from all others: its session in a daemon, else its process."""
    if report.in_daemon or report.pid is None:
        return session_key(report)
    start = report.proc_start or report.session_id
    return f"{report.host}:{report.agent}:{report.boot_id}:{report.pid}:{start}"


def reattached(plate: Plate, report: Report) -> Report:
    """A prompt in a session whose terminal is gone comes from another one: the plate opens again.

    The daemon does not say so, because for it the session never ended.
    """
    is_left = plate.status == "closed" and plate.ended == plates.PROCESS_EXIT
    prompts = any(signal.name == plates.PROMPT_SUBMIT for signal in report.signals)
    if not (report.in_daemon and is_left and prompts):
        return report
    return replace(report, signals=(plates.SESSION_START({}), *report.signals))


def _is_same_boot(plate: Plate, report: Report) -> bool:
    """Whether the processes of both ran at the same time; so it is where no one says."""
    return not plate.boot_id or not report.boot_id or plate.boot_id == report.boot_id


def _is_process(plate: Plate, report: Report) -> bool:
    if not _is_same_boot(plate, report):
        return False
    if plate.proc_start is not None and report.proc_start is not None:
        return plate.proc_start == report.proc_start
    # Numbers of processes are used again: without the start, only one that lives can be meant.
    return plate.status != "closed" or plate.session_id == report.session_id


def _may_continue(plate: Plate, report: Report) -> bool:
    if report.pid is None or plate.pid is None:
        return True
    # The system knows which processes run. The board does not: one may have died a moment ago, and
    # an agent can report the end of its own session, or another start of its process.
    if not _is_same_boot(plate, report) or not is_alive(plate.pid, plate.proc_start):
        return True
    return plate.pid == report.pid and is_alive(report.pid, report.proc_start)


def _may_share(plate: Plate, report: Report) -> bool:
    """Whether the reports of a process on one session belong on the plate of another.

    Most clients have one session at a time. In one that has several, each is a plate.
    """
    if report.in_daemon:
        return plate.session_id == report.session_id
    vendor = VENDORS.get(report.agent)
    if vendor is None or not vendor.has_several:
        return True
    return plate.session_id == report.session_id or plate.status == "starting"


def new_plate(plate_id: str, report: Report, at_ms: int) -> Plate:
    """The plate of a client that nothing was heard of before."""
    return Plate(
        plate_id=plate_id,
        agent=report.agent,
        session_id=report.session_id,
        created_at=at_ms,
        updated_at=at_ms,
        last_event=plates.REGISTERED,
    )
