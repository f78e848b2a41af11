"""Reports what an agent does to the board, as its hooks would: to the server, or to the spool.

In order. Texts that an agent says bit by bit are joined, so that there is at most one event for
them in a while. Of many reports, only the last one is a request, and the others are left in the
spool before it: the server or relay that takes the request reads the spool first, and records what
is there together. If the server can't be reached, the spool keeps everything, and if that is full,
the agent has to wait.
"""

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.courier.delivery import ANSWER_WITHIN, drop
from callboard.courier.letters import Letter
from callboard.courier.processes import Process
from callboard.courier.wire import Refused, Timeouts, ask, read_connection
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.vendors.acp.payloads import NAME
from callboard.vendors.acp.updates import Part, as_dict, bounded, grows, joined
from callboard.waiting import wait_any

AT_MOST_EVERY: Final = 0.05
"""Seconds between two events of a text that the agent is saying."""
_MOST_WAITING: Final = 4 * 1024 * 1024
_LARGEST: Final = 500_000
"""Characters of a report. Of one that is too large, the board would keep only the start."""
_MOST_ASKING: Final = 64
"""Questions that can be open at once; more wait for an answer to one of them."""
_SOONEST, _LATEST = 0.2, 2.0
_TELL_AFTER: Final = 3.0
"""Seconds without a server after which a question is left in the spool, for the next server."""
_FULL_AGAIN: Final = 1.0
_LONGEST_SEND: Final = 10.0
_AT_ONCE: Final = 100
"""Reports that are handed over together: as many as a server records in one commit."""


class BoardReports:
    """Reports on one agent. hooks: the hooks folder. folder: the one that the agent works in.

    session: the id of its session, which is in every report.
    """

    def __init__(self, hooks: str, folder: str, session: str) -> None:
        self.session = session
        self._hooks = hooks
        self._folder = folder
        self._us = Process(os.getpid())
        self._waiting: deque[Part] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self._sent = asyncio.Event()
        self._sent.set()
        self._room = asyncio.Event()
        self._room.set()
        self._ends = False
        self._patience = _UntilOver()
        # Each takes a thread for as long as it is open, and nothing else may wait for one.
        self._asking = ThreadPoolExecutor(_MOST_ASKING, "asking")

    def add(self, type: str, **told: Json) -> None:
        """Report something, after everything before it."""
        payload = self._payload({"type": type, **told})
        if type == "update" and self._waiting and self._waiting[-1].get("type") == "update":
            last = self._waiting[-1]
            both = joined(as_dict(last["update"]), as_dict(told["update"]))
            if both is not None:
                self._grow(_weight(both) - _weight(last["update"]))
                last["update"] = both
                return
        self._waiting.append(payload)
        self._grow(_weight(payload))
        self._sent.clear()
        self._news.set()

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > _MOST_WAITING:
            self._room.clear()
        else:
            self._room.set()

    async def room(self) -> None:
        """Wait until there is room for more."""
        await self._room.wait()

    async def flush(self) -> None:
        """Wait until everything so far has been sent."""
        await self._sent.wait()

    async def run(self) -> None:
        """Send what is to be reported, until `end`."""
        while not (self._ends and not self._waiting):
            self._news.clear()
            if not self._waiting:
                self._sent.set()
                await self._news.wait()
                continue
            payloads = self._next()
            await asyncio.to_thread(self._send, payloads)
            if not self._ends and grows(as_dict(payloads[-1].get("update"))):
                await asyncio.sleep(AT_MOST_EVERY)
        self._sent.set()

    def _next(self) -> list[Part]:
        """What is handed over together. It no longer takes up room."""
        payloads = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
        self._grow(-sum(map(_weight, payloads)))
        return payloads

    def end(self) -> None:
        """Let `run` end once everything has been sent."""
        self._ends = True
        self._news.set()

    def give_up(self) -> None:
        """Drop what could not be sent yet: its thread would keep this process from ending."""
        self._waiting.clear()
        self._patience.is_over = True
        self.end()

    async def answer(self, hold: str, payload: Object, over: asyncio.Event) -> Object:
        """Ask the board, and wait for the answer as long as it takes; empty once it is `over`.

        hold: the id of the question, the same however often it is asked.
        """
        told = self._payload(payload)
        patience = _UntilOver()
        loop = asyncio.get_running_loop()
        asking = loop.run_in_executor(self._asking, self._ask, told, hold, patience)
        await wait_any(asking, over.wait())
        patience.is_over = True
        return asking.result() if asking.done() else {}

    def _payload(self, told: Object) -> Part:
        known: Part = {"sessionId": self.session, "cwd": self._folder}
        return known | as_dict(bounded(told, _LARGEST))

    # ------------------------------------------------------------------ in threads

    def _letter(self, payload: Object) -> Letter:
        return Letter(self._hooks, NAME, json.dumps(payload).encode(), sender=self._us)

    def _send(self, payloads: Sequence[Object]) -> None:
        *earlier, last = (self._letter(one) for one in payloads)
        with suppress(_Over):
            for number, one in enumerate(earlier):
                if not self._leave(one, one.body(), weighs=number == 0):
                    self._hand_over(one)
            self._hand_over(last)

    def _hand_over(self, letter: Letter) -> None:
        body = letter.body()
        try:
            server = read_connection(self._hooks)
            if server is not None:
                ask(server, f"/hooks/{NAME}", body, Timeouts(ANSWER_WITHIN))
                return
        except (OSError, ValueError, Refused):
            pass
        self._leave(letter, body)

    def _leave(self, letter: Letter, body: bytes, *, weighs: bool = True) -> bool:
        """Leave it in the spool, once there is room; returns whether that was possible."""
        self._patience.left()
        while (Path(self._hooks) / "spool" / ".full").exists():
            _sleep(_FULL_AGAIN, self._patience)
        return drop(letter, body, weighs)

    def _ask(self, payload: Object, hold: str, patience: "_UntilOver") -> Object:
        letter = self._letter(payload)
        body = letter.body(hold)
        pause, alone, is_told = _SOONEST, 0.0, False
        with suppress(_Over):
            while True:
                try:
                    server = read_connection(self._hooks)
                    if server is not None:
                        reply = as_object(json.loads(ask(server, f"/hooks/{NAME}", body, patience)))
                        if reply:  # Else it couldn't be recorded just now.
                            return reply
                except (OSError, ValueError, Refused):
                    pass
                if alone >= _TELL_AFTER and not is_told:
                    drop(letter, body)
                    is_told = True
                _sleep(pause, patience)
                alone += pause
                pause = min(_LATEST, pause * 1.5)
        return {}


class _Over(Exception):
    """No one needs the answer anymore."""


class _UntilOver(Timeouts):
    def __init__(self) -> None:
        super().__init__(_LONGEST_SEND)
        self.is_over = False

    def left(self) -> float:
        if self.is_over:
            raise _Over
        return _LONGEST_SEND


def _sleep(seconds: float, patience: Timeouts) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        patience.left()
        time.sleep(0.05)


def _weight(payload: Json) -> int:
    return len(json.dumps(payload))
