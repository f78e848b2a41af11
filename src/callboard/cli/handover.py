"""Where a harness stores files, and how a tmux window takes over from a harness."""

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from callboard.board.hook_folders import hooks_folder, make_folders
from callboard.cli.targets import Database, ServerTarget, Target
from callboard.client.access import is_loopback
from callboard.courier.wire import read_connection
from callboard.disk.files import add
from callboard.disk.private import make_private_folder
from callboard.harness.claim_renewal import Harness
from callboard.harness.folders import Folders, beside, of_server
from callboard.harness.tmux_windows import run_in_window
from callboard.ids import short_id
from callboard.log.location import database_path
from callboard.vendors.settings.installing import InstallPlan

_TOKEN: Final = "CALLBOARD_TOKEN"


@dataclass(frozen=True, slots=True)
class Handover:
    """What a window needs to take over from this harness."""

    place: Target
    folders: Folders
    me: Harness
    grace: float

    async def give(self, question: str, mark: str) -> None:
        """Open a window for a question that is claimed here, and wait until the window ends.

        The window takes over the claim and records the end, even if this process is gone. mark: of
        what the person has agreed to; for anything else, the window asks again.
        """
        token = self._kept_token()
        try:
            await run_in_window(question, self._words(question, mark, token), Path.cwd())
        finally:
            if token is not None:
                token.unlink(missing_ok=True)

    def _words(self, question: str, mark: str, token: Path | None) -> list[str]:
        command = [sys.executable, "-P", "-m", "callboard", "attend", "--once", "--yes"]
        handed = [
            f"--question={question}",
            f"--shown={mark}",
            f"--from={self.me.name}",
            f"--by={self.me.person}",
        ]
        key = [] if token is None else [f"--token-from={token}"]
        return [*command, f"--grace={self.grace}", *handed, *key, _option(self.place)]

    def _kept_token(self) -> Path | None:
        """The token in a private file, because everyone can see arguments."""
        token = os.environ.get(_TOKEN)
        if token is None or isinstance(self.place, Database):
            return None
        make_private_folder(self.folders.root)
        path = self.folders.root / f".token-{short_id()}"
        add(path, token.encode())
        return path


def take_token(path: Path) -> None:
    """Take the token that was handed over, and delete its file."""
    with suppress(OSError):
        os.environ[_TOKEN] = path.read_text(encoding="utf-8")
        path.unlink()


def _option(place: Target) -> str:
    if isinstance(place, Database):
        return f"--db={place.path.absolute()}"
    return f"--server={place.url}"


def folders_of(place: Target) -> Folders:
    """The folder next to the database; for a server, in the person's state directory."""
    if isinstance(place, Database):
        return beside(place.path)
    return of_server(place.url)


def plan_of(place: Target) -> InstallPlan | None:
    """The hooks of a session; None if nothing here leads to that board."""
    database = place.path if isinstance(place, Database) else _database_of(place)
    if database is None:
        return None
    folder = hooks_folder(database)
    make_folders(folder)
    return InstallPlan(folder, database.absolute())


def _database_of(place: ServerTarget) -> Path | None:
    """A server's database, if it is the default one on this machine."""
    if not is_loopback(place.url):
        return None
    database = database_path(os.environ.get("CALLBOARD_DB") or None)
    connection = read_connection(str(hooks_folder(database)))
    port = urlsplit(place.url).port
    return database if connection is not None and connection.port == port else None
