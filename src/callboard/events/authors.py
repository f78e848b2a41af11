"""Who did something: the authenticated name, and the name that the caller gave."""

from dataclasses import dataclass

from callboard.events.payloads.people import Answered
from callboard.events.payloads.workflow import Authored, Reasoned


@dataclass(frozen=True, slots=True)
class Author:
    """The holder of a token, who may have given another name.

    Only `name` was verified. `given` is what the caller calls itself.
    """

    name: str
    given: str | None = None
    person: str = ""
    """The person that questions are assigned to; defaults to the token's name."""
    groups: tuple[str, ...] = ()
    overrides: bool = False
    """Whether they may answer in place of the assignees."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names that questions are assigned to them under: the person, then `group:NAME`."""
        return (self.person or self.name, *(f"group:{group}" for group in self.groups))


By = Author | str | None
"""Who did something; a bare name where people aren't authenticated, as in this process."""


def authored(by: By) -> Authored:
    """Who did it, as events record it: `by`, and `as` for a name that only the caller gave."""
    if by is None or by == "":
        return {}
    if isinstance(by, str):
        return {"by": by}
    if by.given and by.given != by.name:
        return {"by": by.name, "as": by.given}
    return {"by": by.name}


def answerer(by: By, via: str | None) -> Answered:
    """Who answered, and where, as events record it."""
    who: Answered = {**authored(by)}
    if via is not None:
        who["via"] = via
    return who


def reasoned(by: By, reason: str | None) -> Reasoned:
    """Who did it, and why, as events record it."""
    who: Reasoned = {**authored(by)}
    if reason is not None:
        who["reason"] = reason
    return who
