"""Settings in the dashboard: hooks, and facts about the server."""

import asyncio
import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

from fastapi import Path as InPath
from fastapi import Request, Response

from callboard.events.shapes import Millis, Shape
from callboard.log.tables import migrations
from callboard.server import routing
from callboard.server.access.origins import bracketed
from callboard.server.access.requirement import Administers, Operates
from callboard.server.answer_rights import check_local
from callboard.server.hook_settings import (
    AgentHooks,
    HooksList,
    HookTest,
    all_hooks,
    install_hooks,
    installable,
    remove_hooks,
    try_hooks,
)
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.schemas import HookChange

router = routing.router("settings")

AgentName = Annotated[str, InPath(description="A coding agent's name, as `claude`.", min_length=1)]
_WHAT = "see and change hooks"


@dataclass(frozen=True, slots=True)
class ServerFacts(Shape):
    """The server and its database. `database` is null when everything is in memory."""

    version: str
    address: str
    started_at: Millis
    database: str | None
    database_bytes: int
    events: int
    schema_version: int
    sign_in: Annotated[str, "The command that opens the dashboard, on the server's machine."]


@router.get("/server", responses=gives(ServerFacts) | failures())
async def show_server(request: Request, serving: Serving, _: Operates) -> Response:
    """Get the server's version, address and start time, and the size of its database."""
    host, port = request.scope["server"]
    path = serving.board.log.path
    return reply(
        ServerFacts(
            version=version("callboard"),
            address=f"http://{bracketed(str(host))}:{port}",
            started_at=serving.started_at,
            database=None if path is None else str(path),
            database_bytes=0 if path is None else await asyncio.to_thread(_size, path),
            events=await serving.board.log.last_sequence(),
            schema_version=len(migrations()),
            sign_in=serving.settings.sign_in,
        )
    )


@router.get("/settings/hooks", responses=gives(HooksList) | failures())
async def list_hooks(request: Request, serving: Serving, _: Administers) -> Response:
    """List the hooks of every coding agent, with what installing or removing them would change."""
    await check_local(serving, request, _WHAT)
    return reply(await asyncio.to_thread(all_hooks, serving.database))


@router.post("/settings/hooks/{agent}/install", responses=gives(AgentHooks) | failures(404, 409))
async def add_hooks(
    request: Request, serving: Serving, _: Administers, agent: AgentName, given: HookChange
) -> Response:
    """Install an agent's hooks, exactly as the diff shows; 409 if it has changed since."""
    await check_local(serving, request, _WHAT)
    one, database = installable(agent), serving.database
    return reply(await asyncio.to_thread(install_hooks, one, database, given.diff))


@router.post("/settings/hooks/{agent}/remove", responses=gives(AgentHooks) | failures(404, 409))
async def drop_hooks(
    request: Request, serving: Serving, _: Administers, agent: AgentName, given: HookChange
) -> Response:
    """Remove an agent's hooks, exactly as the diff shows; 409 if it has changed since."""
    await check_local(serving, request, _WHAT)
    one, database = installable(agent), serving.database
    return reply(await asyncio.to_thread(remove_hooks, one, database, given.diff))


@router.post("/settings/hooks/{agent}/test", responses=gives(HookTest) | failures(404))
async def send_test(
    request: Request, serving: Serving, _: Administers, agent: AgentName
) -> Response:
    """Run the hook's command with a test payload, and check that it arrives here."""
    await check_local(serving, request, _WHAT)
    return reply(await try_hooks(serving, installable(agent), serving.database))


def _size(path: Path) -> int:
    beside = (path, path.with_name(f"{path.name}-wal"))
    return sum(os.path.getsize(one) for one in beside if one.exists())  # noqa: PTH202
