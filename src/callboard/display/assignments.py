"""Who a question is assigned to, in words."""

from callboard.interactions.assignment import GROUP
from callboard.interactions.records import Interaction


def assignment(asked: Interaction) -> str:
    """`Assigned to dana`, or `Unassigned`."""
    names = asked.assigned_to
    return f"Assigned to {people(names)}" if names else "Unassigned"


def people(names: list[str]) -> str:
    """Names and groups as a text: `ada, release group`."""
    return ", ".join(map(_called, names))


def _called(name: str) -> str:
    return f"{name.removeprefix(GROUP)} group" if name.startswith(GROUP) else name
