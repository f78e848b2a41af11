"""Machines: pair and remove them. Only people can."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Path, Request, Response

from callboard.board.pairing import pair_command
from callboard.board.replies import Ok
from callboard.display.qr_codes import qr_code
from callboard.events.shapes import Millis, Shape
from callboard.server import routing
from callboard.server.access.requirement import Administers
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.schemas import PairingRequest

router = routing.router("relays")

HostPath = Annotated[str, Path(description="A machine's id.", min_length=1)]


@dataclass(frozen=True, slots=True)
class PairingOffer(Shape):
    """A code that one machine can use once, and how."""

    code: str
    expires_at: Millis
    command: Annotated[str, "To be run on that machine."]
    qr: Annotated[list[str], "The command as a QR code: rows of squares, `1` for dark."]


@router.post(
    "/pairing",
    status_code=201,
    responses=gives(PairingOffer, 201, "The code. A new one replaces the one before.") | failures(),
)
async def create_pairing_code(
    request: Request, serving: Serving, _: Administers, given: PairingRequest
) -> Response:
    """Create a code that lets another machine report its coding agents, for five minutes."""
    await check_person(serving, request, "pair machines")
    made = await serving.pairing.create()
    command = pair_command(given.server, made.code)
    # The command, not an address: a phone that scans it can't pair, but it can pass text on to the
    # machine that can, through a shared clipboard or a message.
    return reply(PairingOffer(made.code, made.expires_at, command, qr_code(command)), 201)


@router.delete("/hosts/{host_id}", responses=gives(Ok) | failures(404, 409))
async def remove_host(
    request: Request, serving: Serving, _: Administers, host_id: HostPath
) -> Response:
    """Remove a machine: revoke its tokens, and take it and its agents off the board."""
    await check_person(serving, request, "remove machines")
    await serving.board.hosts.remove(host_id)
    serving.relays.dismiss(host_id)
    return reply(Ok())
