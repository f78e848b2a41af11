"""What a request shows to say who sends it: a token, or the cookie of the one-time link."""

import re

from callboard.errors import TooManyFailures, Unauthenticated
from callboard.server.access.failures import Failures
from callboard.server.access.head import Head
from callboard.server.access.identity import Identity
from callboard.server.access.links import Links
from callboard.server.access.places import Sender
from callboard.server.access.requirement import COOKIE
from callboard.server.access.scopes import Scope
from callboard.server.access.tokens import Tokens

_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)
_VIA = re.compile(r"[a-z0-9-]{1,32}")
_RESERVED = frozenset({"terminal"})
"""Ways that nobody can take who comes to us: it means that an agent's own dialog decided."""
_MOST_COOKIES = 4


class Credentials:
    """Finds out who sends a request."""

    def __init__(self, tokens: Tokens, links: Links, failures: Failures) -> None:
        self._tokens = tokens
        self._links = links
        self._failures = failures

    def find(self, head: Head, sender: Sender) -> Identity | None:
        """Who sends it, or None when it shows nothing that counts."""
        token = _bearer(head)
        found = self._by_cookie(head, sender) if token is None else self._tokens.identify(token)
        if found is None:
            return None
        via = head.one("callboard-via") or ""
        name, scope = found
        return Identity(name, scope, via if _is_way(via) else "http")

    def refusal(self, head: Head) -> Unauthenticated | TooManyFailures:
        """The error for somebody who was not found. Wrong tokens are counted, missing ones not."""
        if _bearer(head) is None:
            return Unauthenticated()
        wait = self._failures.count(head.remote)
        if wait is None:
            return Unauthenticated(
                "This token is wrong, expired or revoked. `callboard token create` makes another."
            )
        return TooManyFailures(
            f"Too many wrong tokens came from {head.remote}; wait {wait} s. The right one is "
            "always taken.",
            retry_after=wait,
        )

    def _by_cookie(self, head: Head, sender: Sender) -> tuple[str, Scope] | None:
        # A browser sends cookies whoever asks it to. So they count for our own pages only, and
        # for commands only where the browser itself says that it was one of them.
        if sender.named is not None or (head.commands and not sender.same_origin):
            return None
        admin = self._tokens.admin()
        for value in _cookies(head)[:_MOST_COOKIES]:
            found = self._links.identify(admin, value)
            if found is not None:
                return found
        return None


def _bearer(head: Head) -> str | None:
    given = _BEARER.fullmatch(head.one("authorization") or "")
    return None if given is None else given[1]


def _cookies(head: Head) -> list[str]:
    """Every cookie of our name: another path or domain may have set one too."""
    pairs = [pair.partition("=") for line in head.all("cookie") for pair in line.split(";")]
    return [value.strip().strip('"') for name, _, value in pairs if name.strip() == COOKIE]


def _is_way(via: str) -> bool:
    return _VIA.fullmatch(via) is not None and via not in _RESERVED
