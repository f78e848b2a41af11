"""The commands that a machine does for servers, and who allows it.

A machine's owner grants each power there. It is checked here, before anything is done, so no server
can give itself more.
"""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import read, replace
from callboard.disk.locks import locked
from callboard.disk.private import make_private_folder
from callboard.errors import CallboardError
from callboard.events.json_values import Object, as_list
from callboard.relay.settings import Power

_log = logging.getLogger(__name__)

LARGEST_RESULT: Final = 1_048_576
"""Bytes of JSON that a result has at most."""
LONGEST: Final = 120.0
"""Seconds that a command takes at most, whatever the server says."""
REMEMBERED: Final = 1000
"""How many ids of commands that changed something are kept."""
_MOST_AT_ONCE: Final = 16
_MOST_TOLD: Final = 100
_LARGEST_FILE: Final = 1_048_576
_ID: Final = re.compile(r"[\w-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a server can ask for.

    run: does it, and returns what is sent back. power: what the owner has to grant for it.
    changes: whether doing it twice would be wrong.
    """

    run: Callable[[Object], Awaitable[Object]]
    power: Power | None = None
    changes: bool = False


class CommandJournal:
    """The ids of commands that were started, on disk: none is done again after a restart.

    The servers of a machine share the file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def begin(self, id: str) -> bool:
        """Record an id; returns whether it is new. OSError if it can't be stored."""
        make_private_folder(self._file.parent)
        with locked(self._file.with_name(f"{self._file.name}.lock")):
            known = self._read()
            if id in known:
                return False
            replace(self._file, json.dumps([*known, id][-REMEMBERED:]).encode())
            return True

    def _read(self) -> list[str]:
        try:
            found = as_list(json.loads(read(self._file, _LARGEST_FILE)))
        except (FileNotFoundError, ValueError):
            return []
        return [one for one in found if isinstance(one, str)]


class CommandTable:
    """Does commands, of which each result is sent back with the command's id.

    granted: what the owner of this machine allows.
    """

    def __init__(
        self,
        commands: Mapping[str, Command],
        granted: Collection[Power],
        journal: CommandJournal,
    ) -> None:
        self._commands = commands
        self._granted = frozenset(granted)
        self._journal = journal
        self._running: set[str] = set()
        self._told: set[tuple[str, object]] = set()

    async def do(self, name: str, id: str, data: Object, within: float) -> Object | None:
        """Do a command, and return its receipt; None if it is being done already."""
        if id in self._running:
            return None
        command = self._commands.get(name)
        refusal = self._refusal(name, command, id)
        if command is None or refusal is not None:
            self._tell(name, refusal or {})
            return _receipt(name, id, "refused", **(refusal or {}))
        self._running.add(id)
        try:
            return await self._run(name, command, id, data, within)
        finally:
            self._running.discard(id)

    def _refusal(self, name: str, command: Command | None, id: str) -> Object | None:
        """Why a command isn't done; None if it may be."""
        if command is None or not _ID.fullmatch(id):
            return {"code": "UNKNOWN_COMMAND"}
        if command.power is not None and command.power not in self._granted:
            granted = sorted(self._granted)
            return {"code": "POWER_NOT_GRANTED", "power": command.power, "granted": granted}
        if len(self._running) >= _MOST_AT_ONCE:
            return {"code": "OVERLOADED"}
        return None

    def _tell(self, name: str, refusal: Object) -> None:
        """Log the first refusal of each kind: a server that asks all day doesn't fill the log."""
        power, key = refusal.get("power"), (name[:50], refusal.get("code"))
        if key in self._told or len(self._told) >= _MOST_TOLD:
            return
        self._told.add(key)
        if power is None:
            _log.warning("The server asked for %r, which this machine doesn't do.", name[:50])
        else:
            _log.warning("The server asked for %r. To allow it, use --allow %s.", name[:50], power)

    async def _run(
        self, name: str, command: Command, id: str, data: Object, within: float
    ) -> Object:
        try:
            # On disk first. If this process dies now, the command was done once or not at all.
            if command.changes and not self._journal.begin(id):
                return _receipt(name, id, "refused", code="ALREADY_DONE")
        except OSError as error:
            return _receipt(name, id, "refused", message=error.strerror or str(error))
        try:
            async with asyncio.timeout(max(0.0, min(within, LONGEST))):
                value = await command.run(data)
            if len(json.dumps(value)) > LARGEST_RESULT:
                return _failed(name, id, "the result is too large")
        except TimeoutError:
            return _failed(name, id, "it took too long")
        except CallboardError as error:
            return _failed(name, id, error.message)
        except OSError as error:
            return _failed(name, id, error.strerror or str(error))
        except Exception as error:
            _log.exception("The command %r failed", name)
            return _failed(name, id, type(error).__name__)
        return _receipt(name, id, "done", value=value)


def _failed(name: str, id: str, why: str) -> Object:
    return _receipt(name, id, "failed", message=why)


def _receipt(name: str, id: str, result: str, **more: object) -> Object:
    return {"command": name, "id": id, "result": result, **more}
