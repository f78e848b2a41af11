"""Who a request is from, and what they may do."""

from dataclasses import dataclass
from typing import Final

from callboard.events.access import Scope

ADMITTED: Final = "callboard.admitted"
"""The key of a function in the scope of a request: whether its sender may still read."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The holder of a token or cookie, or whom a proxy has authenticated.

    name: recorded with everything they do. A request can't choose it.
    """

    name: str
    scope: Scope
    via: str = "http"
    """The client: `http`, or what the client calls itself (`cli`, `python`, `react`, …)."""
    is_page: bool = False
    """Whether this is a page in development, with no token: see `server.access.pages`."""
    person: str = ""
    """The person that questions are assigned to: the name, unless the token says otherwise."""
    groups: tuple[str, ...] = ()
    """The groups they belong to."""
    is_proxied: bool = False
    """Whether a proxy signed them in: see `server.access.proxy_sign_in`."""
    host: str | None = None
    """The host that their token is limited to: what they report is recorded for it."""
    token_id: str = ""
    """The token that they showed, if it was one."""

    def __post_init__(self) -> None:
        if not self.person:
            object.__setattr__(self, "person", self.name)
