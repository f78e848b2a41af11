"""The inbox: every question to a person, from whatever asked it."""

from typing import Annotated, Final

from fastapi import Query, Request, Response

from callboard.server import routing
from callboard.server.access.requirement import Answers, Operates, Reads
from callboard.server.answering import check_answerer
from callboard.server.replies import reply
from callboard.server.routes.common import InteractionPath, Serving, who
from callboard.server.routes.documented import failures, gives
from callboard.server.schemas import (
    AnswerIn,
    AskIn,
    ClaimIn,
    CompleteIn,
    InteractionOut,
    InteractionsOut,
    InteractionStatus,
    InteractionType,
    Limit,
    ReleaseIn,
)
from callboard.server.service import Service

router = routing.router("interactions", "/interactions")

LARGEST_PAGE = 1000


@router.get("", responses=gives(InteractionsOut) | failures())
async def list_interactions(
    serving: Serving,
    _: Reads,
    status: InteractionStatus | None = None,
    session_id: Annotated[str, Query(alias="sessionId", description="`*` means all.")] = "*",
    type: InteractionType | None = None,
    limit: Limit = LARGEST_PAGE,
    cursor: Annotated[str | None, Query(description="`nextCursor` of the page before.")] = None,
) -> Response:
    """Questions, oldest first."""
    page = await serving.board.people.page(
        status=status,
        session_id=session_id,
        type=type,
        limit=min(limit, LARGEST_PAGE),
        cursor=cursor,
    )
    listed = [one.to_wire() for one in page.interactions]
    return reply({"interactions": listed, "nextCursor": page.next_cursor})


@router.post(
    "",
    status_code=201,
    responses=gives(InteractionOut, 201, "The question is asked.") | failures(404, 409),
)
async def ask(serving: Serving, caller: Operates, given: AskIn) -> Response:
    """Put a question to people, by itself or as one of a session."""
    asked = await serving.board.people.ask(
        type=given.type,
        prompt=given.prompt,
        options=given.options,
        config=given.config,
        session_id=given.session_id,
        key=given.key,
        by=caller.name,
    )
    return reply(asked.to_wire(), 201, {"Location": f"/interactions/{asked.id}"})


@router.get("/{interaction_id}", responses=gives(InteractionOut) | failures(404))
async def show_interaction(serving: Serving, _: Reads, interaction_id: InteractionPath) -> Response:
    """One question, open or closed."""
    return reply((await serving.board.interaction(interaction_id)).to_wire())


@router.post("/{interaction_id}/claim", responses=gives(InteractionOut) | failures(404, 409))
async def claim(
    serving: Serving, caller: Answers, interaction_id: InteractionPath, given: ClaimIn
) -> Response:
    """See to a question: for a while nobody else can claim it. The same `by` renews."""
    claimed = await serving.board.people.claim(interaction_id, by=given.by, ttl_ms=given.ttl_ms)
    return reply(claimed.to_wire())


@router.post("/{interaction_id}/release", responses=gives(InteractionOut) | failures(404, 409))
async def release(
    serving: Serving, caller: Answers, interaction_id: InteractionPath, given: ReleaseIn
) -> Response:
    """Give a claim back before it runs out; where there is none, nothing happens."""
    released = await serving.board.people.release(interaction_id, by=given.by)
    return reply(released.to_wire())


_ANSWERED: Final = (
    gives(InteractionOut)
    | gives(InteractionOut, 202, "Accepted. The agent that asked has not confirmed it yet.")
    | failures(404, 409)
)


@router.post("/{interaction_id}/answer", responses=_ANSWERED)
async def answer(
    request: Request,
    serving: Serving,
    caller: Answers,
    interaction_id: InteractionPath,
    given: AnswerIn,
) -> Response:
    """Answer a question. The first answer counts; the second is told so."""
    await check_answerer(serving, request, caller, interaction_id, given.value)
    await serving.board.operations.answer(
        interaction_id,
        given.value,
        approved=given.approved,
        by=who(caller, given.by),
        via=caller.via,
    )
    return await _answered(serving, interaction_id)


@router.post("/{interaction_id}/complete", responses=_ANSWERED)
async def complete(
    request: Request,
    serving: Serving,
    caller: Answers,
    interaction_id: InteractionPath,
    given: CompleteIn,
) -> Response:
    """End an interactive session with its outcome."""
    await check_answerer(serving, request, caller, interaction_id, given.response)
    await serving.board.people.complete(
        interaction_id,
        given.outcome,
        response=given.response,
        transcript=given.transcript,
        duration_ms=given.duration_ms,
        error=given.error,
        by=who(caller, given.by),
        via=caller.via,
    )
    return await _answered(serving, interaction_id)


async def _answered(serving: Service, interaction_id: str) -> Response:
    """The question with its receipt; 202 while the agent that asked has not confirmed it."""
    found = await serving.board.people.receipt(interaction_id)
    if found.session_id is not None and not found.from_hook:
        serving.driver.wake(found.session_id)
    return reply(found.to_wire(), 202 if found.receipt == "pending" else 200)


@router.post("/{interaction_id}/cancel", responses=gives(InteractionOut) | failures(404, 409))
async def cancel(serving: Serving, caller: Answers, interaction_id: InteractionPath) -> Response:
    """Take a question back."""
    cancelled = await serving.board.people.cancel(interaction_id, by=caller.name, via=caller.via)
    return reply(cancelled.to_wire())
