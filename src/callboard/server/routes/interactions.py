"""The inbox: every question to people, wherever it comes from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final

from fastapi import Query, Request, Response

from callboard.board.budgets import KEYS
from callboard.engine.question_search import InteractionPage, SoughtQuestions
from callboard.events.access import allows
from callboard.interactions.assignment import ME, check_assignee
from callboard.interactions.kinds import InteractionStatus, InteractionType, is_from_board
from callboard.interactions.records import Interaction
from callboard.server import routing
from callboard.server.access.identity import Identity
from callboard.server.access.requirement import Answers, Operates, Reads
from callboard.server.answer_rights import (
    check_answerer,
    check_budget_question,
    check_page,
    check_person,
)
from callboard.server.problems import reply
from callboard.server.routes.common import InteractionPath, Serving, failures, gives, who
from callboard.server.schemas import (
    AnswerRequest,
    AskRequest,
    AssignRequest,
    ClaimRequest,
    CompleteRequest,
    Limit,
    ReleaseRequest,
)
from callboard.server.service import Service

router = routing.router("interactions", "/interactions")

LARGEST_PAGE = 1000


@router.get("", responses=gives(InteractionPage) | failures())
async def list_interactions(  # noqa: PLR0913 - what a query can say
    serving: Serving,
    caller: Reads,
    status: InteractionStatus | None = None,
    session_id: Annotated[str, Query(alias="sessionId", description="`*` means all.")] = "*",
    type: InteractionType | None = None,
    workflow: Annotated[str | None, Query(description="The workflow's name.")] = None,
    assigned_to: Annotated[
        list[str] | None,
        Query(
            alias="assignedTo",
            max_length=50,
            description="A person, `group:NAME`, `me` or `none`; several mean any of them.",
        ),
    ] = None,
    q: Annotated[str | None, Query(max_length=500, description="Text in the prompt.")] = None,
    limit: Limit = LARGEST_PAGE,
    cursor: Annotated[str | None, Query(description="`nextCursor` of the page before.")] = None,
) -> Response:
    """List questions, oldest first."""
    names = assigned_to and _meant(assigned_to, caller)
    sought = SoughtQuestions(status, session_id, type, workflow, names, q)
    page = await serving.board.people.page(sought, limit=min(limit, LARGEST_PAGE), cursor=cursor)
    if caller.is_page:
        shown = [one for one in page.interactions if not is_from_board(one.type)]
        page = replace(page, interactions=shown)
    return reply(page)


def _meant(names: Sequence[str], caller: Identity) -> list[str]:
    """The names, with `me` replaced by the caller's."""
    return [name for one in names for name in (who(caller, None).names if one == ME else [one])]


@router.post(
    "",
    status_code=201,
    responses=gives(Interaction, 201, "The question is asked.") | failures(404, 409),
)
async def ask(request: Request, serving: Serving, caller: Operates, given: AskRequest) -> Response:
    """Ask people a question, either standalone or as part of a session."""
    if given.key is not None and given.key.startswith(KEYS):
        # The board would take this for its own question, and not ask.
        await check_person(serving, request, f"use keys that start with {KEYS!r}")
    asked = await serving.board.people.ask(**dict(given), by=caller.name)
    return reply(asked, 201, {"Location": f"/interactions/{asked.id}"})


@router.get("/{interaction_id}", responses=gives(Interaction) | failures(404))
async def show_interaction(
    serving: Serving, caller: Reads, interaction_id: InteractionPath
) -> Response:
    """Get one question, open or closed."""
    await check_page(serving, caller, interaction_id)
    return reply(await serving.board.interaction(interaction_id))


@router.post("/{interaction_id}/assign", responses=gives(Interaction) | failures(404, 409))
async def assign(
    serving: Serving,
    caller: Answers,
    interaction_id: InteractionPath,
    given: AssignRequest | None = None,
) -> Response:
    """Set who is expected to answer: you, or `to`. Others can still answer. Doesn't expire."""
    await check_page(serving, caller, interaction_id)
    author = who(caller, given.by if given else None)
    to = given.to if given and "to" in given.model_fields_set else ME
    return reply(await serving.board.people.assign(interaction_id, to, by=author))


@router.post("/{interaction_id}/claim", responses=gives(Interaction) | failures(404, 409))
async def claim(
    serving: Serving, caller: Answers, interaction_id: InteractionPath, given: ClaimRequest
) -> Response:
    """Claim a question for a while, so that no one else can. The same `by` renews the claim."""
    await check_page(serving, caller, interaction_id)
    # Refused now, because the answer would be refused later.
    check_assignee(await serving.board.interaction(interaction_id), who(caller, given.by))
    claimed = await serving.board.people.claim(interaction_id, by=given.by, ttl_ms=given.ttl_ms)
    return reply(claimed)


@router.post("/{interaction_id}/release", responses=gives(Interaction) | failures(404, 409))
async def release(
    serving: Serving, caller: Answers, interaction_id: InteractionPath, given: ReleaseRequest
) -> Response:
    """Release a claim before it expires. Does nothing if there is no claim."""
    await check_page(serving, caller, interaction_id)
    released = await serving.board.people.release(interaction_id, by=given.by)
    return reply(released)


_ANSWERED: Final = (
    gives(Interaction)
    | gives(Interaction, 202, "Accepted. The agent that asked has not confirmed it yet.")
    | failures(404, 409)
)


@router.post("/{interaction_id}/answer", responses=_ANSWERED)
async def answer(
    request: Request,
    serving: Serving,
    caller: Answers,
    interaction_id: InteractionPath,
    given: AnswerRequest,
) -> Response:
    """Answer a question. The first answer counts; later ones get an error."""
    await check_answerer(serving, request, caller, interaction_id, given.value)
    found = await serving.board.answer(
        interaction_id,
        given.value,
        approved=given.approved,
        by=who(caller, given.by),
        via=caller.via,
    )
    return _answered(serving, found)


@router.post("/{interaction_id}/complete", responses=_ANSWERED)
async def complete(
    request: Request,
    serving: Serving,
    caller: Answers,
    interaction_id: InteractionPath,
    given: CompleteRequest,
) -> Response:
    """End an interactive session with its outcome."""
    await check_answerer(serving, request, caller, interaction_id, given.response)
    found = await serving.board.people.complete(
        interaction_id,
        given.outcome,
        response=given.response,
        transcript=given.transcript,
        duration_ms=given.duration_ms,
        error=given.error,
        by=who(caller, given.by),
        via=caller.via,
    )
    return _answered(serving, await serving.board.people.receipt(found))


def _answered(serving: Service, found: Interaction) -> Response:
    """The question with its receipt; 202 until the agent that asked confirms the answer."""
    if found.session_id is not None and not found.from_hook:
        serving.driver.wake(found.session_id)
    return reply(found, 202 if found.receipt == "pending" else 200)


@router.post("/{interaction_id}/cancel", responses=gives(Interaction) | failures(404, 409))
async def cancel(
    request: Request, serving: Serving, caller: Answers, interaction_id: InteractionPath
) -> Response:
    """Withdraw a question."""
    await check_page(serving, caller, interaction_id)
    await check_budget_question(serving, request, interaction_id)
    # A caller who may ask may also withdraw.
    by = replace(who(caller, None), overrides=allows(caller.scope, "operate"))
    cancelled = await serving.board.people.cancel(interaction_id, by=by, via=caller.via)
    return reply(cancelled)
