"""Access: the scopes, and what is stored of an access token.

`hook` is separate from the other scopes, each of which includes the ones before it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from callboard.events.shapes import Millis, Omitted, Shape, Unsent

Scope = Literal["hook", "read", "answer", "operate", "admin"]

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

_RANK: Final[dict[Scope, int]] = {"read": 1, "answer": 2, "operate": 3, "admin": 4}


def allows(has: Scope, needed: Scope) -> bool:
    """Whether a token with one scope may do what needs another."""
    if has == "admin" or has == needed:
        return True
    # A `hook` token can only report, and only an admin token may do so in its place.
    return has in _RANK and needed in _RANK and _RANK[has] >= _RANK[needed]


def highest(scopes: Iterable[Scope]) -> Scope | None:
    """The scope that includes all of these; None without any. `hook` counts least."""
    return max(scopes, key=lambda scope: _RANK.get(scope, 0), default=None)


@dataclass(frozen=True, slots=True)
class Token(Shape):
    """What is stored of an access token: everything except its secret.

    name: recorded with everything that the token is used for.
    person: who the token stands for when questions are assigned to people.
    host: the machine whose coding agents it reports, if it is limited to one.
    """

    id: str
    name: str
    person: str
    scope: Scope
    groups: tuple[str, ...]
    host: str | None
    created_at: Millis
    expires_at: Millis | None
    sha256: Unsent[str] = ""
    revoked_at: Unsent[int | None] = None

    def is_expired(self, now_ms: int) -> bool:
        """Whether it has expired."""
        return self.expires_at is not None and now_ms >= self.expires_at


@dataclass(frozen=True, slots=True)
class TokenHolder(Shape):
    """Who a caller is: the recorded name, the person it stands for, and what they may do.

    sign_out_url: where to sign out, if a proxy signed them in.
    """

    name: str
    person: str
    scope: Scope
    groups: tuple[str, ...] = ()
    sign_out_url: Omitted[str] = None


@dataclass(frozen=True, slots=True)
class TokenList(Shape):
    """The tokens that are not revoked, oldest first."""

    tokens: list[Token]


@dataclass(frozen=True, slots=True)
class NewToken(Shape):
    """A new token with its secret, which is not stored and never shown again."""

    token: Token
    secret: str
