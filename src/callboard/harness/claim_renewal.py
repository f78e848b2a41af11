"""Who handles a session: a claim that is renewed while its harness lives, and freed when not."""

import os
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self

from callboard.board.question_protocols import Questions
from callboard.clock import Clock
from callboard.errors import CallboardError, Claimed, ConflictError, NotFound
from callboard.interactions.configs import is_shared, participants
from callboard.interactions.records import Interaction
from callboard.systems.processes import is_alive, started_at

TTL_MS: Final = 60_000
RENEW_AFTER: Final = 20.0

_NAME: Final = re.compile(r".* \(attend (\d+)\.([^@]*)@(.*)\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Harness:
    """A process that attends to sessions, as others see it."""

    pid: int
    start: str
    host: str
    person: str = ""

    @classmethod
    def here(cls, person: str | None) -> Self:
        """This process."""
        start = (started_at(os.getpid()) or "").replace("@", " ")
        return cls(os.getpid(), start, socket.gethostname(), person or "someone")

    @classmethod
    def named(cls, name: str | None) -> Self | None:
        """The harness that a claim is of; None for anybody else's."""
        found = _NAME.fullmatch(name or "")
        return cls(int(found[1]), found[2], found[3]) if found else None

    @property
    def name(self) -> str:
        """What stands in its claims."""
        return f"{self.person} (attend {self.pid}.{self.start}@{self.host})"

    @property
    def is_dead(self) -> bool:
        """Whether it is known to be; one on another machine never is."""
        return self.host == socket.gethostname() and not is_alive(self.pid, self.start or None)


def is_free(asked: Interaction, me: Harness) -> bool:
    """Whether this harness can have the question at once."""
    if not is_for(asked, me.person):
        return False
    if is_shared(asked.config):
        return True
    holder = Harness.named(asked.claimed_by)
    return asked.claimed_by in (None, me.name) or (holder is not None and holder.is_dead)


def is_for(asked: Interaction, person: str) -> bool:
    """Whether a person can decide it: where several have to, each of them does so once."""
    required = participants(asked.config)
    return not required or (person in required and person not in (asked.response or {}))


async def take(desk: Questions, asked: Interaction, me: Harness) -> Interaction:
    """Claim a question; Claimed when someone else handles it, unless they share it."""
    holder = Harness.named(asked.claimed_by)
    if asked.claimed_by is not None and holder is not None and holder.is_dead:
        # Anyone who has a claim gives it back, and its holder cannot any more.
        await desk.release(asked.id, by=asked.claimed_by)
    try:
        return await desk.claim(asked.id, by=me.name, ttl_ms=TTL_MS)
    except Claimed:
        if is_shared(asked.config):
            return await desk.get(asked.id)
        raise


async def give_back(desk: Questions, asked: Interaction, me: Harness) -> None:
    """Let someone else have it."""
    with suppress(CallboardError):  # It runs out by itself.
        await desk.release(asked.id, by=me.name)


async def keep(
    desk: Questions, asked: Interaction, me: Harness, clock: Clock, on_loss: Callable[[str], None]
) -> None:
    """Renew a claim for ever; who is told once when it is lost permanently."""
    while True:
        await clock.sleep(RENEW_AFTER)
        try:
            await desk.claim(asked.id, by=me.name, ttl_ms=TTL_MS)
        except Claimed as error:
            if is_shared(asked.config):
                continue  # Anyone who came first has the claim, and leaves it to us when they go.
            return on_loss(f"{error.claimed_by} is working on this too; the first decision counts.")
        except ConflictError as error:
            return on_loss(f"{error.message} Nothing more is recorded.")
        except NotFound:
            return on_loss("The question no longer exists. Nothing more is recorded.")
        except CallboardError:
            continue  # No server just now. What is decided meanwhile is kept.
