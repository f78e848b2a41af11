"""A server's plates: sessions of coding agents."""

from urllib.parse import quote

from callboard.board.hook_backlog import HookBacklog
from callboard.board.plate import Plate
from callboard.board.relay_hosts import HostCheck, HostLog, RelayHost, RelayHostList
from callboard.board.replies import PlateList, Stopped
from callboard.client.people import given
from callboard.client.tailing import history
from callboard.client.transport import Transport
from callboard.events.envelope import Event


class RemoteHosts:
    """What `Callboard.hosts` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> list[RelayHost]:
        """The machines with a relay, by name."""
        return RelayHostList.from_wire(await self._transport.get("/hosts")).hosts

    async def check(self, host_id: str) -> HostCheck:
        """Ask a machine how it is."""
        path = f"/hosts/{quote(host_id, safe='')}/check"
        return HostCheck.from_wire(await self._transport.post(path, {}))

    async def log(self, host_id: str, lines: int = 50) -> HostLog:
        """The last lines that a machine's relay has logged; needs the power `read` there."""
        path = f"/hosts/{quote(host_id, safe='')}/log"
        return HostLog.from_wire(await self._transport.post(path, {"lines": lines}))

    async def remove(self, host_id: str) -> None:
        """Take a machine off the board: revoke its tokens, dismiss its plates, forget its relay."""
        await self._transport.delete(f"/hosts/{quote(host_id, safe='')}")


class RemotePlates:
    """What `Callboard.plates` does, over HTTP."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def all(self, *, dismissed: bool = False) -> list[Plate]:
        """Every plate, those that need a person first; with `dismissed`, hidden ones too."""
        query = {"dismissed": "true"} if dismissed else {}
        return PlateList.from_wire(await self._transport.get("/plates", **query)).plates

    async def backlog(self) -> HookBacklog:
        """The hook reports that the server has not read yet."""
        return HookBacklog.from_wire(await self._transport.get("/plates/backlog"))

    async def get(self, plate_id: str) -> Plate:
        """One plate."""
        return Plate.from_wire(await self._transport.get(_path(plate_id)))

    async def change(
        self,
        plate_id: str,
        *,
        name: str | None = None,
        pinned: bool | None = None,
        seen: bool | None = None,
    ) -> Plate:
        """Name it, pin it, or mark it as seen. An empty name removes the name."""
        body = given({"name": name, "pinned": pinned, "seen": seen})
        return Plate.from_wire(await self._transport.patch(_path(plate_id), body))

    async def dismiss(self, plate_id: str) -> Plate:
        """Take it off the board until a session starts on it again."""
        return Plate.from_wire(await self._transport.delete(_path(plate_id)))

    async def events(self, plate_id: str, after: int = 0) -> list[Event]:
        """What happened on a plate after a position."""
        return await history(self._transport, f"{_path(plate_id)}/events", after)

    async def register(
        self,
        agent: str,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
    ) -> Plate:
        """Report that a client is about to start; returns the plate that waits for it."""
        process = _process(project_path, session_id, pid, proc_start)
        body = {"agent": agent, **process}
        return Plate.from_wire(await self._transport.post("/plates/register", body))

    async def stopped(
        self,
        *,
        project_path: str,
        session_id: str | None = None,
        pid: int | None = None,
        proc_start: str | None = None,
    ) -> int:
        """Report that a client's process has ended; returns how many plates that closed."""
        process = _process(project_path, session_id, pid, proc_start)
        return Stopped.from_wire(await self._transport.post("/plates/stopped", process)).count


def _process(
    project_path: str, session_id: str | None, pid: int | None, proc_start: str | None
) -> dict[str, str | int]:
    told = {"session_id": session_id, "pid": pid, "proc_start": proc_start}
    return given({"project_path": project_path, **told})


def _path(plate_id: str) -> str:
    return f"/plates/{quote(plate_id, safe='')}"
