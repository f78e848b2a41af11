"""Watches the processes of this machine's agents, which the server can't see."""

import json
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from callboard.events.json_values import Object, as_list, as_object, as_text, objects
from callboard.relay.batches import CHILD, SIGHTING
from callboard.relay.outbox import Outbox
from callboard.systems.current import system
from callboard.systems.processes import is_alive, started_at
from callboard.terminals.records import terminal_of

EVERY: Final = 1.0
"""Seconds between two looks, while there is an agent."""
UNHELD_SECS: Final = 10.0
"""A held hook comes back within seconds of a restart; one that doesn't is gone."""
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class WatchedClient:
    """The client of a plate. holds: the questions for which a hook should be waiting."""

    plate: str
    pid: int | None
    start: str | None
    boot_id: str
    holds: tuple[str, ...]

    @property
    def client(self) -> tuple[str, int | None, str | None]:
        """Identifies the process on this plate: a session may continue in another one."""
        return self.plate, self.pid, self.start

    @property
    def has_ended(self) -> bool:
        """Whether its process is gone."""
        if self.pid is None:
            return False
        here = system.boot_id()
        if self.boot_id and here and self.boot_id != here:
            return True
        return not is_alive(self.pid, self.start)


class ProcessWatch:
    """Reports processes that end, and questions whose hooks don't come back.

    held: the questions whose hooks wait here. gone: reports one that no hook
    waits for, and returns whether that could be written.
    """

    def __init__(
        self,
        outbox: Outbox,
        now: Callable[[], float],
        held: Callable[[], Collection[str]],
        gone: Callable[[str], bool],
    ) -> None:
        self._outbox = outbox
        self._now = now
        self._held = held
        self._gone = gone
        self._watched: list[WatchedClient] = []
        self._ended: set[tuple[str, int | None, str | None]] = set()
        self._unheld: dict[str, float] = {}
        self._missed: set[str] = set()

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self._watched)

    def watch(self, data: Object) -> None:
        """The server says which clients are on its board."""
        plates = objects(as_list(data.get("plates"))[:_MOST])
        told = [one for one in plates if one.get("status") != "closed"]
        self._watched = [_client(one) for one in told]
        self._ended &= {one.client for one in self._watched}

    def look(self) -> None:
        """Report what has ended since the last look."""
        for one in self._watched:
            if one.client not in self._ended and one.has_ended:
                told = {"plate": one.plate, "event": "process_exit"}
                body = json.dumps({**told, "pid": one.pid, "start": one.start}).encode()
                with suppress(OSError):  # Full disk: the next look tries again.
                    self._outbox.add(SIGHTING, body)
                    self._ended.add(one.client)

    def look_for_hooks(self) -> None:
        """Report the questions whose hooks have been gone for too long."""
        now, held = self._now(), set(self._held())
        asked = {hold for one in self._watched for hold in one.holds}
        self._unheld = {hold: self._unheld.get(hold, now) for hold in asked - held}
        self._missed &= self._unheld.keys()
        for hold, since in self._unheld.items():
            # Once: while the server can't be reached, the list doesn't change for hours.
            if hold not in self._missed and now - since >= UNHELD_SECS and self._gone(hold):
                self._missed.add(hold)


def _client(told: Object) -> WatchedClient:
    pid, start = told.get("pid"), told.get("start")
    holds = (one for one in as_list(told.get("holds")) if isinstance(one, str))
    return WatchedClient(
        as_text(as_object(told).get("plate")),
        pid if isinstance(pid, int) else None,
        start if isinstance(start, str) else None,
        as_text(told.get("boot")),
        tuple(holds),
    )


class StartedAgents:
    """Tells the server when an agent that was started here reports from a child process of its own.

    Several clients are scripts that start the actual program. The server knows what was started,
    and can't see which processes of this machine descend from it.
    """

    def __init__(self, outbox: Outbox, boot_id: str) -> None:
        self._outbox = outbox
        self._boot_id = boot_id
        self._known: deque[tuple[int, str]] = deque(maxlen=_MOST)

    def heard(self, pid: int | None) -> None:
        """A hook of this process is about to be kept; OSError if what it says can't be."""
        start = None if pid is None else started_at(pid)
        if pid is None or start is None or (pid, start) in self._known:
            return
        own = terminal_of(pid, start)
        if own is not None and own.pid != pid:
            told = {
                "event": CHILD,
                "boot": self._boot_id,
                "pid": pid,
                "proc_start": start,
                "of": {"pid": own.pid, "proc_start": own.start},
            }
            self._outbox.add(SIGHTING, json.dumps(told).encode())
        self._known.append((pid, start))
