"""Agents that run in the background, as a person starts, attaches to and stops them."""

import asyncio
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psutil
from tests.real_clients.board import Wire
from tests.real_clients.home import CALLBOARD, Done, Home
from tests.real_clients.patience import until
from tests.real_clients.terminal import Terminal

from callboard.terminals.link import screen_of, type_into
from callboard.terminals.records import OwnTerminal

LEAVE = "C-\\"
_BEFORE_KEYS = 0.5
"""Seconds. A dialog takes no key in its first moments."""


def data_of(home: Home) -> dict[str, str]:
    """Where the terminals of a home are recorded."""
    return {"XDG_DATA_HOME": str(home.folder / ".local" / "share")}


@dataclass(frozen=True)
class Background:
    """The commands, in the home and with the environment of one client."""

    home: Home
    env: dict[str, str] = field(default_factory=dict)

    async def run(self, *words: str) -> Done:
        return await self.home.run(CALLBOARD, *words, env=self.env)

    async def start(self, *words: str) -> Wire:
        """Start an agent; its plate."""
        done = await self.run("start", "--json", *words)
        assert done.code == 0, done
        told: dict[str, Any] = json.loads(done.out)
        assert told["warning"] is None
        return told["plate"]

    def attach(self, plate: Wire, *options: str) -> Terminal:
        """A person's terminal that is attached to it."""
        words = [CALLBOARD, "attach", plate["plateId"], *options]
        return Terminal(words, self.home.project, self.home.env | self.env)

    def records(self) -> list[Wire]:
        """What is recorded of terminals on this machine."""
        folder = self.home.folder / ".local" / "share" / "callboard" / "terminals"
        return [json.loads(one.read_text(encoding="utf-8")) for one in folder.glob("*.json")]

    @staticmethod
    def children_of(pid: int) -> list[int]:
        """The processes that a process has started, and those that they have."""
        return [one.pid for one in psutil.Process(pid).children(recursive=True)]

    @staticmethod
    def is_gone(pid: int) -> bool:
        """Whether a process has ended."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
        return True

    async def types(self, keys: str, *, after: str) -> None:
        """Type into the one terminal, without attaching, once it shows a text."""
        (own,) = (OwnTerminal(**record) for record in self.records())

        def look() -> bool:
            found = screen_of(own)
            return found is not None and after in "\n".join(found.lines)

        await until(look, f"{after!r} on the screen")
        await asyncio.sleep(_BEFORE_KEYS)
        assert type_into(own, keys)

    async def leave(self, terminal: Terminal) -> None:
        terminal.press(LEAVE)
        await terminal.shows("It runs on.")
        await terminal.ends()


@contextmanager
def background_in(home: Home, env: Mapping[str, str]) -> Generator[Background]:
    """The commands. What still runs at the end is killed."""
    background = Background(home, {**env, **data_of(home)})
    try:
        yield background
    finally:
        for record in background.records():
            with suppress(psutil.NoSuchProcess):
                host = psutil.Process(record["host_pid"])
                for process in (*host.children(recursive=True), host):
                    process.kill()
