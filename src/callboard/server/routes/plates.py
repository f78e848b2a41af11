"""The board: plates, and what programs beside the agents' own hooks report of them."""

from typing import Annotated

from fastapi import Path, Query, Response

from callboard.board.plate import Plate
from callboard.board.reported import report_of
from callboard.errors import ValidationError
from callboard.log.protocol import Portion
from callboard.server import routing
from callboard.server.access.requirement import Answers, Reads, Reports
from callboard.server.plate_schemas import (
    HeardOut,
    PlateIn,
    PlateOut,
    PlatesOut,
    ProcessIn,
    ReportIn,
    StoppedOut,
)
from callboard.server.replies import reply
from callboard.server.routes.common import Serving
from callboard.server.routes.documented import failures, gives
from callboard.server.routes.streams import LARGEST, MOST, After, shown
from callboard.server.schemas import EventsOut, Limit

router = routing.router("plates")

PlatePath = Annotated[str, Path(description="A plate's id.", min_length=1)]


@router.get("/plates", responses=gives(PlatesOut) | failures())
async def list_plates(
    serving: Serving,
    _: Reads,
    dismissed: Annotated[bool, Query(description="Those that were dismissed too.")] = False,
) -> Response:
    """Every coding-agent session, those that need a person first."""
    found = sorted(await serving.plates.all(dismissed=dismissed), key=_urgency)
    return reply({"plates": [plate.to_wire() for plate in found]})


def _urgency(plate: Plate) -> tuple[bool, bool, bool, int]:
    return (not plate.attention, plate.status == "closed", not plate.pinned, -plate.updated_at)


@router.get("/plates/{plate_id}", responses=gives(PlateOut) | failures(404))
async def show_plate(serving: Serving, _: Reads, plate_id: PlatePath) -> Response:
    """One coding-agent session."""
    return reply((await serving.plates.get(plate_id)).to_wire())


@router.get("/plates/{plate_id}/events", responses=gives(EventsOut) | failures(404))
async def read_plate(
    serving: Serving,
    _: Reads,
    plate_id: PlatePath,
    after: After = None,
    limit: Limit = MOST,
) -> Response:
    """What happened on a plate, with the payloads of its hooks."""
    await serving.plates.get(plate_id)
    portion = Portion(min(limit, MOST), LARGEST)
    events = await serving.board.log.read(plate_id, after or 0, limit=portion)
    return reply(await shown(serving, plate_id, events))


@router.patch("/plates/{plate_id}", responses=gives(PlateOut) | failures(404))
async def change_plate(
    serving: Serving, caller: Answers, plate_id: PlatePath, given: PlateIn
) -> Response:
    """Name it, pin it, mark it as seen. An empty name takes the name away."""
    changed = await serving.plates.change(
        plate_id, name=given.name, pinned=given.pinned, seen=given.seen, by=caller.name
    )
    return reply(changed.to_wire())


@router.delete("/plates/{plate_id}", responses=gives(PlateOut) | failures(404))
async def dismiss_plate(serving: Serving, caller: Answers, plate_id: PlatePath) -> Response:
    """Take it off the board; a session that starts on it brings it back."""
    return reply((await serving.plates.dismiss(plate_id, by=caller.name)).to_wire())


@router.post(
    "/plates/register",
    status_code=201,
    responses=gives(PlateOut, 201, "A plate waits for the client.") | failures(),
)
async def register(serving: Serving, _: Reports, given: ProcessIn) -> Response:
    """A client is about to start."""
    plate = await serving.plates.register(
        given.agent,
        project_path=given.project_path,
        session_id=given.session_id,
        pid=given.pid,
        proc_start=given.proc_start,
    )
    return reply(plate.to_wire(), 201)


@router.post("/plates/stopped", responses=gives(StoppedOut) | failures())
async def stopped(serving: Serving, _: Reports, given: ProcessIn) -> Response:
    """A client's process has ended: its plate is closed at once."""
    count = await serving.plates.stopped(
        project_path=given.project_path,
        session_id=given.session_id,
        pid=given.pid,
        proc_start=given.proc_start,
    )
    return reply({"status": "ok", "count": count})


@router.post("/events", responses=gives(HeardOut) | failures())
async def report(serving: Serving, _: Reports, given: ReportIn) -> Response:
    """An event of a client's session, in the board's own words."""
    if given.project_path is None and given.cwd is None:
        raise ValidationError("project_path: say where the client works.", field="project_path")
    await serving.plates.hear(report_of(given.model_dump()))
    return reply({"status": "ok"})
