"""A server's limits."""

from urllib.parse import quote

from callboard.client.transport import Transport
from callboard.events.limits import AgentLimit, LimitList


class RemoteLimits:
    """What `Callboard.limits` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self, session_id: str | None = None) -> list[AgentLimit]:
        """The limits that have a number or are in use, by name."""
        answer = await self._transport.get("/limits", sessionId=session_id)
        return LimitList.from_wire(answer).limits

    async def set(self, name: str, number: int) -> AgentLimit:
        """Let at most so many agents run at once; with 0, none start."""
        return AgentLimit.from_wire(await self._transport.put(_path(name), {"number": number}))

    async def remove(self, name: str) -> AgentLimit:
        """Remove a limit's number: from now on it is not limited."""
        return AgentLimit.from_wire(await self._transport.delete(_path(name)))


def _path(name: str) -> str:
    return f"/limits/{quote(name, safe='')}"
