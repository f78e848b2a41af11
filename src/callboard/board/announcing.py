"""The plate of a client that is about to start, before anything is heard of the client itself."""

from dataclasses import dataclass, replace

from callboard.board.hosts import Host
from callboard.board.identity import plate_id_for
from callboard.board.plate import NOT_STARTED, Plate
from callboard.events import plates
from callboard.ids import short_id
from callboard.vendors.reports import Report


@dataclass(frozen=True, slots=True)
class Announcement:
    """A client that is about to start. session_id: the one that it continues, if that is known."""

    agent: str
    project_path: str
    session_id: str | None
    pid: int | None
    proc_start: str | None

    def is_of(self, plate: Plate) -> bool:
        """Whether an open plate is the client's already."""
        if self.pid is not None:
            return (plate.pid, plate.proc_start) == (self.pid, self.proc_start)
        return self.session_id is not None and plate.session_id == self.session_id

    def is_continued_by(self, plate: Plate) -> bool:
        """Whether the client continues the session of a plate that is closed."""
        has_ended = plate.status == "closed" and plate.session_id == self.session_id
        return self.pid is not None and plate.agent == self.agent and has_ended

    def plate(self, host: Host, now: int) -> Plate:
        """A new plate. The same for all who announce a process, so that there is only one."""
        session_id = self.session_id or f"{NOT_STARTED}{short_id()}"
        pid, start = self.pid, self.proc_start
        report = Report(
            self.agent,
            session_id,
            (),
            host=host.id,
            boot_id=host.boot_id,
            pid=pid,
            proc_start=start,
        )
        return Plate(
            plate_id=short_id() if pid is None or not start else plate_id_for(report),
            agent=self.agent,
            session_id=session_id,
            created_at=now,
            updated_at=now,
            project_path=self.project_path,
            pid=pid,
            proc_start=start,
            boot_id=host.boot_id,
            host=host.id,
            host_name=host.name,
            last_event=plates.REGISTERED,
        )

    def reopened(self, plate: Plate, host: Host, now: int) -> Plate:
        """The plate of a session that continues in another process."""
        return replace(
            plate,
            status="starting",
            status_at=now,
            updated_at=now,
            project_path=self.project_path,
            pid=self.pid,
            proc_start=self.proc_start,
            boot_id=host.boot_id,
            client_pid=None,
            client_start=None,
            last_event=plates.REGISTERED,
            error=None,
            ended=None,
            unseen=False,
            interrupted=False,
            dismissed=False,
            background=(),
            subagents=(),
        )
