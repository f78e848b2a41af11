"""What a token allows, and who a request is from. `hook` stands apart from the other scopes."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Scope = Literal["hook", "read", "answer", "operate", "admin"]

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

_RANK: Final[dict[Scope, int]] = {"read": 1, "answer": 2, "operate": 3, "admin": 4}


def allows(has: Scope, needed: Scope) -> bool:
    """Whether who has one scope may do what needs another."""
    if has == "admin" or has == needed:
        return True
    # Whoever reports hooks may do nothing else, and only admins may report in their place.
    return has in _RANK and needed in _RANK and _RANK[has] >= _RANK[needed]


@dataclass(frozen=True, slots=True)
class Identity:
    """The holder of a token: its name is recorded with everything that the token was used for."""

    name: str
    scope: Scope
    via: str = "http"
    """Through what: `http`, or what the client calls itself (`cli`, `python`, `react`, …)."""
    is_page: bool = False
    """A page under development, which shows no token: see `callboard.server.access.pages`."""
