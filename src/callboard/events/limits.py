"""Limits: how many agents of a kind may run at once, and which of them do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from callboard.events.shapes import Millis, Shape, Unsent

_LONGEST_NAME: Final = 64
LIMIT_NAME: Final = f"1 to {_LONGEST_NAME} visible characters, without spaces around them"
"""What a limit can be called."""
MOST: Final = 1_000_000
"""The highest number."""


def is_limit_name(name: object) -> bool:
    """Whether a limit can have this name."""
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        return False
    return name.isprintable() and name == name.strip()


@dataclass(frozen=True, slots=True)
class AgentSlot(Shape):
    """An agent that has a slot of a limit, or waits for one."""

    session_id: str
    run: Annotated[str, "The agent's run, as its events name it."]
    waiting: Annotated[bool, "Whether it is still in the queue."]
    since: Annotated[Millis, "When it got the slot, or started to wait."]
    owner: Unsent[str] = ""


@dataclass(frozen=True, slots=True)
class AgentLimit(Shape):
    """A limit: how many agents with its name may run at once, and how many do.

    A name without a number is not limited.
    """

    name: str
    number: Annotated[int | None, "How many agents may run at once; null without a limit."]
    in_use: Annotated[int, "How many run now. More than `number` if it was lowered meanwhile."]
    waiting: Annotated[int, "How many wait for a slot."]
    slots: Annotated[
        Sequence[AgentSlot],
        "The agents that run, then those that wait, in the order of the queue. At most 1000 for "
        "all limits together.",
    ]


@dataclass(frozen=True, slots=True)
class LimitList(Shape):
    """The limits that have a number or are in use, by name."""

    limits: list[AgentLimit]
