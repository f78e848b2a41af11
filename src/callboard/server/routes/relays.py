"""Relays: the machines that report their coding agents to this server."""

import re
from dataclasses import replace
from typing import Annotated, Final
from urllib.parse import unquote

from fastapi import Header, Path, Request, Response
from starlette.types import Receive, Scope, Send

from callboard.board.hosts import Host
from callboard.board.pairing import Paired
from callboard.board.relay_hosts import HostCheck, HostLog, RelayHostList
from callboard.board.replies import Acknowledged
from callboard.errors import Forbidden, ValidationError
from callboard.relay.batches import INCARNATION, SECRET, unpacked
from callboard.server import routing
from callboard.server.access.identity import Identity
from callboard.server.access.requirement import Operates, Reads, Reports
from callboard.server.event_stream import EventStream
from callboard.server.problems import reply
from callboard.server.relay_intake import RelaySource
from callboard.server.relays import Hello, Relays, RelayStream
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.schemas import HostLogRequest, PairRequest, RelayHello

router = routing.router("relays")

_ID: Final = re.compile(r"[0-9a-z]{8,64}")
_LONGEST_NAME: Final = 200
_BATCH: Final[dict[str, object]] = {
    "requestBody": {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "required": False,
    }
}

_STREAM: Final = {"text/event-stream": {"schema": {"type": "string"}}}

HostPath = Annotated[str, Path(description="A machine's id.", min_length=1, max_length=64)]
HostName = Annotated[str, Header(description="What people call the machine, URL-encoded.")]


@router.post("/relay/reports", responses=gives(Acknowledged) | failures(), openapi_extra=_BATCH)
async def report(
    request: Request,
    serving: Serving,
    caller: Reports,
    callboard_host_name: HostName = "",
) -> Response:
    """Receive what happened on a relay's machine. Each item is a line of JSON, then its bytes."""
    source = RelaySource(host_of(caller), host_label(callboard_host_name), _incarnation(request))
    secret = request.headers.get(SECRET, "")
    await serving.board.hosts.bound(source.host, caller.token_id, secret)
    serving.relays.heard_from(source.host)
    most = serving.settings.max_hook_body
    items = [replace(one, body=one.body[:most]) for one in unpacked(await request.body())]
    for hold in await serving.relay_intake.take(source, items):
        await serving.relays.look_at(source.host, hold)
    return reply(Acknowledged(items[-1].number if items else 0))


@router.post(
    "/relay/commands",
    responses={200: {"description": "A stream.", "content": _STREAM}, **failures()},
    response_class=Response,
)
async def command(serving: Serving, caller: Reports, given: RelayHello) -> Response:
    """Stream commands to a relay. It ends after a while; the relay then asks for the next one."""
    host = Host(host_of(caller), host_label(given.name), given.boot_id)
    secret = await serving.board.hosts.bound(host.id, caller.token_id, given.secret)
    hello = Hello(host, given.version, given.holds, given.powers, secret)
    stream = await serving.relays.open(hello)
    return _Commands(stream, serving.relays)


class _Commands(EventStream):
    """The stream of one relay."""

    def __init__(self, stream: RelayStream, relays: Relays) -> None:
        super().__init__(stream)
        self._stream = stream
        self._relays = relays

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond, and note when the relay leaves."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._relays.left(self._stream)


@router.post("/relay/pair", status_code=201, responses=gives(Paired, 201) | failures())
async def pair(serving: Serving, given: PairRequest) -> Response:
    """Exchange a code from `callboard pair` for the token of a machine. Needs no token."""
    own = serving.plates.host().id
    paired = await serving.pairing.exchange(given.code, given.host, given.name, own)
    return reply(paired, 201)


@router.get("/hosts", responses=gives(RelayHostList) | failures())
async def list_hosts(serving: Serving, _: Reads) -> Response:
    """List the machines with a relay, and when those that can't be reached were last seen."""
    return reply(RelayHostList(await serving.board.hosts.list()))


# Commands, though they only read: each use is in the audit.
@router.post("/hosts/{host_id}/check", responses=gives(HostCheck) | failures(404, 502, 504))
async def check_host(serving: Serving, caller: Operates, host_id: HostPath) -> Response:
    """Ask a machine for its version, its clock, its backlog and its hooks."""
    return reply(await serving.board.hosts.check(host_id, by=caller.name))


@router.post("/hosts/{host_id}/log", responses=gives(HostLog) | failures(404, 502, 504))
async def read_host_log(
    serving: Serving, caller: Operates, host_id: HostPath, given: HostLogRequest
) -> Response:
    """Read the last lines that a relay has logged. The machine has to allow `read`."""
    return reply(await serving.board.hosts.log(host_id, given.lines, by=caller.name))


def host_of(caller: Identity) -> str:
    """The machine that a caller reports for: the one that its token names, and no other."""
    if caller.host is None:
        raise Forbidden("Only the token of a paired machine can be used here: callboard pair")
    return caller.host


def host_label(encoded: str) -> str:
    """What people call a machine, as it says itself."""
    name = unquote(encoded).strip()[:_LONGEST_NAME]
    return "".join(one if one.isprintable() else "?" for one in name)


def _incarnation(request: Request) -> str:
    given = request.headers.get(INCARNATION, "")
    if not _ID.fullmatch(given):
        raise ValidationError(f"{INCARNATION}: use 8 to 64 letters and digits.", field=INCARNATION)
    return given
