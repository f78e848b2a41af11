"""What a scripted model says, turn by turn, whichever agent asks it."""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CUE = re.compile(r"play:([\w-]+)")
"""A prompt that holds `play:NAME` has the model play the script of that name."""


@dataclass(frozen=True)
class Say:
    """Some words."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool that the model wants to use. `input` may depend on what the model was sent."""

    tool: str
    input: Mapping[str, Any] | Callable[[str], Mapping[str, Any]]

    def arguments(self, sent: str) -> Mapping[str, Any]:
        return self.input(sent) if callable(self.input) else self.input


@dataclass(frozen=True)
class Hold:
    """Say nothing until the test lets go."""

    gate: threading.Event


@dataclass(frozen=True)
class Fail:
    """Answer with an error."""

    status: int
    kind: str


Turn = Sequence[Say | Call | Hold | Fail]
Script = Sequence[Turn]

OFF_SCRIPT: Turn = (Say("ok"),)


@dataclass(frozen=True)
class Place:
    """Where in which script a conversation stands: so many turns were played."""

    script: str
    turn: int


def cued(texts: Sequence[str]) -> str | None:
    """The last script that was asked for in these texts."""
    names = [name for text in texts for name in CUE.findall(text)]
    return names[-1] if names else None
