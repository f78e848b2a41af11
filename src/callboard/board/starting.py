"""Agents that Callboard starts in terminals of their own, on this machine and on others."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from callboard.board.hook_folders import hooks_folder, installed_in
from callboard.board.host_requests import number, raise_reported, words
from callboard.board.hosts import Host
from callboard.board.plate import Plate
from callboard.errors import ConflictError, NotFound, PlateNotFound, ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_object
from callboard.events.shapes import Shape
from callboard.vendors.acp.payloads import NAME as ACP
from callboard.vendors.agents import VENDORS
from callboard.vendors.client_programs import AgentStart, check_start
from callboard.vendors.starting import AgentStarting

if TYPE_CHECKING:
    from callboard.board.agent_messages import AgentMessages
    from callboard.board.plates import Plates
    from callboard.board.relay_hosts import RelayHosts

WITHIN: Final = 30.0
"""Seconds for a machine to start an agent."""
_ERRORS: Final = (NotFound, ConflictError, ValidationError)


@dataclass(frozen=True, slots=True)
class StartedPlate(Shape):
    """An agent that was started. warning: what its person should know, as a sentence."""

    plate: Plate
    warning: str | None = None


class BoardStarting(Protocol):
    """Agents that run in the background, in terminals of Callboard, until they end or are stopped.

    On another machine, its owner has to allow `start`: else PowerNotGranted.
    """

    async def start(
        self,
        agent: str,
        *,
        folder: str,
        prompt: str | None = None,
        host: str | None = None,
        resume: str | None = None,
    ) -> StartedPlate:
        """Start an agent; returns its plate.

        folder: an absolute path; empty if a plate is resumed. host: the machine; by default that of
        the server, or of the plate that is resumed. resume: a plate, or a session's id.
        ValidationError, NotFound if the agent or the session isn't there, ConflictError if that
        session is still running.
        """
        ...

    async def stop(self, plate_id: str) -> Plate:
        """Let an agent end, and kill it if it doesn't within five seconds.

        NotFound if it doesn't run in a terminal of Callboard.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Place:
    """The machine that does it. is_here: this process does, without asking a server."""

    id: str
    name: str
    is_here: bool


class PlateStarting:
    """Starts agents, and registers their plates before anything else is heard of them."""

    def __init__(
        self,
        plates: "Plates",
        hosts: "RelayHosts",
        messages: "AgentMessages",
        database: Path | None,
    ) -> None:
        self._plates = plates
        self._hosts = hosts
        self._messages = messages
        self._hooks = None if database is None else hooks_folder(database)

    async def start(
        self,
        agent: str,
        *,
        folder: str,
        prompt: str | None = None,
        host: str | None = None,
        resume: str | None = None,
        by: str | None = None,
    ) -> StartedPlate:
        """Start an agent; returns its plate. by: who asks, for the record."""
        wanted, host = await self._wanted(AgentStart(agent, folder, prompt, resume), host)
        check_start(wanted)
        place = await self._place(host)
        wanted = replace(wanted, alone=place.id != self._plates.host().id)
        if wanted.prompt_follows:
            await self._messages.check_power(place.id)
        told = await self._do(place, "start", asdict(wanted), by)
        # Its process may have reported it already.
        plate = await self._plates.register(
            wanted.agent,
            project_path=wanted.folder,
            session_id=wanted.resume,
            pid=number(told.get("pid")),
            proc_start=words(told.get("start")) or None,
            host=None if place.id == self._plates.host().id else Host(place.id, place.name),
        )
        if wanted.prompt is not None and wanted.prompt_follows:
            await self._messages.say(plate.plate_id, wanted.prompt, by=by, via=None)
        title = VENDORS[wanted.agent].title
        warning = (
            f"{title}'s hooks are not installed there, so the board doesn't see what it does. "
            f"Install them: callboard hooks install {wanted.agent}"
        )
        return StartedPlate(plate, None if told.get("reports") is True else warning)

    async def _wanted(self, given: AgentStart, host: str | None) -> tuple[AgentStart, str | None]:
        """What to start, and where: a plate that is resumed says what was left out."""
        if given.resume is None:
            return given, host
        plate = await self._resumed(given.resume)
        if plate is None:
            if given.agent and given.folder:
                return given, host  # From before it was on the board.
            raise NotFound(
                f"resume: the board has no plate and no session {given.resume!r}. To resume one "
                "that was never on it, give its agent and its folder, too.",
                field="resume",
            )
        if plate.status != "closed":
            raise ConflictError(_still_running(plate), plate_id=plate.plate_id)
        if given.agent not in ("", plate.agent):
            raise ValidationError(
                f"agent: this session is one of {plate.agent}, not {given.agent}.", field="agent"
            )
        folder = given.folder or plate.project_path
        wanted = AgentStart(plate.agent, folder, given.prompt, plate.session_id)
        return wanted, host or plate.host

    async def stop(self, plate_id: str, *, by: str | None = None) -> Plate:
        """Let an agent end. by: who asks, for the record."""
        plate = await self._plates.get(plate_id)
        pid, start = plate.terminal_process
        if plate.status == "closed" or pid is None:
            raise ConflictError(f"The agent of plate {plate_id} is not running.", plate_id=plate_id)
        place = await self._place(plate.host or None)
        others = await self._others(plate)
        await self._do(place, "stop", {"pid": pid, "start": start, "others": others}, by)
        return await self._plates.get(plate_id, dismissed=True)

    async def _others(self, plate: Plate) -> list[Json]:
        """The processes of other agents there: one can run within another one's terminal."""
        living = await self._plates.living(plate.host or None)
        found = {one.terminal_process for one in living} - {plate.terminal_process}
        return [[pid, start] for pid, start in found if pid is not None]

    async def _resumed(self, resume: str | None) -> Plate | None:
        """The plate that is meant: by its id, or by its session's."""
        if resume is None:
            return None
        try:
            return await self._plates.get(resume, dismissed=True)
        except PlateNotFound:
            return await self._plates.of_session(resume)

    async def _place(self, host: str | None) -> _Place:
        own = self._plates.host()
        host = host or own.id
        others = [] if host == own.id else await self._hosts.list()
        known = [one for one in others if host in (one.id, one.name)]
        if not known and host in (own.id, own.name):
            is_served = own.id in self._hosts.requests.served
            return _Place(own.id, own.name, not is_served)
        if len(known) > 1:
            ids = ", ".join(one.id for one in known)
            raise ConflictError(f"host: several machines are called {host!r}. Use an id: {ids}")
        # If there is none, asking says so.
        id, name = (known[0].id, known[0].name) if known else (host, host)
        return _Place(id, name, False)

    async def _do(self, place: _Place, command: str, data: Object, by: str | None) -> Object:
        if place.is_here:
            told = await self._do_here(command, data)
        else:
            told = await self._hosts.ask(place.id, command, data, within=WITHIN, by=by)
        field = words(as_object(told.get("error")).get("field"))
        raise_reported(told, _ERRORS, NotFound, **({"field": field} if field else {}))
        return told

    async def _do_here(self, command: str, data: Object) -> Object:
        here = AgentStarting(self._hooks)
        if command == "stop":
            return await here.stop(data)
        reports = self._hooks is not None and data.get("agent") in installed_in(self._hooks)
        return {**await here.start(data), "reports": reports}


def _still_running(plate: Plate) -> str:
    id = plate.plate_id
    attach, say = f"Attach to it: callboard attach {id}", f"Write to it: callboard say {id} …"
    enter = say if plate.agent == ACP else attach
    return (
        f"The session of plate {id} is still running. {enter}, or stop it first: "
        f"callboard stop {id}"
    )
