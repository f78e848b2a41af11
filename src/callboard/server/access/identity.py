"""Who sends a request, as the guard found out."""

from dataclasses import dataclass

from callboard.server.access.scopes import Scope


@dataclass(frozen=True, slots=True)
class Identity:
    """The holder of a token: its name is recorded with everything that the token was used for."""

    name: str
    scope: Scope
    via: str = "http"
    """Through what: `http`, or what the client calls itself (`cli`, `python`, `react`, …)."""
