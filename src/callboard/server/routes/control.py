"""Actions on a session: answer, pause, resume, cancel, fork, retry."""

from collections.abc import Mapping
from typing import NamedTuple

from fastapi import Request, Response

from callboard.board.replies import CancelResult, Ok, PauseResult, ResumeResult
from callboard.engine.forking import Forking
from callboard.engine.operations import Forked
from callboard.engine.sessions import SessionInfo, retry_point
from callboard.errors import ConflictError, InteractionNotFound, ValidationError
from callboard.events.envelope import Json
from callboard.server import routing
from callboard.server.access.identity import Identity
from callboard.server.access.requirement import Answers, Operates
from callboard.server.answer_rights import check_answerer
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, SessionPath, failures, gives, who
from callboard.server.schemas import (
    CancelRequest,
    ForkAt,
    ForkRequest,
    InputRequest,
    PauseRequest,
    ResumeRequest,
    RetryRequest,
)
from callboard.server.service import Service

router = routing.router("sessions", "/sessions/{session_id}")


@router.post("/input", responses=gives(Ok) | failures(404, 409))
async def answer_session(
    request: Request,
    serving: Serving,
    caller: Answers,
    session_id: SessionPath,
    given: InputRequest,
) -> Response:
    """Answer a question of this session: by its id, or the only open one."""
    answer = await _meant(serving, session_id, given)
    found = await serving.board.interaction(answer.id)
    if found.session_id != session_id:
        raise InteractionNotFound(
            f"Question {found.id} is not one of session {session_id}.", interaction_id=found.id
        )
    await check_answerer(serving, request, caller, found.id, answer.value)
    by = who(caller, given.by)
    await serving.board.operations.answer(
        found.id, answer.value, approved=answer.approved, by=by, via=caller.via
    )
    serving.driver.wake(session_id)
    return reply(Ok())


class _Answer(NamedTuple):
    id: str
    value: Json
    approved: bool | None


async def _meant(serving: Service, session_id: str, given: InputRequest) -> _Answer:
    """The answer in its first form, whichever of the three was sent."""
    sent = given.model_fields_set - {"by"}
    if given.event is not None and sent == {"event"}:
        return _received(given.event.payload)
    if "input" in sent and sent <= {"input", "approved"}:
        only = await _only_question(serving, session_id)
        return _Answer(only, given.input, given.approved)
    if given.id is not None and sent <= {"id", "value", "approved"}:
        return _Answer(given.id, given.value, given.approved)
    raise ValidationError(
        "Send {id, value, approved?}, or {input} for the only question, or {event}.", field="id"
    )


def _received(payload: Mapping[str, Json]) -> _Answer:
    """The answer in an `input:received` event."""
    id, approved = payload.get("id"), payload.get("approved")
    if not isinstance(id, str):
        raise ValidationError("event.payload.id: name the question.", field="event.payload.id")
    if not isinstance(approved, bool | None):
        field = "event.payload.approved"
        raise ValidationError(f"{field}: must be true or false.", field=field)
    return _Answer(id, payload.get("value"), approved)


async def _only_question(serving: Service, session_id: str) -> str:
    session = await serving.board.session(session_id)
    if not session.pending:
        raise InteractionNotFound(
            f"Session {session_id} has no open question.", session_id=session_id
        )
    # Counted, because large questions are left out of the list.
    if session.pending_count > 1:
        ids = ", ".join(one.id for one in session.pending)
        raise ConflictError(
            f"Session {session_id} asks {session.pending_count} questions; say which: {ids}.",
            open=ids,
        )
    return session.pending[0].id


@router.post("/pause", responses=gives(PauseResult) | failures(404))
async def pause_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: PauseRequest | None = None
) -> Response:
    """Pause a session. The current agent finishes first, unless you interrupt it."""
    how = given or PauseRequest()
    was_new = await serving.board.pause(
        session_id, interrupt=how.interrupt, reason=how.reason, by=who(caller, how.by)
    )
    return reply(PauseResult(was_new))


@router.post("/resume", responses=gives(ResumeResult) | failures(404, 409))
async def resume_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: ResumeRequest | None = None
) -> Response:
    """Resume a paused session."""
    by = who(caller, given.by if given else None)
    was_paused = await serving.board.resume(session_id, by=by)
    # This also wakes a session that was never started, such as a fork that wasn't run immediately.
    serving.driver.wake(session_id)
    return reply(ResumeResult(was_paused))


@router.post("/cancel", responses=gives(CancelResult) | failures(404))
async def cancel_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: CancelRequest | None = None
) -> Response:
    """Cancel a session."""
    why = given or CancelRequest()
    was_new = await serving.board.cancel(session_id, reason=why.reason, by=who(caller, why.by))
    return reply(CancelResult(was_new))


@router.post(
    "/fork",
    status_code=201,
    responses=gives(Forked, 201, "The new session.") | failures(404, 409),
)
async def fork_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: ForkRequest | None = None
) -> Response:
    """Start a new session from a point in this one. The events before it are shared, not copied."""
    info = await serving.board.session(session_id)
    return await _forked(serving, caller, info, given or ForkRequest())


@router.post(
    "/retry",
    status_code=201,
    responses=gives(Forked, 201, "The new session.") | failures(404, 409),
)
async def retry_session(
    serving: Serving, caller: Operates, session_id: SessionPath, given: RetryRequest | None = None
) -> Response:
    """Retry a failed session: a fork at the phase that failed, or at another point."""
    info, asked = await serving.board.session(session_id), given or RetryRequest()
    failed = ForkAt(phase=retry_point(info)["phase"])
    if asked.at is None or not asked.at.model_fields_set:
        asked = asked.model_copy(update={"at": failed})
    return await _forked(serving, caller, info, asked)


async def _forked(
    serving: Service, caller: Identity, info: SessionInfo, asked: ForkRequest
) -> Response:
    edits = [edit.model_dump(by_alias=True, exclude_unset=True) for edit in asked.edits]
    forked = await serving.board.operations.fork(
        info.session_id,
        _point(asked.at or ForkAt()),
        workflow=serving.board.workflows.get(info.workflow),
        edits=edits or None,
        child_id=asked.session_id,
        run=asked.run,
        by=who(caller, asked.by),
    )
    if asked.run:
        serving.driver.wake(forked.session_id)
    return reply(forked, 201, {"Location": f"/sessions/{forked.session_id}"})


def _point(at: ForkAt) -> Forking:
    if at.event_index is not None and at.position is not None:
        raise ValidationError("at: give eventIndex or position, not both.", field="at.position")
    position = at.event_index if at.position is None else at.position
    return Forking(at.phase, at.occurrence, position, None)
