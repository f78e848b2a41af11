"""Raw payloads of coding agents' hooks. The response is always 200, because any other status would
be printed into a person's terminal.
"""

import asyncio
import contextlib
import logging
from typing import Final

from fastapi import Request, Response
from starlette.types import Receive

from callboard.board.hook_folders import hooks_folder
from callboard.board.plate import Plate
from callboard.board.plate_store import Heard
from callboard.courier.mail import box_of, take_mail
from callboard.errors import StoreError
from callboard.server import routing
from callboard.server.access.requirement import identified
from callboard.server.problems import reply
from callboard.server.routes.common import failures
from callboard.server.service import Service
from callboard.vendors.agents import VENDORS
from callboard.waiting import wait_any

router = routing.router("hooks")

_log = logging.getLogger(__name__)

_EXTRA: dict[str, object] = {
    "requestBody": {"content": {"application/json": {"schema": {}}}, "required": False},
    "security": [{"HTTPBearer": []}, {"APIKeyCookie": []}],
}
_HEARD: Final = reply({})
_OURS: Final = b'"callboard":'
"""What our own client adds to a payload."""
_ANSWER = {
    200: {
        "description": "`{}`, or what the hook has to print to decide.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    },
    503: {"description": "The server stops; a held hook comes back to the next one."},
}


@router.post(
    "/hooks/{agent}",
    responses={**failures(), **_ANSWER},
    openapi_extra=_EXTRA,
)
async def hook(request: Request, agent: str) -> Response:
    """Receive a hook. If it asks a person, it is held open until there is an answer."""
    # Without dependencies: there are hundreds of these a second, and `HookShortcut` resolves none.
    host = identified(request, "hook").host
    serving: Service = request.app.state.service
    # Not `request.body()`, which would stay in memory while the hook is held.
    body: bytes = (await request.receive()).get("body", b"")
    try:
        if (away := serving.board.log.outage()) is not None:
            raise away
        heard = await serving.arrivals.hear(agent, body, host)
    except StoreError as error:
        # After a 200, the sender forgets the hook, so it must not be lost here.
        _log.error("A hook of %s could not be recorded: %s", agent, error.message)
        serving.spool.keep(agent, body, host)
        return _HEARD
    except Exception:
        # A bug of ours, and nothing that a person's terminal should show.
        _log.exception("A hook of %s could not be processed", agent)
        return _HEARD
    if heard is None:
        return _HEARD
    if heard.interaction_id is None and heard.continues:
        return await _plan_again(serving, agent, heard)
    if heard.interaction_id is None:
        return _mail(serving, heard.plate, body)
    del body
    return await _hold(serving, agent, heard, request.receive)


def _mail(serving: Service, plate: Plate, body: bytes) -> Response:
    """A message that waits for an HTTP hook. Our own client prints messages itself."""
    if plate.pid is None or _OURS in body or plate.host != serving.plates.host().id:
        return _HEARD
    folder = str(hooks_folder(serving.database))
    taken = take_mail(box_of(folder, plate.agent, plate.pid), body)
    # Whether it arrives is not known here; the client's transcript shows it.
    return _HEARD if taken is None else Response(taken[1], media_type="application/json")


async def _plan_again(serving: Service, agent: str, heard: Heard) -> Response:
    """Return the plan that was approved just before the agent cleared its context."""
    vendor = VENDORS.get(agent)
    if vendor is None or vendor.plan_again is None:
        return _HEARD
    plan = await serving.plates.lost_plan(heard.plate)
    return _HEARD if plan is None else reply(vendor.plan_again(plan))


async def _hold(serving: Service, agent: str, heard: Heard, receive: Receive) -> Response:
    id = heard.interaction_id
    assert id is not None
    waiting = asyncio.ensure_future(serving.holding.wait(id))
    try:
        if await wait_any(_left(receive), waiting) == 0:
            serving.leavings.add(id)
            return _HEARD  # The sender is gone and didn't get the answer.
        answered = waiting.result()
    finally:
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
    if answered is None:
        return reply({}, 503, {"Retry-After": "1", "Connection": "close"})
    vendor = VENDORS.get(agent)
    if vendor is None:
        return _HEARD
    if answered.for_agent is not None:
        plate = await serving.plates.hand_over(id, answered.for_agent)
        if plate is not None:
            serving.rounds.watch(plate, id)
    return reply(vendor.printed(answered))


async def _left(receive: Receive) -> None:
    """Wait until the sender of the request has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
