"""What people and programs do to a session: answer, pause, resume, cancel, fork."""

from typing import Any

from fastapi import Request, Response

from callboard.engine.forking import Forking
from callboard.errors import ConflictError, InteractionNotFound, ValidationError
from callboard.server import routing
from callboard.server.access.requirement import Answers, Operates
from callboard.server.answering import check_answerer
from callboard.server.replies import reply
from callboard.server.routes.common import Serving, SessionPath, who
from callboard.server.routes.documented import failures, gives
from callboard.server.schemas import (
    CancelIn,
    CancelledOut,
    ForkAt,
    ForkIn,
    ForkOut,
    InputIn,
    OkOut,
    PausedOut,
    PauseIn,
    ResumedOut,
    ResumeIn,
)
from callboard.server.service import Service

router = routing.router("sessions", "/sessions/{session_id}")


@router.post("/input", responses=gives(OkOut) | failures(404, 409))
async def answer_session(
    request: Request,
    serving: Serving,
    caller: Answers,
    session_id: SessionPath,
    given: InputIn,
) -> Response:
    """Answer a question of this session: by its id, or the only one that is open."""
    answer = await _meant(serving, session_id, given)
    found = await serving.board.interaction(answer.pop("id"))
    if found.session_id != session_id:
        raise InteractionNotFound(
            f"Question {found.id} is not one of session {session_id}.", interaction_id=found.id
        )
    await check_answerer(serving, request, caller, found.id, answer["value"])
    by = who(caller, given.by)
    await serving.board.operations.answer(found.id, **answer, by=by, via=caller.via)
    serving.driver.wake(session_id)
    return reply({"ok": True})


async def _meant(serving: Service, session_id: str, given: InputIn) -> dict[str, Any]:
    """The answer in its first form, whichever of the three was sent."""
    sent = given.model_fields_set - {"by"}
    if given.event is not None and sent == {"event"}:
        payload = given.event.payload
        if not isinstance(payload.get("id"), str):
            raise ValidationError("event.payload.id: name the question.", field="event.payload.id")
        return {key: payload.get(key) for key in ("id", "value", "approved")}
    if "input" in sent and sent <= {"input", "approved"}:
        only = await _only_question(serving, session_id)
        return {"id": only, "value": given.input, "approved": given.approved}
    if given.id is not None and sent <= {"id", "value", "approved"}:
        return {"id": given.id, "value": given.value, "approved": given.approved}
    raise ValidationError(
        "Send {id, value, approved?}, or {input} for the only question, or {event}.", field="id"
    )


async def _only_question(serving: Service, session_id: str) -> str:
    pending = (await serving.board.session(session_id)).pending
    if not pending:
        raise InteractionNotFound(
            f"Session {session_id} asks nothing at the moment.", session_id=session_id
        )
    if len(pending) > 1:
        ids = ", ".join(one.id for one in pending)
        raise ConflictError(
            f"Session {session_id} asks {len(pending)} questions; say which: {ids}.", open=ids
        )
    return pending[0].id


@router.post("/pause", responses=gives(PausedOut) | failures(404))
async def pause_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: PauseIn | None = None
) -> Response:
    """Pause: the current agent finishes first, unless it is to be interrupted."""
    how = given or PauseIn()
    was_new = await serving.board.operations.pause(
        session_id, interrupt=how.interrupt, reason=how.reason, by=who(caller, how.by)
    )
    return reply({"ok": True, "wasPaused": was_new})


@router.post("/resume", responses=gives(ResumedOut) | failures(404, 409))
async def resume_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: ResumeIn | None = None
) -> Response:
    """Let a paused session go on."""
    by = who(caller, given.by if given else None)
    was_paused = await serving.board.operations.resume(session_id, by=by)
    # Also one that was never begun, such as a fork that was not to run at once.
    serving.driver.wake(session_id)
    return reply({"ok": True, "wasResumed": was_paused})


@router.post("/cancel", responses=gives(CancelledOut) | failures(404))
async def cancel_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: CancelIn | None = None
) -> Response:
    """End a session for good."""
    why = given or CancelIn()
    was_new = await serving.board.operations.cancel(
        session_id, reason=why.reason, by=who(caller, why.by)
    )
    return reply({"ok": True, "wasCancelled": was_new})


@router.post(
    "/fork",
    status_code=201,
    responses=gives(ForkOut, 201, "The new session.") | failures(404, 409),
)
async def fork_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: ForkIn | None = None
) -> Response:
    """Begin a new session from a point of this one. What came before is shared, not copied."""
    asked = given or ForkIn()
    edits = [edit.model_dump(by_alias=True, exclude_unset=True) for edit in asked.edits]
    info = await serving.board.session(session_id)
    forked = await serving.board.operations.fork(
        session_id,
        _point(asked.at or ForkAt()),
        workflow=serving.board.workflows.get(info.workflow),
        edits=edits or None,
        child_id=asked.session_id,
        run=asked.run,
        by=who(caller, asked.by),
    )
    if asked.run:
        serving.driver.wake(forked.session_id)
    found = {
        "sessionId": forked.session_id,
        "originalSessionId": forked.original_session_id,
        "eventsCopied": forked.events_copied,
        "position": forked.position,
    }
    return reply(found, 201, {"Location": f"/sessions/{forked.session_id}"})


def _point(at: ForkAt) -> Forking:
    if at.event_index is not None and at.position is not None:
        raise ValidationError("at: give eventIndex or position, not both.", field="at.position")
    position = at.event_index if at.position is None else at.position
    return Forking(at.phase, at.occurrence, position, None)
