"""Who a request is from, and what they may do."""

from dataclasses import dataclass

from callboard.events.access import Scope


@dataclass(frozen=True, slots=True)
class Identity:
    """The holder of a token or of a cookie.

    name: recorded with everything that is done; it cannot be chosen in a request.
    """

    name: str
    scope: Scope
    via: str = "http"
    """Through what: `http`, or what the client calls itself (`cli`, `python`, `react`, …)."""
    is_page: bool = False
    """A page under development, which shows no token: see `callboard.server.access.pages`."""
    person: str = ""
    """Who they are when questions are assigned to people; the name, unless the token says."""
    groups: tuple[str, ...] = ()
    """The groups that they belong to."""

    def __post_init__(self) -> None:
        if not self.person:
            object.__setattr__(self, "person", self.name)
