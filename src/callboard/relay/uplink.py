"""Sends the outbox to the server: in order, one batch at a time, until each item is confirmed."""

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from callboard.clock import Clock
from callboard.events.json_values import as_object, as_whole
from callboard.relay.batches import INCARNATION, MOST_ITEMS, packed
from callboard.relay.http import HttpFailed, HttpReply
from callboard.relay.outbox import Outbox

_log = logging.getLogger(__name__)

PATH: Final = "/relay/reports"
BATCH_BYTES: Final = 1_048_576
"""A batch has no more items once it has this many bytes."""

_OK: Final = 200
_SOONEST, _LATEST = 0.2, 30.0
_REFUSED: Final = (401, 403)
_DAMAGED: Final = (400, 413, 422)

Post = Callable[[str, bytes, Mapping[str, str]], Awaitable[HttpReply]]


class RelayRefused(Exception):
    """The server doesn't accept this machine's token. The message is for people."""


class Backoff:
    """How long to wait after each failure in a row: longer each time, and never the same.

    Otherwise all relays would come back at once to a server that was restarted.
    """

    def __init__(self, soonest: float = _SOONEST, latest: float = _LATEST) -> None:
        self._soonest = soonest
        self._latest = latest
        self._next = soonest

    def reset(self) -> None:
        """It worked."""
        self._next = self._soonest

    def seconds(self, least: float = 0.0) -> float:
        """The seconds to wait now; `least` is what the server asks for."""
        chosen = self._next * random.uniform(0.5, 1.0)
        self._next = min(self._latest, self._next * 2)
        return min(max(chosen, least), 2 * self._latest)


class Uplink:
    """Sends what is in an outbox.

    post: sends a request to the server.
    name: what people call this machine.
    """

    def __init__(self, outbox: Outbox, post: Post, clock: Clock, name: str) -> None:
        self._outbox = outbox
        self._post = post
        self._clock = clock
        self._headers = {
            "Content-Type": "application/octet-stream",
            INCARNATION: outbox.incarnation,
            "Callboard-Host-Name": quote(name),
        }
        self._news = asyncio.Event()
        self._sent_up_to = 0
        self._most = MOST_ITEMS
        self._is_away = False
        self._backoff = Backoff()
        self.lost = 0
        """Items that the server could not read, and that were dropped."""

    def wake(self) -> None:
        """There is something to send."""
        self._news.set()

    async def run(self) -> None:
        """Send for as long as the server accepts this machine; RelayRefused if it doesn't."""
        while True:
            self._news.clear()
            if not len(self._outbox):
                await self._news.wait()
            wait = await self.send()
            if wait:
                await self._clock.sleep(wait)

    async def send(self) -> float:
        """Send one batch; returns the seconds to wait before the next one."""
        items = self._outbox.first(self._most, BATCH_BYTES)
        if not items:
            return 0.0
        first, last = items[0].number, items[-1].number
        # What was sent and not confirmed may have been recorded.
        told = [
            replace(one, again=True) if one.number <= self._sent_up_to else one for one in items
        ]
        self._sent_up_to = max(self._sent_up_to, last)
        try:
            reply = await self._post(PATH, packed(told), self._headers)
        except HttpFailed as error:
            return self._failed(str(error))
        if is_refusal(reply):
            raise RelayRefused(message_of(reply))
        if reply.status in _DAMAGED:
            return self._damaged(len(items), first)
        acknowledged = _acknowledged(reply) if reply.status == _OK else 0
        # The page of a proxy, or of a network that wants a sign-in first, acknowledges nothing.
        if acknowledged < first:
            return self._failed(f"it responds with status {reply.status}", reply.retry_after)
        self._confirmed(min(acknowledged, last))
        return 0.0

    def _confirmed(self, number: int) -> None:
        self._outbox.remove_up_to(number)
        self._most = MOST_ITEMS
        self._backoff.reset()
        if self._is_away:
            self._is_away = False
            _log.info("The server can be reached again.")

    def _failed(self, why: str, least: float = 0.0) -> float:
        if not self._is_away:
            self._is_away = True
            _log.warning("The server can't be reached: %s. Reports are kept until it can be.", why)
        return self._backoff.seconds(least)

    def _damaged(self, count: int, first: int) -> float:
        """A batch can't be read: send a smaller one, and drop the item that is the cause."""
        if count > 1:
            self._most = count // 2
        else:
            self.lost += 1
            _log.error("The server can't read a report, and it was dropped. So far: %d", self.lost)
            self._confirmed(first)
        return 0.0


def is_refusal(reply: HttpReply) -> bool:
    """Whether our server refuses the token, and not a proxy the request."""
    if reply.status not in _REFUSED:
        return False
    try:
        return "error" in as_object(json.loads(reply.body))
    except ValueError:
        return False


def message_of(reply: HttpReply) -> str:
    """What the server says about a refusal, for people."""
    try:
        told = as_object(as_object(json.loads(reply.body)).get("error")).get("message")
    except ValueError:
        told = None
    return told if isinstance(told, str) else f"It responds with status {reply.status}."


def _acknowledged(reply: HttpReply) -> int:
    try:
        return as_whole(as_object(json.loads(reply.body)).get("acknowledged"))
    except ValueError:
        return 0
