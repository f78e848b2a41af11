"""The board: plates, and what programs other than hooks report about them."""

from typing import Annotated

from fastapi import Path, Query, Request, Response

from callboard.board.hook_backlog import HookBacklog
from callboard.board.hosts import Host
from callboard.board.identity import limited
from callboard.board.plate import Plate
from callboard.board.program_reports import report_of
from callboard.board.replies import EventsPage, PlateList, Recorded, Stopped
from callboard.board.unsaid_events import without_conversation
from callboard.errors import ValidationError
from callboard.log.protocol import Portion
from callboard.server import routing
from callboard.server.access.identity import Identity
from callboard.server.access.requirement import Answers, Reads, Reports
from callboard.server.answer_rights import may_read_conversations
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.routes.streams import LARGEST, MOST, After, shown
from callboard.server.schemas import Limit, PlateChange, ProcessRequest, ReportRequest

router = routing.router("plates")

PlatePath = Annotated[str, Path(description="A plate's id.", min_length=1)]


@router.get("/plates", responses=gives(PlateList) | failures())
async def list_plates(
    serving: Serving,
    _: Reads,
    dismissed: Annotated[bool, Query(description="Include dismissed plates.")] = False,
) -> Response:
    """List coding agent sessions, with those that need a person first."""
    found = await serving.plates.all(dismissed=dismissed)
    return reply(PlateList(found))


@router.get("/plates/backlog", responses=gives(HookBacklog) | failures())
async def show_backlog(serving: Serving, _: Reads) -> Response:
    """Show what hooks have reported and the server has not read yet. No plate shows it so far."""
    return reply(serving.spool.backlog)


@router.get("/plates/{plate_id}", responses=gives(Plate) | failures(404))
async def show_plate(serving: Serving, _: Reads, plate_id: PlatePath) -> Response:
    """Get one coding agent session."""
    return reply(await serving.plates.get(plate_id))


@router.get("/plates/{plate_id}/events", responses=gives(EventsPage) | failures(404))
async def read_plate(
    request: Request,
    serving: Serving,
    caller: Reads,
    plate_id: PlatePath,
    after: After = None,
    limit: Limit = MOST,
) -> Response:
    """List what happened on a plate, with the payloads of its hooks.

    Without the scope `operate`, results of tools, the texts of messages and most of what agents
    said are left out.
    """
    portion = Portion(min(limit, MOST), LARGEST)
    events = await serving.plates.events(plate_id, after or 0, portion)
    if not await may_read_conversations(serving, request, caller):
        events = [without_conversation(event) for event in events]
    return reply(await shown(serving, plate_id, events))


@router.patch("/plates/{plate_id}", responses=gives(Plate) | failures(404))
async def change_plate(
    serving: Serving, caller: Answers, plate_id: PlatePath, given: PlateChange
) -> Response:
    """Name a plate, pin it, or mark it as seen. An empty name removes the name."""
    changed = await serving.plates.change(
        plate_id, name=given.name, pinned=given.pinned, seen=given.seen, by=caller.name
    )
    return reply(changed)


@router.delete("/plates/{plate_id}", responses=gives(Plate) | failures(404))
async def dismiss_plate(serving: Serving, caller: Answers, plate_id: PlatePath) -> Response:
    """Dismiss a plate from the board. A session that starts on it brings it back."""
    return reply(await serving.plates.dismiss(plate_id, by=caller.name))


@router.post(
    "/plates/register",
    status_code=201,
    responses=gives(Plate, 201, "The plate for the client.") | failures(),
)
async def register(serving: Serving, caller: Reports, given: ProcessRequest) -> Response:
    """Report that a client is about to start."""
    plate = await serving.plates.register(
        given.agent,
        project_path=given.project_path,
        session_id=given.session_id,
        pid=given.pid,
        proc_start=given.proc_start,
        host=_host_of(caller),
    )
    return reply(plate, 201)


@router.post("/plates/stopped", responses=gives(Stopped) | failures())
async def stopped(serving: Serving, caller: Reports, given: ProcessRequest) -> Response:
    """Report that a client's process has ended. Its plate is closed at once."""
    count = await serving.plates.stopped(
        project_path=given.project_path,
        session_id=given.session_id,
        pid=given.pid,
        proc_start=given.proc_start,
        host=_host_of(caller),
    )
    return reply(Stopped(count))


@router.post("/events", responses=gives(Recorded) | failures())
async def report(serving: Serving, caller: Reports, given: ReportRequest) -> Response:
    """Report an event of a client's session, in the board's own format."""
    if given.project_path is None and given.cwd is None:
        raise ValidationError("project_path: say where the client works.", field="project_path")
    await serving.plates.hear(limited(report_of(given.model_dump()), caller.host))
    return reply(Recorded())


def _host_of(caller: Identity) -> Host | None:
    """The host that the caller's token is limited to."""
    return None if caller.host is None else Host(caller.host, caller.host)
