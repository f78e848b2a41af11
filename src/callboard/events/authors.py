"""Who did something: the authenticated name, and beside it the name that the caller gave."""

from dataclasses import dataclass

from callboard.events.payloads.people import Answered
from callboard.events.payloads.workflow import Authored, Reasoned


@dataclass(frozen=True, slots=True)
class Author:
    """The holder of a token, who may have given another name.

    Only `name` was checked. `given` is what the caller calls itself.
    """

    name: str
    given: str | None = None
    person: str = ""
    """Who they are when questions are assigned to people; the name, unless the token says."""
    groups: tuple[str, ...] = ()
    overrides: bool = False
    """Whether they may answer in place of the assignees."""

    @property
    def names(self) -> tuple[str, ...]:
        """Under which names questions are assigned to them: the person, then `group:NAME`."""
        return (self.person or self.name, *(f"group:{group}" for group in self.groups))


By = Author | str | None
"""Who did something; a bare name where nothing authenticates people, as in this process."""


def authored(by: By) -> Authored:
    """What an event says about who did it: `by`, and `as` for a name that only the caller gave."""
    if by is None or by == "":
        return {}
    if isinstance(by, str):
        return {"by": by}
    if by.given and by.given != by.name:
        return {"by": by.name, "as": by.given}
    return {"by": by.name}


def answerer(by: By, via: str | None) -> Answered:
    """What an event says about who answered, and where."""
    who: Answered = {**authored(by)}
    if via is not None:
        who["via"] = via
    return who


def reasoned(by: By, reason: str | None) -> Reasoned:
    """What an event says about who did it, and why."""
    who: Reasoned = {**authored(by)}
    if reason is not None:
        who["reason"] = reason
    return who
