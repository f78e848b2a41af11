"""What a token allows. Each scope includes those before it; `hook` stands apart."""

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
