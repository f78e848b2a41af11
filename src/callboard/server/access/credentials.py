"""Who sends a request, by its token or cookie; callers with wrong tokens have to wait."""

import re
from collections import OrderedDict, deque
from math import ceil
from typing import Final

from callboard.clock import Clock
from callboard.errors import TooManyFailures, Unauthenticated
from callboard.events.access import Scope, Token
from callboard.events.moments import from_ms, iso
from callboard.server.access.head import Head
from callboard.server.access.identity import Identity
from callboard.server.access.login import Links
from callboard.server.access.origins import RequestOrigin
from callboard.server.access.pages import page_identity
from callboard.server.access.requirement import COOKIE
from callboard.server.access.tokens import Tokens

ALLOWED: Final = 10
"""How many wrong tokens one address may send in a window, unless told."""
WINDOW: Final = 60.0
"""Seconds."""
_MOST_ADDRESSES = 1024
_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)
_VIA = re.compile(r"[a-z0-9-]{1,32}")
_RESERVED = frozenset({"terminal"})
"""Ways that no one can take who comes to us: it means that an agent's own dialog decided."""
_MOST_COOKIES = 4


class Failures:
    """The wrong tokens of the last minute. Right ones are never asked about here."""

    def __init__(self, clock: Clock, allowed: int = ALLOWED) -> None:
        self._clock = clock
        self._allowed = max(0, allowed)
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, address: str) -> int | None:
        """Count one more; gives the seconds to wait when that is too many, else None."""
        now = self._clock.monotonic()
        times = self._by_address.setdefault(address, deque(maxlen=self._allowed))
        self._by_address.move_to_end(address)
        if len(self._by_address) > _MOST_ADDRESSES:
            self._by_address.popitem(last=False)
        while times and now - times[0] >= WINDOW:
            times.popleft()
        if len(times) == self._allowed:
            oldest = times[0] if times else now
            return max(1, ceil(oldest + WINDOW - now))
        times.append(now)
        return None


class Credentials:
    """Finds out who sends a request."""

    def __init__(
        self, tokens: Tokens, links: Links, failures: Failures, *, dev: bool = False
    ) -> None:
        self._dev = dev
        self._tokens = tokens
        self._links = links
        self._failures = failures

    async def find(self, head: Head, sender: RequestOrigin) -> Identity | None:
        """Who sends it, or None when it shows nothing that counts."""
        given = head.one("callboard-via") or ""
        via = given if _VIA.fullmatch(given) and given not in _RESERVED else "http"
        secret = _bearer(head)
        if secret is not None:
            token = await self._tokens.find(secret)
            if token is not None and self._tokens.issued.is_valid(token):
                return Identity(
                    token.name, token.scope, via, person=token.person, groups=token.groups
                )
        elif (found := self._by_cookie(head, sender)) is not None:
            return Identity(*found, via)
        # Who shows a token means it: one that is wrong is refused here too.
        shows_nothing = head.one("authorization") is None
        is_page = self._dev and shows_nothing and sender.named is not None
        return page_identity(head, via) if is_page else None

    async def refusal(self, head: Head, sign_in: str | None) -> Unauthenticated | TooManyFailures:
        """The error for a sender who was not found. Wrong tokens are counted, missing ones not.

        sign_in: the command that signs a browser in, for those who may know it.
        """
        secret = _bearer(head)
        if secret is None:
            return Unauthenticated(sign_in=sign_in)
        token = await self._tokens.find(secret)
        if token is not None:
            # Not counted: anyone who has the whole secret is not guessing.
            return Unauthenticated(_over(token))
        wait = self._failures.count(head.remote)
        if wait is None:
            return Unauthenticated(
                "This token is not valid. Make another one: callboard token create"
            )
        return TooManyFailures(
            f"Too many wrong tokens from {head.remote}; wait {wait} s. A valid token is always "
            "accepted.",
            retry_after=wait,
        )

    def _by_cookie(self, head: Head, sender: RequestOrigin) -> tuple[str, Scope] | None:
        # A browser sends cookies no matter who asks. So they count for our own pages only, and
        # for commands only where the browser itself says that it was one of them.
        if sender.named is not None or (head.commands and not sender.same_origin):
            return None
        admin = self._tokens.admin()
        for value in _cookies(head)[:_MOST_COOKIES]:
            found = self._links.identify(admin, value)
            if found is not None:
                return found
        return None


def _over(token: Token) -> str:
    """Why a token that was once right is not any more, for those who have it."""
    again = "Make another one: callboard token create"
    if token.revoked_at is not None:
        return f"The token {token.id} ({token.name}) was revoked. {again}"
    assert token.expires_at is not None
    moment = iso(from_ms(token.expires_at))
    return f"The token {token.id} ({token.name}) expired at {moment}. {again}"


def _bearer(head: Head) -> str | None:
    given = _BEARER.fullmatch(head.one("authorization") or "")
    return None if given is None else given[1]


def _cookies(head: Head) -> list[str]:
    """Every cookie of our name: another path or domain may have set one too."""
    pairs = [pair.partition("=") for line in head.all("cookie") for pair in line.split(";")]
    return [value.strip().strip('"') for name, _, value in pairs if name.strip() == COOKIE]
