"""Who a question is assigned to, in words."""

from callboard.interactions.assignment import GROUP
from callboard.interactions.records import Interaction


def assignment(asked: Interaction) -> str:
    """`Assigned to dana`, or `Unassigned`."""
    names = asked.assigned_to
    return f"Assigned to {people(names)}" if names else "Unassigned"


def restriction(assignees: list[str] | None) -> str | None:
    """`Only ada or the release group can answer.`; None if anyone can."""
    return f"Only {people(assignees)} can answer." if assignees else None


def people(names: list[str]) -> str:
    """Names and groups as a text: `ada or the release group`."""
    *others, last = map(_called, names)
    return f"{', '.join(others)} or {last}" if others else last


def _called(name: str) -> str:
    return f"the {name.removeprefix(GROUP)} group" if name.startswith(GROUP) else name
