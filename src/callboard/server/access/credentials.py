"""Identify the sender of a request by token, proxy or cookie, and rate-limit wrong tokens."""

import re
from collections import OrderedDict, deque
from math import ceil
from typing import Final

from callboard.clock import Clock
from callboard.errors import Forbidden, TooManyFailures, Unauthenticated
from callboard.events.access import Token
from callboard.events.moments import from_ms, iso
from callboard.server.access.head import Head
from callboard.server.access.identity import Identity
from callboard.server.access.login import Links, SignIn
from callboard.server.access.origins import RequestOrigin
from callboard.server.access.pages import page_identity
from callboard.server.access.proxy_sign_in import ProxyRefusal, ProxySignIn
from callboard.server.access.requirement import COOKIE
from callboard.server.access.sign_ins import SignIns
from callboard.server.access.tokens import Tokens

ALLOWED: Final = 10
"""The default number of wrong tokens that an address may send per window."""
WINDOW: Final = 60.0
"""Seconds."""
_MOST_ADDRESSES = 1024
_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)
_VIA = re.compile(r"[a-z0-9-]{1,32}")
_RESERVED = frozenset({"terminal"})
"""Values of `via` that clients can't use. This one means that an agent's own dialog decided."""
_MOST_COOKIES = 4


class Failures:
    """The wrong tokens of the last minute. Valid tokens never get here."""

    def __init__(self, clock: Clock, allowed: int = ALLOWED) -> None:
        self._clock = clock
        self._allowed = max(0, allowed)
        self._by_address: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, address: str) -> int | None:
        """Count a wrong token; returns the seconds to wait if there were too many."""
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
    """Identifies the sender of a request."""

    def __init__(
        self,
        tokens: Tokens,
        links: Links,
        failures: Failures,
        *,
        dev: bool = False,
        proxy: ProxySignIn | None = None,
        sign_ins: SignIns | None = None,
    ) -> None:
        self._dev = dev
        self._tokens = tokens
        self._links = links
        self._failures = failures
        self._proxy = proxy
        self._sign_ins = sign_ins
        # Created now, so that the process that starts the server can read it before the first
        # request.
        tokens.admin()

    async def find(self, head: Head, sender: RequestOrigin) -> Identity | None:
        """The sender, or None without valid credentials."""
        given = head.one("callboard-via") or ""
        via = given if _VIA.fullmatch(given) and given not in _RESERVED else "http"
        secret = _bearer(head)
        if secret is not None:
            token = await self._tokens.find(secret)
            if token is not None and self._tokens.issued.is_valid(token):
                return Identity(
                    token.name,
                    token.scope,
                    via,
                    person=token.person,
                    groups=token.groups,
                    host=token.host,
                    token_id=token.id,
                )
        elif (found := await self._by_proxy(head)) is not None:
            # What a proxy says about this request counts more than an earlier sign-in.
            return await self._signed_in(found, head, sender, via)
        elif (found := await self._by_cookie(head, sender)) is not None:
            return Identity(found.person, found.scope, via, groups=found.groups)
        # A token counts whenever one is sent, so a wrong one is refused here too.
        shows_nothing = head.one("authorization") is None
        is_page = self._dev and shows_nothing and sender.named is not None
        return page_identity(head, via) if is_page else None

    async def refusal(
        self, head: Head, sign_in: str | None
    ) -> Unauthenticated | Forbidden | TooManyFailures:
        """The error for an unidentified sender. Wrong tokens are counted, missing ones are not.

        sign_in: the command that signs a browser in, for callers who may know it.
        """
        secret = _bearer(head)
        if secret is None:
            found = await self._by_proxy(head)
            if isinstance(found, SignIn):
                return Unauthenticated(
                    f"{found.person} is signed in through the proxy, which counts only for pages "
                    "of this server. Programs need a token: callboard token create"
                )
            if found is None or not found.is_guess:
                return Unauthenticated(sign_in=sign_in) if found is None else found.error
            return self._too_many(head) or found.error
        token = await self._tokens.find(secret)
        if token is not None:
            # Not counted: a caller who has the whole secret isn't guessing.
            return Unauthenticated(_over(token))
        return self._too_many(head) or Unauthenticated(
            "This token is not valid. Make another one: callboard token create"
        )

    def _too_many(self, head: Head) -> TooManyFailures | None:
        """Count a wrong secret; returns the error if there were too many."""
        wait = self._failures.count(head.remote)
        if wait is None:
            return None
        return TooManyFailures(
            f"Too many wrong tokens from {head.remote}; wait {wait} s. A valid token is always "
            "accepted.",
            retry_after=wait,
        )

    async def _by_proxy(self, head: Head) -> SignIn | ProxyRefusal | None:
        return None if self._proxy is None else await self._proxy.find(head)

    async def _signed_in(
        self, found: SignIn | ProxyRefusal, head: Head, sender: RequestOrigin, via: str
    ) -> Identity | None:
        # Browsers stay signed in to a proxy by its cookie, which they send for any page.
        if isinstance(found, ProxyRefusal) or not _is_own_page(head, sender):
            return None
        if self._sign_ins is not None:
            await self._sign_ins.note(found, by_proxy=True)
        return Identity(found.person, found.scope, via, groups=found.groups, is_proxied=True)

    async def _by_cookie(self, head: Head, sender: RequestOrigin) -> SignIn | None:
        if not _is_own_page(head, sender):
            return None
        for value in cookies(head)[:_MOST_COOKIES]:
            found = await self._links.identify(value)
            if found is not None:
                return found
        return None


def _is_own_page(head: Head, sender: RequestOrigin) -> bool:
    """Whether what a browser sends by itself counts: a browser sends cookies for any page.

    So it counts only for our own pages, and for commands only if the browser says that the page is
    ours.
    """
    return sender.named is None and (not head.commands or sender.same_origin)


def _over(token: Token) -> str:
    """Why a token is no longer valid, for callers who have it."""
    again = "Make another one: callboard token create"
    if token.host is not None:
        again = "Pair its machine again: callboard pair"
    if token.revoked_at is not None:
        return f"The token {token.id} ({token.name}) was revoked. {again}"
    assert token.expires_at is not None
    moment = iso(from_ms(token.expires_at))
    return f"The token {token.id} ({token.name}) expired at {moment}. {again}"


def _bearer(head: Head) -> str | None:
    given = _BEARER.fullmatch(head.one("authorization") or "")
    return None if given is None else given[1]


def cookies(head: Head) -> list[str]:
    """Every cookie with our name: another path or domain may have set one too."""
    pairs = [pair.partition("=") for line in head.all("cookie") for pair in line.split(";")]
    return [value.strip().strip('"') for name, _, value in pairs if name.strip() == COOKIE]
