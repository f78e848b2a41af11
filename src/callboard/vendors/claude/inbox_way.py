"""The way to a session of Claude Code through its inbox, which wakes it."""

import asyncio
from typing import Final

from callboard.systems.processes import is_alive
from callboard.vendors.claude.inbox import InboxError, Replies, return_address, send, usable
from callboard.vendors.claude.receipts import never_got, permission_mode, sighted
from callboard.vendors.claude.registry import Registered, registered
from callboard.vendors.steering import (
    NOTES,
    TURN_RUNS,
    MessageHandover,
    Note,
    Outgoing,
    Reach,
    Recipient,
    Sighting,
    unnoted,
)

SHOWS_WITHIN: Final = 5.0
"""Seconds until a client that was sent a message shows that it has it, or holds it."""
_LOOKS_EVERY: Final = 0.05
_SHOWN: Final = ("delivered", "seen", "refused", "untouched")
_GONE: Final = "It can't be reached: its process has ended, or runs another session."
_NO_INBOX: Final = "It can't be reached: this version of Claude Code takes no messages."
_HELD: Final = "Its person has to accept the message first, because permissions are bypassed."


class InboxWay:
    """Sends messages to the inboxes of sessions, and looks what became of them."""

    def __init__(self) -> None:
        self._replies = Replies()

    async def reach(self, recipient: Recipient) -> Reach:
        """By its inbox, if it has one."""
        return await asyncio.to_thread(_reach, recipient)

    async def say(
        self, recipient: Recipient, message: Outgoing, note: Note = unnoted
    ) -> MessageHandover:
        """Send it to the inbox, and wait until the client shows that it has it."""
        found = await asyncio.to_thread(_session, recipient)
        inbox = None if found is None else found.inbox
        if found is None or inbox is None or not usable(inbox):
            return MessageHandover("untouched", "inbox", _GONE if found is None else _NO_INBOX)
        if message.when == "after_turn" and found.status != "idle":
            return MessageHandover("untouched", "inbox", TURN_RUNS)
        reply_to = return_address(inbox, message)
        try:
            await self._replies.listen(reply_to, message)
        except OSError:
            return MessageHandover(
                "untouched", "inbox", "Its inbox can't be answered on this machine."
            )
        handover = await self._send(inbox, recipient, message, reply_to, note)
        if handover.result in ("accepted", "untouched"):
            self._replies.forget(message)  # Otherwise, it may still say that it holds it.
        return handover

    async def look(self, recipient: Recipient, message: Outgoing) -> Sighting:
        """Look into its transcript, and whether it could still get there."""
        found = await asyncio.to_thread(sighted, recipient, message)
        if found.status is None and self._replies.of(message) == "denied":
            found = Sighting("refused")
        if found.status is None:
            found = await asyncio.to_thread(_unseen, recipient, message)
        if found.status in _SHOWN:
            self._replies.forget(message)
        return found

    async def _send(
        self, inbox: str, recipient: Recipient, message: Outgoing, reply_to: str, note: Note
    ) -> MessageHandover:
        try:
            await send(inbox, recipient.session_id, message, reply_to, note)
        except InboxError as error:
            if error.sent:
                return MessageHandover(
                    "unknown", "inbox", "It hung up while it was sent the message."
                )
            return MessageHandover("untouched", "inbox", _GONE)
        try:
            async with asyncio.timeout(SHOWS_WITHIN):
                while True:
                    await asyncio.sleep(_LOOKS_EVERY)
                    if self._replies.of(message) == "held":
                        return MessageHandover("held", "inbox", _HELD)
                    if (await self.look(recipient, message)).status in _SHOWN:
                        return MessageHandover("accepted", "inbox")
        except TimeoutError:
            return MessageHandover(
                "unknown", "inbox", "It was sent the message, but doesn't show it yet."
            )


def _session(recipient: Recipient) -> Registered | None:
    """The client's entry, if it still runs this session."""
    pid = recipient.pid
    if pid is None or not is_alive(pid, recipient.proc_start):
        return None
    found = registered(pid, recipient.proc_start)
    return found if found is not None and found.session_id == recipient.session_id else None


def _unseen(recipient: Recipient, message: Outgoing) -> Sighting:
    """What is known of a message that the transcript doesn't show.

    While it is held, the client's entry says that it waits, even if we missed its reply.
    """
    if never_got(recipient, message):
        return Sighting("untouched")
    found = _session(recipient)
    if found is None or found.status is None:
        return Sighting(None)
    return Sighting("held" if found.status == "waiting" else "left")


def _reach(recipient: Recipient) -> Reach:
    found = _session(recipient)
    if found is None:
        return Reach(None, False, _GONE)
    if found.inbox is None or not usable(found.inbox):
        return Reach(None, False, _NO_INBOX)
    if permission_mode(recipient) == "bypassPermissions":
        return Reach("inbox", False, _HELD)
    return Reach("inbox", False, NOTES.get(found.status or "idle"))
