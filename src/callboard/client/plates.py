"""The board of a server, as JSON gives it."""

from typing import Any
from urllib.parse import quote

from callboard.client.people import given
from callboard.client.transport import Transport
from callboard.events.envelope import Event

_PAGE = 1000


class RemotePlates:
    """Coding-agent sessions, and what people do with them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def all(self, *, dismissed: bool = False) -> list[dict[str, Any]]:
        """Every plate that is shown, those that need a person first."""
        query = {"dismissed": "true"} if dismissed else {}
        return (await self._transport.get("/plates", **query))["plates"]

    async def get(self, plate_id: str) -> dict[str, Any]:
        """One plate."""
        return await self._transport.get(_path(plate_id))

    async def change(
        self,
        plate_id: str,
        *,
        name: str | None = None,
        pinned: bool | None = None,
        seen: bool | None = None,
    ) -> dict[str, Any]:
        """Name it, pin it, mark it as seen. An empty name takes the name away."""
        body = given({"name": name, "pinned": pinned, "seen": seen})
        return await self._transport.patch(_path(plate_id), body)

    async def dismiss(self, plate_id: str) -> None:
        """Take it off the board; a session that starts on it brings it back."""
        await self._transport.delete(_path(plate_id))

    async def events(self, plate_id: str, after: int = 0) -> list[Event]:
        """What happened on a plate after a position."""
        found: list[Event] = []
        while True:
            path = f"{_path(plate_id)}/events"
            answer = await self._transport.get(path, after=after, limit=_PAGE)
            found += [Event.from_wire(one) for one in answer["events"]]
            if answer.get("nextAfter") is None:
                return found
            after = answer["nextAfter"]

    async def register(self, **process: Any) -> dict[str, Any]:
        """A client is about to start: `project_path`, and `agent`, `pid`, `proc_start`."""
        return await self._transport.post("/plates/register", given(process))

    async def stopped(self, **process: Any) -> int:
        """A client's process has ended; how many plates that closed."""
        return (await self._transport.post("/plates/stopped", given(process)))["count"]


def _path(plate_id: str) -> str:
    return f"/plates/{quote(plate_id, safe='')}"
