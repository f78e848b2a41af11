"""The one-time link: a code that becomes a cookie, once, within seconds.

Codes live in memory only. A restart forgets them, and nobody misses them.
"""

import secrets
from hashlib import sha256
from typing import Final

from callboard.clock import Clock
from callboard.server.access.cookies import open_sealed, seal
from callboard.server.access.scopes import Scope

MOST: Final = 64
"""How many unused codes there may be; the oldest gives way."""


class Links:
    """The codes that were given out and not used yet, and the cookies that they become."""

    def __init__(self, clock: Clock, lives: float) -> None:
        self._clock = clock
        self._lives_ms = round(lives * 1000)
        self._open: dict[bytes, tuple[Scope, int]] = {}

    def create(self, scope: Scope = "operate") -> tuple[str, int]:
        """Make a code; gives it, and the moment in milliseconds until which it can be used."""
        self._forget_old()
        while len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        code = secrets.token_urlsafe(32)
        until = self._clock.now_ms() + self._lives_ms
        self._open[_hash(code)] = (scope, until)
        return code, until

    def use(self, code: str) -> Scope | None:
        """What the code allows, and never again; None when it is wrong, used or too old."""
        self._forget_old()
        # Looked up by its hash: how long that takes says nothing of codes that are near.
        found = self._open.pop(_hash(code), None)
        return None if found is None else found[0]

    def cookie(self, admin: str, scope: Scope) -> str:
        """The cookie that a used code becomes; `admin` is the token that its key comes from."""
        return seal(admin, scope, self._clock.now_ms())

    def identify(self, admin: str, cookie: str) -> tuple[str, Scope] | None:
        """Whose cookie this is and what it allows; None for a forged or an expired one."""
        return open_sealed(admin, cookie, self._clock.now_ms())

    def _forget_old(self) -> None:
        now = self._clock.now_ms()
        self._open = {code: one for code, one in self._open.items() if now < one[1]}


def _hash(code: str) -> bytes:
    return sha256(code.encode(errors="surrogatepass")).digest()
