"""Access tokens, who the caller is, and who else uses the board."""

from datetime import timedelta
from typing import Annotated

from fastapi import Path, Request, Response

from callboard.events.access import NewToken, Token, TokenHolder, TokenList
from callboard.server import routing
from callboard.server.access.requirement import Administers, Reads
from callboard.server.answer_rights import check_person
from callboard.server.problems import reply
from callboard.server.routes.common import Serving, failures, gives
from callboard.server.schemas import TokenRequest
from callboard.server.team import Team, team_hosts, team_members

router = routing.router("access")

TokenPath = Annotated[str, Path(description="A token's id.", min_length=1)]


@router.get("/me", responses=gives(TokenHolder) | failures())
async def show_me(serving: Serving, caller: Reads) -> Response:
    """Get the caller's identity: recorded name, person, scope and groups."""
    leave = serving.proxy.sign_out if serving.proxy is not None and caller.is_proxied else None
    return reply(TokenHolder(caller.name, caller.person, caller.scope, caller.groups, leave))


@router.get("/team", responses=gives(Team) | failures())
async def show_team(serving: Serving, _: Administers) -> Response:
    """List people who have a token or have signed in lately, and the hosts of coding agents."""
    issued = serving.tokens.issued
    tokens = [token for token in await issued.list() if issued.is_valid(token)]
    plates, relays = await serving.plates.all(), await serving.board.hosts.list()
    people = team_members(tokens, await serving.sign_ins.list())
    return reply(Team(people, team_hosts(plates, tokens, relays, serving.plates.host())))


@router.get("/tokens", responses=gives(TokenList) | failures())
async def list_tokens(serving: Serving, _: Administers) -> Response:
    """List the tokens that are not revoked, oldest first. Secrets are not stored."""
    return reply(TokenList(await serving.tokens.issued.list()))


@router.post(
    "/tokens",
    status_code=201,
    responses=gives(NewToken, 201, "The token, and its secret.") | failures(),
)
async def create_token(
    request: Request, serving: Serving, _: Administers, given: TokenRequest
) -> Response:
    """Create a token. Only this response has its secret."""
    await check_person(serving, request, "create tokens")
    lives = None if given.expires_in_ms is None else timedelta(milliseconds=given.expires_in_ms)
    made = await serving.tokens.issued.create(
        given.name,
        given.scope,
        person=given.person,
        groups=given.groups,
        host=given.host,
        expires=lives,
    )
    return reply(made, 201)


@router.delete("/tokens/{token_id}", responses=gives(Token) | failures(404))
async def revoke_token(
    serving: Serving, request: Request, _: Administers, token_id: TokenPath
) -> Response:
    """Revoke a token. It stops working at once."""
    await check_person(serving, request, "revoke tokens")
    revoked = await serving.tokens.issued.revoke(token_id)
    if revoked.host is not None:
        serving.relays.dismiss(revoked.host)
    return reply(revoked)
