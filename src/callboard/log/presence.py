"""Which of this user's servers are running, and where: each locks the files that say so.

One file is next to the database, for commands that name it; another is in the user's data
directory, for commands that name nothing. Files of dead servers have no lock, and are removed.
"""

import json
import logging
import os
import socket
import stat
from collections.abc import Collection, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from callboard.disk.files import OPENS_FOLDERS
from callboard.disk.locks import hold, is_held
from callboard.disk.private import is_own, make_own_folder
from callboard.events.json_values import Object, as_list, as_object
from callboard.ids import short_id
from callboard.log.location import default_path
from callboard.log.sqlite.setup import live_folder

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that is running as this user, on this machine.

    url: its address for programs on this machine; None if its version doesn't record one.
    """

    database: Path
    url: str | None
    workflows: tuple[str, ...]


@contextmanager
def present(
    database: Path, workflows: Collection[str], url: str | None = None, *, listed: bool = True
) -> Generator[None]:
    """Record that a server is running, while it is.

    listed: whether commands that name no database may find it.
    """
    path = database.resolve()
    said: Object = {
        "url": url,
        "workflows": sorted(workflows),
        "database": str(path),
        "host": socket.gethostname(),
    }
    with ExitStack() as stack:
        make_own_folder(live_folder(path))  # A database in PostgreSQL has none before.
        stack.enter_context(_held(live_folder(path), said))
        if listed and url is not None:
            _list(stack, said)
        yield


def servers_of(database: Path) -> list[RunningServer]:
    """The running servers of a database."""
    return list(_running(live_folder(database.resolve()), database.resolve()))


def listed_servers() -> list[RunningServer]:
    """This user's running servers, whatever their databases."""
    return list(_running(_listing()))


def is_served(database: Path) -> bool:
    """Whether a server is running on this database."""
    return bool(servers_of(database))


def is_driven(database: Path, workflow: str) -> bool:
    """Whether a running server drives the sessions of this workflow."""
    return any(workflow in one.workflows for one in servers_of(database))


def _listing() -> Path:
    return default_path().with_name("servers")


def _list(stack: ExitStack, said: Object) -> None:
    try:
        make_own_folder(_listing())
        stack.enter_context(_held(_listing(), said))
    except OSError as error:
        # The server still runs, but commands have to name it.
        _log.warning("%s cannot be used: %s", _listing(), error.strerror or error)


@contextmanager
def _held(folder: Path, said: Object) -> Generator[None]:
    file = folder / f"{os.getpid()}-{short_id(8)}.server"
    lock = hold(file, json.dumps(said).encode())
    try:
        yield
    finally:
        if not OPENS_FOLDERS:  # Windows removes no file that is open.
            os.close(lock)
        file.unlink(missing_ok=True)
        if OPENS_FOLDERS:
            os.close(lock)


def _running(folder: Path, database: Path | None = None) -> Iterator[RunningServer]:
    """The content of the locked files; those of dead servers are removed."""
    if not _is_ours(folder):
        return  # Tokens are sent to the addresses in it.
    for file in sorted(folder.glob("*.server")):
        with suppress(FileNotFoundError):  # The server is stopping right now.
            said = _read(file)
            if said.get("host", socket.gethostname()) != socket.gethostname():
                continue  # On a shared disk; locks of other machines may not be visible here.
            if not is_held(file):
                file.unlink()
            elif database is not None or isinstance(said.get("database"), str):
                yield _server(said, database or Path(str(said["database"])))


def _is_ours(folder: Path) -> bool:
    """Whether only this user can have written into the folder."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and is_own(found)


def _read(file: Path) -> Object:
    try:
        told = json.loads(file.read_bytes())
    except ValueError:
        return {}
    # Before addresses were recorded, the file had only the workflows.
    return as_object(told) or {"workflows": as_list(told)}


def _server(said: Object, database: Path) -> RunningServer:
    url = said.get("url")
    workflows = tuple(map(str, as_list(said.get("workflows"))))
    return RunningServer(database, url if isinstance(url, str) else None, workflows)
