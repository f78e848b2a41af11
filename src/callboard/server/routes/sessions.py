"""Sessions and the workflows they run: start, list, inspect and delete."""

import re
from typing import Annotated, Final

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from callboard.board.replies import Ok, Started, StateAt
from callboard.display.session_export import FORMATS, ExportFormat
from callboard.engine.offers import WorkflowInfo, Workflows
from callboard.engine.sessions import SessionInfo, SessionPage
from callboard.events.status import Status
from callboard.server import routing
from callboard.server.access.requirement import Operates, Reads
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, SessionPath, failures, gives, who
from callboard.server.schemas import Limit, Place, SessionChange, StartRequest
from callboard.statusfiles.progress import with_progress

workflows = routing.router("workflows")
router = routing.router("sessions")

LARGEST_PAGE = 1000
_ENDINGS: Final = {"json": "json", "markdown": "md"}


@workflows.get("/workflows", responses=gives(Workflows) | failures())
async def list_workflows(serving: Serving, _: Reads) -> Response:
    """List the workflows that this server runs, with their phases and transitions."""
    offered = [WorkflowInfo.of(workflow) for workflow in serving.board.workflows.values()]
    return reply(Workflows(offered))


@router.post(
    "/sessions",
    status_code=201,
    responses=gives(Started, 201, "The session has started.") | failures(404, 409),
)
async def start_session(serving: Serving, caller: Operates, given: StartRequest) -> Response:
    """Start a session. The response comes when its start is saved to disk."""
    session_id = await serving.board.start(
        given.workflow_id,
        given.input,
        session_id=given.session_id,
        by=caller.name,
        title=given.title,
    )
    serving.driver.wake(session_id)
    return reply(Started(session_id), 201, {"Location": f"/sessions/{session_id}"})


@router.get("/sessions", responses=gives(SessionPage) | failures())
async def list_sessions(  # noqa: PLR0913 - one parameter for each filter
    serving: Serving,
    _: Reads,
    status: Status | None = None,
    workflow: str | None = None,
    parent: str | None = None,
    q: Annotated[
        str | None, Query(description="Text in the id, the workflow, the phase or the title.")
    ] = None,
    limit: Limit = 100,
    cursor: Annotated[str | None, Query(description="`nextCursor` of the page before.")] = None,
) -> Response:
    """List sessions, newest first."""
    page = await serving.board.session_page(
        status=status,
        workflow=workflow,
        parent=parent,
        q=q,
        limit=min(limit, LARGEST_PAGE),
        cursor=cursor,
    )
    return reply(SessionPage(await with_progress(page.sessions), page.next_cursor))


@router.get("/sessions/{session_id}", responses=gives(SessionInfo) | failures(404))
async def show_session(serving: Serving, _: Reads, session_id: SessionPath) -> Response:
    """Get a session's status and its open questions."""
    [info] = await with_progress([await serving.board.session(session_id)])
    return reply(info)


@router.patch("/sessions/{session_id}", responses=gives(SessionInfo) | failures(404))
async def change_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: SessionChange
) -> Response:
    """Rename a session, even after it has ended."""
    by = who(caller, given.by)
    return reply(await serving.board.rename(session_id, given.title, by=by))


@router.delete("/sessions/{session_id}", responses=gives(Ok) | failures(404, 409))
async def delete_session(serving: Serving, caller: Operates, session_id: SessionPath) -> Response:
    """Delete a session; cancels it first if it has not ended. Its forks are kept."""
    if await serving.board.cancel(session_id, by=caller.name, reason="deleted"):
        await serving.streams.until_left(session_id)
    await serving.board.delete(session_id, by=caller.name)
    serving.streams.forget(session_id)
    return reply(Ok())


@router.get(
    "/sessions/{session_id}/export",
    responses={
        200: {
            "description": "The document.",
            "content": {
                FORMATS["json"]: {"schema": {"type": "object"}},
                FORMATS["markdown"]: {"schema": {"type": "string"}},
            },
        },
        **failures(404),
    },
    response_class=Response,
)
async def export_session(
    serving: Serving, _: Reads, session_id: SessionPath, format: ExportFormat = "json"
) -> Response:
    """Download the session, its events and its state as one document."""
    info = await serving.board.session(session_id)
    name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', info.session_id)}.{_ENDINGS[format]}"
    return StreamingResponse(
        serving.board.export(session_id, format=format),
        media_type=f"{FORMATS[format]}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.get("/sessions/{session_id}/state", responses=gives(StateAt) | failures(404))
async def show_state(
    serving: Serving,
    _: Reads,
    session_id: SessionPath,
    position: Place | None = None,
) -> Response:
    """Get the state after the first N events, or the current one."""
    view = await serving.board.view(session_id, position)
    at = view.position if position is None else position
    return reply(StateAt(view.state, at, at))
