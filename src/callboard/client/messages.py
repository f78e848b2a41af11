"""Messages to the coding agents on a server's board."""

from typing import Final
from urllib.parse import quote

from callboard.board.messages import PlateInterrupted, PlateMessage, PlateMessages
from callboard.client.people import given
from callboard.client.transport import Transport
from callboard.events.payloads.messages import MessageTiming
from callboard.ids import short_id

_KEY: Final = 24
"""Characters of a key: 120 random bits."""


class RemoteMessages:
    """What `Callboard.messages` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, plate_id: str) -> PlateMessages:
        """The messages to a session, and how it can be reached now."""
        return PlateMessages.from_wire(await self._transport.get(_path(plate_id, "messages")))

    async def say(
        self,
        plate_id: str,
        text: str,
        *,
        when: MessageTiming = "now",
        approval: str | None = None,
        key: str | None = None,
    ) -> PlateMessage:
        """Write to a session. The message is queued, and the server hands it over.

        approval: the question in which a person approved exactly this message. It sends one. key:
        one of your own, which sends one as well. If a reply is lost, the message is sent again with
        the same key, and queued once.
        """
        key = key or short_id(_KEY)
        body = given({"text": text, "when": when, "approval": approval, "key": key})
        written = await self._transport.post_once(_path(plate_id, "messages"), body)
        return PlateMessage.from_wire(written)

    async def change(
        self,
        plate_id: str,
        message_id: str,
        *,
        text: str | None = None,
        when: MessageTiming | None = None,
        before: str | None = None,
    ) -> PlateMessage:
        """Change a message that is still queued. before: move it before this one; "": to the end.

        ConflictError once it was handed over.
        """
        body = given({"text": text, "when": when, "before": before})
        changed = await self._transport.patch(_path(plate_id, "messages", message_id), body)
        return PlateMessage.from_wire(changed)

    async def withdraw(self, plate_id: str, message_id: str) -> PlateMessage:
        """Take back a message that is still queued. ConflictError once it was handed over."""
        path = _path(plate_id, "messages", message_id)
        return PlateMessage.from_wire(await self._transport.delete(path))

    async def interrupt(self, plate_id: str) -> PlateInterrupted:
        """Stop the agent's turn. HostUnreachable if the server can't ask its machine."""
        return PlateInterrupted.from_wire(
            await self._transport.post(_path(plate_id, "interrupt"), {})
        )


def _path(*parts: str) -> str:
    return "/plates/" + "/".join(quote(part, safe="") for part in parts)
