"""Sign-in links, and the cookies that browsers get for them. All servers of a log share both.

Only hashes of codes and cookies are stored, so someone who can read the database can't use them.
"""

import json
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from callboard.board.tokens import hashed
from callboard.clock import Clock
from callboard.events.access import Scope
from callboard.log.protocol import ServerState

LIVES: Final = timedelta(days=30)
ADMIN_LIVES: Final = timedelta(hours=1)
"""How long a cookie with the scope `admin` has that scope. After that, it has `operate`."""

_CODE: Final = "code"
_COOKIE: Final = "cookie"
_ADMIN: Final = "admin"
"""What is stored of an admin token, by the server that has it: only enough to notice a change."""
_FORM = re.compile(r"[A-Za-z0-9_-]{43}")
_FOREVER: Final = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class SignIn:
    """Who signs in, and with which scope."""

    person: str
    scope: Scope = "operate"
    groups: tuple[str, ...] = ()


class Links:
    """The unused codes, and the cookies they are exchanged for.

    lives: how many seconds a code works.
    """

    def __init__(self, state: ServerState, clock: Clock, lives: float) -> None:
        self._state = state
        self._clock = clock
        self._lives = lives

    async def create(self, who: SignIn) -> tuple[str, int]:
        """Create a code; returns it and its expiry time in milliseconds."""
        until = self._clock.now_ms() + round(self._lives * 1000)
        return await self._keep(_CODE, who, self._lives), until

    async def use(self, code: str) -> SignIn | None:
        """Use up a code; returns who signs in, or None if it is wrong, used or expired."""
        # Looked up by its hash, so that timing reveals nothing about similar codes.
        found = await self._state.take(_CODE, hashed(code)) if _FORM.fullmatch(code) else None
        return None if found is None else self._read(found)

    async def cookie(self, who: SignIn) -> str:
        """The cookie for a used code."""
        return await self._keep(_COOKIE, who, LIVES.total_seconds())

    async def identify(self, cookie: str) -> SignIn | None:
        """Who a cookie belongs to; None if there is no such cookie, or it has expired."""
        if not _FORM.fullmatch(cookie):
            return None
        found = await self._state.find(_COOKIE, hashed(cookie))
        return None if found is None else self._read(found)

    async def sign_out(self, cookie: str) -> None:
        """From now on, the cookie is refused."""
        if _FORM.fullmatch(cookie):
            await self._state.take(_COOKIE, hashed(cookie))

    async def check_admin(self, server: str, admin: str) -> None:
        """Sign everyone out if this server's admin token has changed since it last started."""
        seen = hashed(f"{server} {admin}")[:8]
        if await self._state.add(_ADMIN, server, seen, _FOREVER.total_seconds()):
            return
        await self._state.clear(_COOKIE)
        await self._state.take(_ADMIN, server)
        await self._state.add(_ADMIN, server, seen, _FOREVER.total_seconds())

    async def _keep(self, kind: str, who: SignIn, seconds: float) -> str:
        secret = secrets.token_urlsafe(32)
        told = {"person": who.person, "scope": who.scope, "groups": who.groups}
        value = json.dumps({**told, "at": self._clock.now_ms()})
        await self._state.add(kind, hashed(secret), value, seconds)
        return secret

    def _read(self, value: str) -> SignIn:
        told = json.loads(value)
        age_ms = self._clock.now_ms() - told["at"]
        scope = told["scope"]
        if scope == "admin" and age_ms >= ADMIN_LIVES.total_seconds() * 1000:
            scope = "operate"
        return SignIn(told["person"], scope, tuple(told["groups"]))
