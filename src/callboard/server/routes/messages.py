"""Messages to coding agents. Only people who may operate can write or list them.

Their text is also among the events of the plate, as prompts are.
"""

from typing import Annotated

from fastapi import Path, Request, Response

from callboard.board.messages import PlateInterrupted, PlateMessage, PlateMessages
from callboard.server import routing
from callboard.server.access.requirement import Operates
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.routes.plates import PlatePath
from callboard.server.schemas import MessageChange, MessageRequest

router = routing.router("messages", "/plates/{plate_id}")

_WHAT = "write to sessions"
MessagePath = Annotated[str, Path(description="A message's id.", min_length=1)]


@router.get("/messages", responses=gives(PlateMessages) | failures(404))
async def list_messages(
    request: Request, serving: Serving, _: Operates, plate_id: PlatePath
) -> Response:
    """List the messages to a session with their receipts, and how it can be reached now."""
    await check_person(serving, request, "read messages")
    return reply(await serving.board.messages.list(plate_id))


@router.post(
    "/messages",
    status_code=201,
    responses=gives(PlateMessage, 201, "It is queued.") | failures(404, 409),
)
async def write_message(
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    given: MessageRequest,
) -> Response:
    """Write to a session. The message is delivered as soon as its agent can take it."""
    if given.approval is None:
        await check_person(serving, request, _WHAT)
    written = await serving.board.messages.say(
        plate_id,
        given.text,
        when=given.when,
        approval=given.approval,
        key=given.key,
        by=caller.name,
        via=caller.via,
    )
    return reply(written, 201)


@router.patch("/messages/{message_id}", responses=gives(PlateMessage) | failures(404, 409))
async def change_message(
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    message_id: MessagePath,
    given: MessageChange,
) -> Response:
    """Edit or move a message that is still queued."""
    await check_person(serving, request, _WHAT)
    changed = await serving.board.messages.change(
        plate_id,
        message_id,
        text=given.text,
        when=given.when,
        before=given.before,
        by=caller.name,
    )
    return reply(changed)


@router.delete("/messages/{message_id}", responses=gives(PlateMessage) | failures(404, 409))
async def withdraw_message(
    request: Request,
    serving: Serving,
    caller: Operates,
    plate_id: PlatePath,
    message_id: MessagePath,
) -> Response:
    """Withdraw a message that is still queued. The agent never gets it."""
    await check_person(serving, request, _WHAT)
    return reply(await serving.board.messages.withdraw(plate_id, message_id, by=caller.name))


@router.post("/interrupt", responses=gives(PlateInterrupted) | failures(404, 409, 502, 504))
async def interrupt_plate(
    request: Request, serving: Serving, caller: Operates, plate_id: PlatePath
) -> Response:
    """Stop the agent's turn, as Esc does in its terminal."""
    await check_person(serving, request, "interrupt sessions")
    return reply(await serving.board.messages.interrupt(plate_id, by=caller.name, via=caller.via))
