"""Several ways to one client, in the order in which they are preferred."""

from collections.abc import Mapping
from typing import Final, Protocol

from callboard.vendors.steering import (
    InterruptAttempt,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    Way,
    unnoted,
)

_NO_WAY: Final = "It can't be reached."


class WayTo(Protocol):
    """One way to a client."""

    async def reach(self, recipient: Recipient) -> Reach:
        """Whether it leads there now."""
        ...

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Hand a message over."""
        ...

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """What became of a message that went this way."""
        ...


class Recalling(WayTo, Protocol):
    """A way on which a message waits, and can be taken back."""

    async def recall(self, recipient: Recipient, message: Outgoing) -> bool:
        """Take it back; returns whether that worked."""
        ...


class Interrupting(Protocol):
    """Something that can stop a turn."""

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Stop the turn."""
        ...


class ComposedSteering:
    """The ways to a client.

    ways: by name, the best first. mail: the one among them on which messages wait.
    """

    def __init__(
        self, ways: Mapping[Way, WayTo], mail: Recalling | None, interrupting: Interrupting
    ) -> None:
        self._ways = ways
        self._mail = mail
        self._interrupting = interrupting

    async def reach(self, recipient: Recipient) -> Reach:
        """By the first way that leads there now."""
        found = [Reach(None, False, _NO_WAY)]
        for way in self._ways.values():
            reach = await way.reach(recipient)
            if reach.way is not None:
                # What a better way waits for says more than that a later one is left.
                return reach
            found.append(reach)
        return found[-1]

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """By the way that was decided on."""
        chosen = message.way or (await self.reach(recipient)).way
        way = None if chosen is None else self._ways.get(chosen)
        if way is None:
            return MessageHandover("untouched", chosen or "hook", _NO_WAY)
        return await way.say(recipient, message, note)

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """On the way that it went."""
        for name, way in self._ways.items():
            if message.way in (None, name):
                return await way.look(recipient, message)
        return Sighting(None)

    async def recall(self, recipient: Recipient, message: Outgoing) -> bool:
        """From the mailbox, if there is one."""
        return self._mail is not None and await self._mail.recall(recipient, message)

    async def interrupt(self, recipient: Recipient) -> InterruptAttempt:
        """Stop the turn."""
        return await self._interrupting.interrupt(recipient)
