"""Messages to a coding agent: how they can be handed over, and what shows what became of them.

Each client's ways are in `vendors/<agent>/steering.py`. They run on the machine of the agent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from callboard.events.shapes import Shape

When = Literal["now", "after_turn"]
"""At the agent's next opportunity, or once its turn is over."""
Way = Literal["inbox", "app_server", "plugin", "hook", "terminal", "prompt"]
"""Claude Code's inbox socket, Codex's app server, opencode's plugin, what a hook prints, what
is typed into its terminal, and a prompt of ACP."""

WAITING: Final = "Delivered once the dialog in its terminal is closed."
TURN_RUNS: Final = "Its turn isn't over yet."
Note = Callable[[], None]
"""Notes on disk that a message is handed over now: a machine that crashes before can try again.

It may wait for the disk. OSError if that failed; then the message is not handed over.
"""
NOTES: Final = {"waiting": WAITING}
"""When a client takes a message, by what it does now, where that is the same for every message."""


@dataclass(frozen=True, slots=True)
class Recipient(Shape):
    """The session that a message is for, as its plate knows it.

    transcript: as hooks named it. status: what the board knows of it; clients that say it
    themselves are asked first.
    """

    agent: str
    session_id: str
    folder: str
    pid: int | None = None
    proc_start: str | None = None
    transcript: str | None = None
    tmux_target: str | None = None
    status: Literal["idle", "busy", "waiting"] | None = None


@dataclass(frozen=True, slots=True)
class Outgoing(Shape):
    """A message. sender: who wrote it, for the agent and the person at its terminal.

    way: how it is or was handed over, as it is recorded; None: as the client is reached now.
    """

    id: str
    text: str
    when: When
    sender: str | None = None
    way: Way | None = None


@dataclass(frozen=True, slots=True)
class Reach(Shape):
    """Whether and how a session can be reached at this moment.

    way: None if there is none now. authority: whether the model takes the message as its person's
    own words. note: when it will be reached or why it can't be, as a sentence for people.
    """

    way: Way | None
    authority: bool
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MessageHandover(Shape):
    """What came of handing a message over.

    result: `accepted`: the client took it, and `look` finds out more; `held`: its person has to
    agree first; `untouched`: certainly nothing happened, so that it can be tried again; `unknown`:
    only evidence can tell.
    """

    result: Literal["accepted", "held", "untouched", "unknown"]
    way: Way
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Sighting(Shape):
    """What the client's own records show of a message. None: nothing yet.

    refused: its person didn't accept it. untouched: it was taken back, or the client dropped it, so
    that it can be sent again. held: a dialog waits for its person first. left: it waits for no
    hook and no person anymore, and nothing shows yet that it arrived.
    """

    status: Literal["delivered", "seen", "refused", "untouched", "held", "left"] | None
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class InterruptAttempt(Shape):
    """Whether a client was told to stop its agent's turn. note: why not, as a sentence."""

    told: bool
    note: str | None = None


def unnoted() -> None:
    """Nothing is noted: a message that is handed over without a journal."""


class Steering(Protocol):
    """One client's ways. No method waits longer than a few seconds, or raises for the client."""

    async def reach(self, recipient: Recipient) -> Reach:
        """Whether a message could be handed over now."""
        ...

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Hand a message over, at most once. Never into a dialog that is open.

        note: called just before the client can get it.
        """
        ...

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """What became of a message that was handed over."""
        ...

    async def recall(self, recipient: Recipient, message: Outgoing) -> bool:
        """Take back a message that waits for a hook; returns whether that worked."""
        ...

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Stop the agent's turn. A turn that is over is not told anything."""
        ...
