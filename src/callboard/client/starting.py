"""Agents that a server starts and stops."""

from urllib.parse import quote

from callboard.board.plate import Plate
from callboard.board.starting import StartedPlate
from callboard.client.people import given
from callboard.client.transport import Transport


class RemoteStarting:
    """What `Callboard.starting` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def start(
        self,
        agent: str,
        *,
        folder: str,
        prompt: str | None = None,
        host: str | None = None,
        resume: str | None = None,
    ) -> StartedPlate:
        """Start an agent; returns its plate."""
        more = given({"prompt": prompt, "host": host, "resume": resume})
        body = {"agent": agent, "folder": folder, **more}
        return StartedPlate.from_wire(await self._transport.post("/plates/start", body))

    async def stop(self, plate_id: str) -> Plate:
        """Let an agent end, and kill it if it doesn't within five seconds."""
        path = f"/plates/{quote(plate_id, safe='')}/stop"
        return Plate.from_wire(await self._transport.post(path, {}))
