"""The conversations of coding agents on a server's board."""

from urllib.parse import quote

from callboard.board.conversations import NEWEST
from callboard.client.transport import Transport
from callboard.vendors.conversation import (
    ConversationItem,
    ConversationMatches,
    ConversationPage,
    Window,
)


class RemoteConversations:
    """What `Callboard.conversations` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def page(
        self,
        plate_id: str,
        window: Window = NEWEST,
        *,
        subagent: str | None = None,
        wait: float = 0.0,
    ) -> ConversationPage:
        """A part of a conversation, by default its end.

        wait: seconds to wait, up to 20, until something follows `window.after`.
        """
        told = await self._transport.get(
            _path(plate_id),
            before=window.before,
            after=window.after,
            limit=window.most,
            subagent=subagent,
            wait=round(wait * 1000) or None,
        )
        return ConversationPage.from_wire(told)

    async def search(
        self, plate_id: str, text: str, *, before: str | None = None, subagent: str | None = None
    ) -> ConversationMatches:
        """The newest items that contain a text, ignoring case; `before` continues a search."""
        told = await self._transport.get(
            f"{_path(plate_id)}/search", text=text, before=before, subagent=subagent
        )
        return ConversationMatches.from_wire(told)

    async def item(
        self, plate_id: str, item_id: str, cursor: str, *, subagent: str | None = None
    ) -> ConversationItem:
        """All of an item that a page has cut. cursor: `after` of that page."""
        path = f"{_path(plate_id)}/items/{quote(item_id, safe='')}"
        told = await self._transport.get(path, cursor=cursor, subagent=subagent)
        return ConversationItem.from_wire(told)


def _path(plate_id: str) -> str:
    return f"/plates/{quote(plate_id, safe='')}/conversation"
