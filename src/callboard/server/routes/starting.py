"""Start coding agents in the background, and stop them. Only people can."""

from fastapi import Request, Response

from callboard.board.plate import Plate
from callboard.board.starting import StartedPlate
from callboard.server import routing
from callboard.server.access.requirement import Operates
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.routes.plates import PlatePath
from callboard.server.schemas import AgentStartRequest

router = routing.router("starting", "/plates")


@router.post(
    "/start",
    status_code=201,
    responses=gives(StartedPlate, 201, "The agent is starting.") | failures(404, 409, 502, 504),
)
async def start_agent(
    request: Request, serving: Serving, caller: Operates, given: AgentStartRequest
) -> Response:
    """Start an agent in the background. Another machine has to allow `start`."""
    await check_person(serving, request, "start agents")
    started = await serving.board.starting.start(
        given.agent,
        folder=given.folder,
        prompt=given.prompt,
        host=given.host,
        resume=given.resume,
        by=caller.name,
    )
    return reply(started, 201)


@router.post("/{plate_id}/stop", responses=gives(Plate) | failures(404, 409, 502, 504))
async def stop_agent(
    request: Request, serving: Serving, caller: Operates, plate_id: PlatePath
) -> Response:
    """Let an agent end that was started in the background. It is killed after five seconds."""
    await check_person(serving, request, "stop agents")
    return reply(await serving.board.starting.stop(plate_id, by=caller.name))
