"""Sends the outbox to the server: in order, one batch at a time, until each item is confirmed."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from callboard.events.json_values import as_object, as_whole
from callboard.relay.batches import INCARNATION, MOST_ITEMS, SECRET, RelayItem, packed
from callboard.relay.contact import Backoff, ServerContact
from callboard.relay.http import HttpFailed, HttpReply
from callboard.relay.outbox import Outbox

_log = logging.getLogger(__name__)

PATH: Final = "/relay/reports"
BATCH_BYTES: Final = 1_048_576
"""A batch has no more items once it has this many bytes."""

_OK: Final = 200
_REFUSED: Final = 401
_DAMAGED: Final = (400, 422)
_TOO_LARGE: Final = 413
_SMALL: Final = 65_536
"""Bytes that every proxy accepts. If one says that they are too many, something else is wrong."""
NAME: Final = "reports"
"""The connection's name."""

Post = Callable[[str, bytes, Mapping[str, str]], Awaitable[HttpReply]]


class RelayRefused(Exception):
    """The server doesn't accept this machine's token. The message is for people."""


class Uplink:
    """Sends what is in an outbox.

    post: sends a request to the server.
    name: what people call this machine. secret: the relay's.
    """

    def __init__(
        self, outbox: Outbox, post: Post, contact: ServerContact, name: str, secret: str = ""
    ) -> None:
        self._outbox = outbox
        self._post = post
        self._contact = contact
        self._headers = {
            "Content-Type": "application/octet-stream",
            INCARNATION: outbox.incarnation,
            SECRET: secret,
            "Callboard-Host-Name": quote(name),
        }
        self._news = asyncio.Event()
        self._sent_up_to = 0
        self._most = MOST_ITEMS
        self._backoff = Backoff()
        self.lost = 0
        """Items that the server could not take, and that were dropped."""

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
                await self._contact.pause(wait)

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
            # The server, or a proxy, closes connections that were quiet for a while.
            return 0.0 if error.is_stale else self._failed(str(error))
        if is_refusal(reply):
            raise RelayRefused(message_of(reply))
        if reply.status == _TOO_LARGE or (reply.status in _DAMAGED and is_ours(reply)):
            return self._smaller(reply, items)
        acknowledged = _acknowledged(reply) if reply.status == _OK else 0
        # The page of a proxy, or of a network that wants a sign-in first, acknowledges nothing.
        if acknowledged < first:
            return self._failed(message_of(reply), reply.retry_after)
        self._confirmed(min(acknowledged, last))
        return 0.0

    def _confirmed(self, number: int) -> None:
        self._outbox.remove_up_to(number)
        self._most = MOST_ITEMS
        self._backoff.reset()
        self._contact.worked(NAME)

    def _failed(self, why: str, least: float = 0.0) -> float:
        self._contact.failed(NAME, why)
        return self._backoff.seconds(least)

    def _smaller(self, reply: HttpReply, items: Sequence[RelayItem]) -> float:
        """A batch was not taken: send a smaller one, and drop the item that is the cause."""
        if len(items) > 1:
            self._most = len(items) // 2
            return 0.0
        size = len(items[0].body)
        if reply.status == _TOO_LARGE and not is_ours(reply):
            if size < _SMALL:
                return self._failed(message_of(reply), reply.retry_after)
            why = "a proxy refuses its size. Raise the proxy's limit for bodies to 32 MB"
        else:
            why = message_of(reply)
        self.lost += 1
        _log.error("A report of %d bytes was dropped: %s (%d so far)", size, why, self.lost)
        self._confirmed(items[0].number)
        return 0.0


def is_refusal(reply: HttpReply) -> bool:
    """Whether our server refuses the token, and not a proxy the request."""
    return reply.status == _REFUSED and is_ours(reply)


def is_ours(reply: HttpReply) -> bool:
    """Whether an error comes from our server, and not from a proxy or another website."""
    try:
        return "error" in as_object(json.loads(reply.body))
    except ValueError:
        return False


def message_of(reply: HttpReply) -> str:
    """What the server says about an error, for people."""
    try:
        told = as_object(as_object(json.loads(reply.body)).get("error")).get("message")
    except ValueError:
        told = None
    return told if isinstance(told, str) else f"it responds with status {reply.status}"


def _acknowledged(reply: HttpReply) -> int:
    try:
        return as_whole(as_object(json.loads(reply.body)).get("acknowledged"))
    except ValueError:
        return 0
