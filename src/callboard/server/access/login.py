"""Sign-in links, and the cookies that browsers get for them."""

import hmac
import re
import secrets
from datetime import timedelta
from hashlib import sha256
from typing import Final

from callboard.board.tokens import local_person
from callboard.clock import Clock
from callboard.events.access import SCOPES, Scope

LIVES: Final = timedelta(days=30)
ADMIN_LIVES: Final = timedelta(hours=1)
"""How long a cookie with the scope `admin` has that scope. After that, it has `operate`."""

_FORM = re.compile(r"v1\.([a-z]+)\.([0-9]{1,16})\.([0-9a-f]{64})")
MOST: Final = 64
"""The maximum number of unused codes. The oldest are dropped first."""


def _signature(admin: str, text: str) -> str:
    key = hmac.digest(admin.encode(), b"callboard cookie", sha256)
    return hmac.new(key, text.encode(), sha256).hexdigest()


class Links:
    """The unused codes, and the cookies they are exchanged for."""

    def __init__(self, clock: Clock, lives: float) -> None:
        self._clock = clock
        self._lives_ms = round(lives * 1000)
        self._open: dict[bytes, tuple[Scope, int]] = {}

    def create(self, scope: Scope = "operate") -> tuple[str, int]:
        """Create a code; returns it and its expiry time in milliseconds."""
        self._forget_old()
        while len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        code = secrets.token_urlsafe(32)
        until = self._clock.now_ms() + self._lives_ms
        self._open[_hash(code)] = (scope, until)
        return code, until

    def use(self, code: str) -> Scope | None:
        """Use up a code; returns its scope, or None if it is wrong, used or expired."""
        self._forget_old()
        # Looked up by its hash, so that timing reveals nothing about similar codes.
        found = self._open.pop(_hash(code), None)
        return None if found is None else found[0]

    def cookie(self, admin: str, scope: Scope) -> str:
        """The cookie for a used code; `admin` is the token that its key is derived from."""
        until = self._clock.now_ms() + _ms(LIVES)
        text = f"v1.{scope}.{until}"
        return f"{text}.{_signature(admin, text)}"

    def identify(self, admin: str, cookie: str) -> tuple[str, Scope] | None:
        """The name and scope of a cookie; None if it is forged or expired."""
        form = _FORM.fullmatch(cookie)
        if form is None:
            return None
        scope, until, signature = form.groups()
        if not hmac.compare_digest(signature, _signature(admin, f"v1.{scope}.{until}")):
            return None
        now, end = self._clock.now_ms(), int(until)
        if scope not in SCOPES or now >= end:
            return None
        if scope == "admin" and now >= end - _ms(LIVES) + _ms(ADMIN_LIVES):
            scope = "operate"
        # Only the person who runs the server can have read the link.
        return local_person(), scope

    def _forget_old(self) -> None:
        now = self._clock.now_ms()
        self._open = {code: one for code, one in self._open.items() if now < one[1]}


def _ms(period: timedelta) -> int:
    return round(period.total_seconds() * 1000)


def _hash(code: str) -> bytes:
    return sha256(code.encode(errors="surrogatepass")).digest()
