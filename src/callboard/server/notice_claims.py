"""Which server sends a notification: one of them, and another one if that server dies before.

A server holds a notification while it sends it, and so does not lose it: what a dead server held
may not have been sent. It may have been, if the server died just after that, and then it is sent
twice.
"""

from collections import OrderedDict
from typing import Final

from callboard.log.protocol import EventLog

_TOLD: Final = "told"
_SENDING: Final = "telling"
_KEPT: Final = 30 * 86_400.0
"""Seconds for which all servers remember that a notification was sent."""
_REMEMBERED: Final = 10_000


class NoticeClaims:
    """What this server sends. Servers with the same audience share their claims.

    A subject is what may need a person, such as a question. It is sent once for each occasion.
    """

    def __init__(self, log: EventLog, audience: str) -> None:
        self._log = log
        self._state = log.server_state
        self._audience = audience
        self._told: OrderedDict[str, None] = OrderedDict()
        self._left: set[str] = set()
        """Subjects of servers that died before they had sent them."""
        self._done: set[str] = set()
        """Subjects that are still held, although there is nothing left to send."""

    async def claim(self, subject: str, occasion: str) -> bool:
        """Whether this server sends it: no other one did, or has it in hand."""
        is_left = subject in self._left
        if occasion in self._told and not is_left:
            return False
        key = f"{self._audience} {occasion}"
        is_ours = is_left or await self._state.find(_TOLD, key) in (None, self._log.owner)
        if is_ours:
            # First, so that there is no moment in which it could get lost.
            await self._state.hold(_SENDING, f"{self._audience} {subject}")
            is_ours = await self._add(key) or (is_left and await self._take_over(key))
            if not is_ours:
                await self.finish(subject)
        self._told[occasion] = None
        while len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        return is_ours

    async def _add(self, key: str) -> bool:
        return await self._state.add(_TOLD, key, self._log.owner, _KEPT)

    async def _take_over(self, key: str) -> bool:
        """Replace the claim of a dead server, of which no other one can have its subject."""
        owner = await self._state.find(_TOLD, key)
        if owner is not None and not await self._log.owners.has_died(owner):
            return False
        await self._state.take(_TOLD, key)
        return await self._add(key)

    async def finish(self, *subjects: str) -> None:
        """These were sent, or aren't needed any more."""
        self._left.difference_update(subjects)
        self._done.update(subjects)
        await self._release()

    async def _release(self) -> None:
        for subject in tuple(self._done):
            await self._state.release(_SENDING, f"{self._audience} {subject}")
            self._done.discard(subject)

    def is_left(self, subject: str) -> bool:
        """Whether it was taken over from a server that died."""
        return subject in self._left

    async def take_over(self) -> set[str]:
        """The subjects that dead servers left; from now on, this one is responsible for them."""
        await self._release()  # What could not be released before.
        start = f"{self._audience} "
        keys = await self._state.adopt(_SENDING, start)
        found = {key.removeprefix(start) for key in keys}
        self._left |= found
        return found
