"""Access tokens: created, listed and revoked as rows in the log.

A secret has 256 random bits. Only its SHA-256 is stored: a slow hash would add nothing.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from getpass import getuser
from hashlib import sha256
from typing import Final, Protocol

from callboard.clock import Clock
from callboard.errors import ValidationError
from callboard.events.access import SCOPES, NewToken, Scope, Token, TokenHolder
from callboard.ids import short_id
from callboard.interactions.assignment import GROUP, checked_name
from callboard.log.protocol import TokenStore

_LONGEST_NAME: Final = 64
_MOST_GROUPS: Final = 32
_LONGEST_LIFE: Final = timedelta(days=36_500)


class BoardTokens(Protocol):
    """Create, list and revoke access tokens."""

    async def mine(self) -> TokenHolder:
        """Who the caller is: the recorded name, the person, the scope and the groups."""
        ...

    async def list(self) -> list[Token]:
        """The tokens that are not revoked, oldest first, including expired ones."""
        ...

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
        ...

    async def revoke(self, id: str) -> Token:
        """Revoke a token: from now on it is refused. NotFound if it doesn't exist."""
        ...


class AccessTokens:
    """The tokens of one log."""

    def __init__(self, store: TokenStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def mine(self) -> TokenHolder:
        """The person who runs this process, who can do everything with the database."""
        name = local_person()
        return TokenHolder(name, name, "admin")

    async def find(self, secret: str) -> Token | None:
        """The token with this secret, even if it is revoked or expired."""
        return await self._store.find(hashed(secret))

    def is_valid(self, token: Token) -> bool:
        """Whether it is neither revoked nor expired."""
        return token.revoked_at is None and not token.is_expired(self._clock.now_ms())

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
        named = {"name": name, "person": person, "host": host}
        for field, given in named.items():
            if given is not None:
                _check_name(field, given)
        _check_person(name if person is None else person)
        if person is not None:
            checked_name(person, "person")
        _check_scope(scope)
        _check_groups(groups)
        _check_life(expires)
        secret, now = new_secret(), self._clock.now_ms()
        token = Token(
            id=short_id(),
            name=name,
            person=name if person is None else person,
            scope=scope,
            groups=tuple(dict.fromkeys(groups)),
            host=host,
            created_at=now,
            expires_at=None if expires is None else now + round(expires.total_seconds() * 1000),
            sha256=hashed(secret),
        )
        await self._store.add(token)
        return NewToken(token, secret)

    async def list(self) -> list[Token]:
        """The tokens that are not revoked, oldest first, including expired ones."""
        return list(await self._store.list())

    async def revoke(self, id: str) -> Token:
        """Revoke a token: from now on it is refused, on running servers too."""
        return await self._store.revoke(id, self._clock.now_ms())


@cache
def local_person() -> str:
    """The name of the user who runs this process."""
    try:
        return getuser()
    except (KeyError, OSError):
        return "admin"


def new_secret() -> str:
    """A secret that cannot be guessed."""
    return f"cb_{secrets.token_urlsafe(32)}"


def hashed(secret: str) -> str:
    """The hash of a secret, which is what is stored."""
    return sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _check_name(field: str, given: str) -> None:
    if not 0 < len(given) <= _LONGEST_NAME or not given.isprintable() or given != given.strip():
        raise ValidationError(
            f"{field}: use 1 to {_LONGEST_NAME} visible characters, without spaces around them.",
            field=field,
        )


def _check_person(person: str) -> None:
    if person.startswith(GROUP):
        raise ValidationError(
            f"person: {person!r} is a group. Use the person's name, and add groups with "
            "groups (--group).",
            field="person",
        )


def _check_scope(scope: str) -> None:
    if scope not in SCOPES:
        raise ValidationError(f"scope: use one of {', '.join(SCOPES)}.", field="scope")


def _check_groups(groups: Sequence[str]) -> None:
    if len(groups) > _MOST_GROUPS:
        raise ValidationError(f"groups: use at most {_MOST_GROUPS}.", field="groups")
    for group in groups:
        _check_name("groups", group)
        if group.startswith(GROUP):
            plain = group.removeprefix(GROUP)
            raise ValidationError(f"groups: omit {GROUP!r}; write {plain!r}.", field="groups")
        checked_name(f"{GROUP}{group}", "groups")


def _check_life(expires: timedelta | None) -> None:
    if expires is not None and not timedelta(0) < expires <= _LONGEST_LIFE:
        raise ValidationError(
            "expires: use a duration such as 90d, at most 100 years.", field="expires"
        )
