"""A session that is handed to a window of tmux, which attends to it by itself."""

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.cli.database import Database
from callboard.cli.places import Place
from callboard.cli.remote import Server
from callboard.disk.files import add
from callboard.disk.private import make_private_folder
from callboard.harness.claims import Harness
from callboard.harness.folders import Folders
from callboard.harness.windows import Window
from callboard.ids import short_id

_TOKEN: Final = "CALLBOARD_TOKEN"


@dataclass(frozen=True, slots=True)
class Handover:
    """What a window has to know to go on where this harness leaves off."""

    place: Place
    folders: Folders
    me: Harness
    grace: float

    async def give(self, question: str, mark: str) -> None:
        """Open a window for a question that is claimed here, and wait for the window's end.

        The window takes the claim over and records the end, also when nobody waits here. mark: of
        what the person has agreed to; for anything else the window asks again.
        """
        token = self._kept_token()
        window = Window()
        try:
            window.open(question, self._words(question, mark, token), Path.cwd())
            await window.ended()
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
        """The token in a file that only the person can read: what is an argument, all can see."""
        token = os.environ.get(_TOKEN)
        if token is None or isinstance(self.place, Database):
            return None
        make_private_folder(self.folders.root)
        path = self.folders.root / f".token-{short_id()}"
        add(path, token.encode())
        return path


def take_token(path: Path) -> None:
    """Take the token that was handed over; it is in no file any more."""
    with suppress(OSError):
        os.environ[_TOKEN] = path.read_text(encoding="utf-8")
        path.unlink()


def _option(place: Place) -> str:
    if isinstance(place, Database):
        return f"--db={place.path.absolute()}"
    assert isinstance(place, Server)
    return f"--server={place.url}"
