"""Raw payloads of agents' hooks. Whatever comes, the answer is 200: any other is printed into a
person's terminal."""

import asyncio
import contextlib
import logging
from typing import Any, Final

from fastapi import Request, Response
from starlette.types import Receive

from callboard.board.plates import Heard
from callboard.errors import StoreError
from callboard.server import routing
from callboard.server.access.requirement import identified
from callboard.server.replies import reply
from callboard.server.routes.documented import failures
from callboard.server.service import Service
from callboard.vendors.agents import VENDORS

router = routing.router("hooks")

_log = logging.getLogger(__name__)

_EXTRA: dict[str, Any] = {
    "requestBody": {"content": {"application/json": {"schema": {}}}, "required": False},
    "security": [{"HTTPBearer": []}, {"APIKeyCookie": []}],
}
_HEARD: Final = reply({})
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
    """Hear a hook; one that asks a person is held open until there is an answer."""
    # By hand: there are hundreds of these a second, and `HookShortcut` solves no dependencies.
    identified(request, "hook")
    serving: Service = request.app.state.service
    # Not `request.body()`, which would be kept for as long as the hook is held.
    body: bytes = (await request.receive()).get("body", b"")
    try:
        heard = await serving.listener.hear(agent, body)
    except StoreError as error:
        # Whoever was told 200 has forgotten it: it must not be lost here.
        _log.error("A hook of %s could not be recorded: %s", agent, error.message)
        serving.spool.keep(agent, body)
        return _HEARD
    except Exception:
        # Ours to mend, and nothing that a person's terminal should show.
        _log.exception("A hook of %s could not be heard", agent)
        return _HEARD
    del body
    if heard is None or heard.interaction_id is None:
        return _HEARD
    return await _hold(serving, agent, heard, request.receive)


async def _hold(serving: Service, agent: str, heard: Heard, receive: Receive) -> Response:
    id = heard.interaction_id
    assert id is not None
    waiting = asyncio.ensure_future(serving.holding.wait(id))
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done() or not waiting.done():
            serving.leavings.add(id)
            return _HEARD  # The sender is gone, and has not got the answer.
        answered = waiting.result()
    finally:
        for task in (waiting, leaving):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
    if answered is None:
        return reply({}, 503, {"Retry-After": "1", "Connection": "close"})
    vendor = VENDORS.get(agent)
    if vendor is None or answered.for_agent is None:
        return _HEARD
    await serving.plates.hand_over(id)
    return reply(vendor.decision(answered))


async def _left(receive: Receive) -> None:
    """Until whoever sent the request is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
