"""A harness's claim on a question: renewed while the harness lives, and freed when it dies."""

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
        """The harness that holds a claim; None for any other holder."""
        found = _NAME.fullmatch(name or "")
        return cls(int(found[1]), found[2], found[3]) if found else None

    @property
    def name(self) -> str:
        """Its name in claims."""
        return f"{self.person} (attend {self.pid}.{self.start}@{self.host})"

    @property
    def is_dead(self) -> bool:
        """Whether it is known to be dead. On another machine, that is never known."""
        return self.host == socket.gethostname() and not is_alive(self.pid, self.start or None)


def is_free(asked: Interaction, me: Harness) -> bool:
    """Whether this harness can claim the question now."""
    if not is_for(asked, me.person):
        return False
    if is_shared(asked.config):
        return True
    holder = Harness.named(asked.claimed_by)
    return asked.claimed_by in (None, me.name) or (holder is not None and holder.is_dead)


def is_for(asked: Interaction, person: str) -> bool:
    """Whether a person can decide it. If several have to, each decides once."""
    required = participants(asked.config)
    return not required or (person in required and person not in (asked.response or {}))


async def take(desk: Questions, asked: Interaction, me: Harness) -> Interaction:
    """Claim a question; Claimed if someone else has it, unless they share it."""
    holder = Harness.named(asked.claimed_by)
    if asked.claimed_by is not None and holder is not None and holder.is_dead:
        # A claim is released under its holder's name, and this holder is dead.
        await desk.release(asked.id, by=asked.claimed_by)
    try:
        return await desk.claim(asked.id, by=me.name, ttl_ms=TTL_MS)
    except Claimed:
        if is_shared(asked.config):
            return await desk.get(asked.id)
        raise


async def give_back(desk: Questions, asked: Interaction, me: Harness) -> None:
    """Release a question for others."""
    with suppress(CallboardError):  # It times out by itself.
        await desk.release(asked.id, by=me.name)


async def keep(
    desk: Questions, asked: Interaction, me: Harness, clock: Clock, on_loss: Callable[[str], None]
) -> None:
    """Keep renewing a claim; calls `on_loss` once if it is lost permanently."""
    while True:
        await clock.sleep(RENEW_AFTER)
        try:
            await desk.claim(asked.id, by=me.name, ttl_ms=TTL_MS)
        except Claimed as error:
            if is_shared(asked.config):
                continue  # The first holder has the claim, and we get it when they leave.
            return on_loss(f"{error.claimed_by} is working on this too; the first decision counts.")
        except ConflictError as error:
            return on_loss(f"{error.message} Nothing more is recorded.")
        except NotFound:
            return on_loss("The question no longer exists. Nothing more is recorded.")
        except CallboardError:
            continue  # No server at the moment. A decision made meanwhile is kept.
