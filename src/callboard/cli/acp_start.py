"""`callboard start acp -- COMMAND …`: starts the agent here, and registers it with the board."""

import asyncio
from pathlib import Path

from callboard.board.hook_folders import hooks_folder, make_folders
from callboard.board.plate import Plate
from callboard.board.protocol import Board
from callboard.board.starting import StartedPlate
from callboard.cli.person import STARTS, ask_as_person
from callboard.cli.relay_place import relay_folder
from callboard.cli.targets import Database, ServerTarget, Target
from callboard.cli.this_machine import this_machine
from callboard.errors import ConflictError, HostTimedOut, ValidationError
from callboard.relay.settings import hooks_of, settings_file
from callboard.terminals.starting import StartedProcess
from callboard.vendors.acp.payloads import NAME
from callboard.vendors.acp_starting import AcpStart, start_acp

_LOOKS, _LOOKS_EVERY = 50, 0.2


def start_here(
    place: Target, words: tuple[str, ...], folder: Path, prompt: str | None, resumed: str | None
) -> StartedPlate:
    """Start an agent with this command on this machine."""
    hooks = _hooks(place)
    make_folders(hooks)
    session = ask_as_person(place, STARTS, lambda board: _session_of(board, place, resumed))
    started = start_acp(AcpStart(words, folder, hooks, prompt, session))

    async def plate_of(board: Board) -> Plate:
        if isinstance(place, Database):
            return await board.plates.register(
                NAME,
                project_path=str(folder),
                session_id=session,
                pid=started.pid,
                proc_start=started.start,
            )
        return await _reported(board, started)

    return StartedPlate(place.ask(plate_of))


async def _session_of(board: Board, place: Target, resumed: str | None) -> str | None:
    """The session of a plate, or the one that was named. ConflictError if it is still running."""
    if isinstance(place, ServerTarget) and await this_machine(board) is None:
        raise ValidationError(
            f"This machine's relay doesn't report to {place.url}, so its board would not show the "
            "agent. See where it reports: callboard doctor",
            field="server",
        )
    if resumed is None:
        return None
    plates = await board.plates.all(dismissed=True)
    of_plate = [one for one in plates if resumed in (one.plate_id, one.session_id)]
    for one in of_plate:
        if one.status != "closed":
            raise ConflictError(
                f"The session of {resumed} is still running. Write to it: "
                f"{place.command('say', one.plate_id, '…')}, or stop it first: "
                f"{place.command('stop', one.plate_id)}"
            )
    return of_plate[0].session_id if of_plate else resumed


async def _reported(board: Board, started: StartedProcess) -> Plate:
    """The plate that the relay of this machine reports to the server."""
    for _ in range(_LOOKS):
        for plate in await board.plates.all():
            if (plate.pid, plate.proc_start) == (started.pid, started.start):
                return plate
        await asyncio.sleep(_LOOKS_EVERY)
    raise HostTimedOut(
        f"The agent runs as process {started.pid}, but the server hasn't heard of it yet. Is the "
        "relay of this machine running? Check it: callboard doctor"
    )


def _hooks(place: Target) -> Path:
    """The hooks folder of who reports to the board: its server on this machine, or the relay."""
    if isinstance(place, Database):
        return hooks_folder(place.path)
    if settings_file(relay_folder()).is_file():
        return hooks_of(relay_folder())
    raise ValidationError(
        "`start acp` starts a command on this machine, so this machine has to be the server's "
        "own, or have a relay. On the server's machine, use --db.",
        field="server",
    )
