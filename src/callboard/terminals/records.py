"""The terminals of our own: a file for each, next to its socket, in a private folder."""

import json
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import read, replace
from callboard.disk.private import make_own_folder
from callboard.systems.processes import ancestors, is_alive

_LARGEST: Final = 65_536
_LONGEST_SOCKET: Final = 100
"""Bytes. Systems allow 104 to 108 for the path of a socket."""
_MOST: Final = 10_000


@dataclass(frozen=True, slots=True)
class OwnTerminal:
    """An agent that runs in a terminal of ours.

    pid, start: the agent's process. host_pid, host_start: the process that keeps its terminal.
    session: the one that it was started to continue.
    """

    id: str
    agent: str
    folder: str
    socket: str
    pid: int
    start: str
    host_pid: int
    host_start: str
    session: str = ""


def terminals_folder() -> Path:
    """Where they are: in the user's own data folder.

    Without platformdirs, because relays don't have it.
    """
    given = os.environ.get("XDG_DATA_HOME", "").strip()
    if given:
        data = Path(given)
    elif sys.platform == "darwin":
        data = Path("~/Library/Application Support").expanduser()
    else:
        data = Path("~/.local/share").expanduser()
    return data / "callboard" / "terminals"


def socket_for(folder: Path, id: str) -> Path:
    """Where the socket of a new terminal can be: elsewhere if its path would be too long."""
    usual = folder / f"{id}.socket"
    if len(os.fsencode(usual)) <= _LONGEST_SOCKET:
        return usual
    return Path(tempfile.mkdtemp(prefix="callboard-")) / "socket"


def write_record(folder: Path, terminal: OwnTerminal) -> None:
    """Make a terminal known; OSError if that fails."""
    make_own_folder(folder)
    told = json.dumps(asdict(terminal)).encode()
    replace(folder / f"{terminal.id}.json", told, lasting=False)


def remove_record(folder: Path, terminal: OwnTerminal) -> None:
    """Remove what is left of a terminal."""
    with suppress(OSError):
        (folder / f"{terminal.id}.json").unlink()
    remove_socket(folder, Path(terminal.socket))


def remove_socket(folder: Path, socket: Path) -> None:
    """Remove a terminal's socket, and the folder that it has elsewhere if its name is long."""
    with suppress(OSError):
        socket.unlink()
    if socket.parent != folder:
        with suppress(OSError):
            socket.parent.rmdir()


def own_terminals(folder: Path | None = None) -> list[OwnTerminal]:
    """Those whose host process runs. What others left behind when they were killed is removed."""
    folder = folder or terminals_folder()
    found: list[OwnTerminal] = []
    with suppress(OSError):
        for file in sorted(folder.glob("*.json"))[:_MOST]:
            terminal = _read(file)
            if terminal is None:
                continue
            if is_alive(terminal.host_pid, terminal.host_start):
                found.append(terminal)
            else:
                remove_record(folder, terminal)
    return found


def terminal_of(pid: int | None, start: str | None = None) -> OwnTerminal | None:
    """The terminal that a process runs in: as its agent, or as a child process of it."""
    if pid is None:
        return None
    if start is not None and not is_alive(pid, start):
        return None
    line = {(one.pid, one.start) for one in ancestors(pid)}
    return next((one for one in own_terminals() if (one.pid, one.start) in line), None)


def _read(file: Path) -> OwnTerminal | None:
    try:
        return OwnTerminal(**json.loads(read(file, _LARGEST)))
    except (OSError, ValueError, TypeError):
        return None
