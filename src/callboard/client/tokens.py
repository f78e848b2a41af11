"""A server's access tokens."""

from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import quote

from callboard.client.people import given
from callboard.client.transport import Transport
from callboard.events.access import NewToken, Scope, Token, TokenHolder, TokenList


class RemoteTokens:
    """What `Callboard.tokens` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def mine(self) -> TokenHolder:
        """Who this client's token belongs to, and what it allows."""
        return TokenHolder.from_wire(await self._transport.get("/me"))

    async def list(self) -> list[Token]:
        """The tokens that are not revoked, oldest first, including expired ones."""
        return TokenList.from_wire(await self._transport.get("/tokens")).tokens

    async def create(
        self,
        name: str,
        scope: Scope,
        *,
        person: str | None = None,
        groups: Sequence[str] = (),
        host: str | None = None,
        expires: timedelta | None = None,
    ) -> NewToken:
        """Create a token. Its secret is only in the result."""
        lives = None if expires is None else round(expires.total_seconds() * 1000)
        who = {"name": name, "scope": scope, "person": person, "groups": list(groups)}
        body = given({**who, "host": host, "expiresInMs": lives})
        return NewToken.from_wire(await self._transport.post("/tokens", body))

    async def revoke(self, id: str) -> Token:
        """Revoke a token: from now on it is refused."""
        path = f"/tokens/{quote(id, safe='')}"
        return Token.from_wire(await self._transport.delete(path))
