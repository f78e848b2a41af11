"""The commands that a machine does for servers, and who allows it.

A machine's owner grants each power there. It is checked here, before anything is done, so no server
can give itself more.
"""

import asyncio
import json
import logging
import os
import re
import threading
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from callboard.disk.files import read, replace
from callboard.disk.locks import locked
from callboard.disk.private import make_private_folder
from callboard.errors import CallboardError
from callboard.events.json_values import Object, as_list, as_text, as_whole, objects
from callboard.relay.settings import Power
from callboard.systems.processes import is_alive, started_at

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


Note = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a server can ask for.

    run: does it, and returns what is sent back. power: what the owner has to grant for it.
    changes: whether doing it twice would be wrong. notes: whether `run` notes itself when it starts
    to change something, with the function that it gets after the data. Until then, nothing was
    done, and after a crash it is done when the server asks again.
    """

    run: Callable[..., Awaitable[Object]]
    power: Power | None = None
    changes: bool = False
    notes: bool = False


class CommandJournal:
    """The ids of commands that were started, on disk: none is done again after a restart.

    The servers of a machine share the file. An id stands for a command that may have been done;
    an id with a process, for one with which that process has changed nothing yet.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def begin(self, id: str, *, notes: bool = False) -> Literal["new", "running", "done"]:
        """Record an id, and return what it was before. OSError if it can't be stored.

        notes: whether `note` will be called before anything is changed.
        """
        with self._locked():
            known = self._read()
            if id in known:
                process = known[id]
                if process is None:
                    return "done"
                if is_alive(as_whole(process.get("pid")), as_text(process.get("start"))):
                    return "running"
                del known[id]
            us = os.getpid()
            process = {"id": id, "pid": us, "start": started_at(us)} if notes else None
            self._write({**known, id: process})
            return "new"

    def note(self, id: str) -> None:
        """From now on, the command may have been done. OSError if that can't be stored."""
        with self._locked():
            self._write({**self._read(), id: None})

    def forget(self, id: str) -> None:
        """The command was not done, and can be."""
        with self._locked():
            self._write({one: process for one, process in self._read().items() if one != id})

    @contextmanager
    def _locked(self) -> Generator[None]:
        make_private_folder(self._file.parent)
        with locked(self._file.with_name(f"{self._file.name}.lock")):
            yield

    def _read(self) -> dict[str, Object | None]:
        """By id, the process that has changed nothing yet; None if something may have been done."""
        try:
            found = as_list(json.loads(read(self._file, _LARGEST_FILE)))
        except (FileNotFoundError, ValueError):
            return {}
        known: dict[str, Object | None] = {one: None for one in found if isinstance(one, str)}
        return known | {as_text(one.get("id")): one for one in objects(found)}

    def _write(self, known: Mapping[str, Object | None]) -> None:
        told = [process or id for id, process in known.items()]
        replace(self._file, json.dumps(told[-REMEMBERED:]).encode())


class _Running:
    """One command while it is done, in whichever thread."""

    def __init__(self, journal: CommandJournal, id: str, *, is_noted: bool) -> None:
        self._journal = journal
        self._id = id
        self._lock = threading.Lock()
        self._is_over = False
        self.is_noted = is_noted

    def note(self) -> None:
        """Something is changed now. OSError if that can't be stored, or if its time is over."""
        with self._lock:
            if self._is_over:
                raise TimeoutError("it took too long")
            if not self.is_noted:
                self._journal.note(self._id)
                self.is_noted = True

    def end(self) -> bool:
        """Nothing is changed anymore; returns whether anything may have been."""
        with self._lock:
            if not self._is_over and not self.is_noted:
                with suppress(OSError):  # Then it can be done after this process has ended.
                    self._journal.forget(self._id)
            self._is_over = True
            return self.is_noted


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
    ) -> Object | None:
        try:
            # On disk first. If this process dies now, the command was done once or not at all.
            known = self._journal.begin(id, notes=command.notes) if command.changes else "new"
        except OSError as error:
            return _receipt(name, id, "refused", message=error.strerror or str(error))
        if known != "new":
            done = _receipt(name, id, "refused", code="ALREADY_DONE")
            return done if known == "done" else None  # Another process of this machine does it.
        running = _Running(self._journal, id, is_noted=not command.notes)
        given = (data, running.note) if command.notes else (data,)
        try:
            async with asyncio.timeout(max(0.0, min(within, LONGEST))):
                value = await command.run(*given)
            if len(json.dumps(value)) <= LARGEST_RESULT:
                return _receipt(name, id, "done", value=value)
            why = "the result is too large"
        except Exception as error:
            why = _reason(name, error)
        finally:
            may_be_done = running.end()
        return _receipt(name, id, "failed" if may_be_done else "refused", message=why)


def _reason(name: str, error: Exception) -> str:
    """Why a command failed, for the server."""
    match error:
        case TimeoutError():
            return "it took too long"
        case CallboardError():
            return error.message
        case OSError():
            return error.strerror or str(error)
        case _:
            _log.error("The command %r failed", name, exc_info=error)
            return type(error).__name__


def _receipt(name: str, id: str, result: str, **more: object) -> Object:
    return {"command": name, "id": id, "result": result, **more}
