"""Who did something: the authenticated name, and beside it the name that the caller gave."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Author:
    """The holder of a token, who may have given another name.

    Only `name` was checked. `given` is what the caller calls itself.
    """

    name: str
    given: str | None = None

    @property
    def participant(self) -> str:
        """The name under which they take part where several people decide with one token."""
        return self.given or self.name


By = Author | str | None
"""Who did something; a bare name where nothing authenticates people, as in this process."""


def authored(by: By) -> dict[str, str]:
    """What an event says about who did it: `by`, and `as` for a name that only the caller gave."""
    if by is None or by == "":
        return {}
    if isinstance(by, str):
        return {"by": by}
    told = by.given if by.given != by.name else None
    return {"by": by.name, **({"as": told} if told else {})}
