"""Which database a command works on, and what to type to reach the same one."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from callboard.app import Callboard
from callboard.cli.history import shapes_of
from callboard.cli.picture import PhaseShape
from callboard.cli.places import Startable
from callboard.cli.program import program
from callboard.cli.source import load, load_again
from callboard.engine.sessions import SessionInfo
from callboard.engine.workflow import Workflow
from callboard.errors import NotFound
from callboard.log.location import database_path, default_path
from callboard.server.presence import is_driven

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Database:
    """A database by what the person typed for it; None is the default one."""

    given: str | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return default_path() if self.given is None else database_path(self.given)

    @property
    def watched(self) -> bool:
        """A file drives nothing: whoever wants a session to go on drives it."""
        return False

    def drives(self, workflow: str) -> bool:
        """Whether a server on this machine knows the workflow."""
        return is_driven(self.path, workflow)

    @property
    def is_default(self) -> bool:
        """Whether every command finds it without being told."""
        return self.path.absolute() == default_path()

    def command(self, *words: str) -> str:
        """A command line of Callboard's on this database, as a shell takes it."""
        options = [] if self.is_default else ["--db", str(self.given)]
        # Behind "--" nothing is an option any more.
        end = words.index("--") if "--" in words else len(words)
        return shlex.join([program(), *words[:end], *options, *words[end:]])

    def open(self, workflows: Sequence[Workflow] = (), *, create: bool = False) -> Callboard:
        """Open it. Only the default one, or with `create`, may be new."""
        if not create and not self.is_default and not self.path.exists():
            raise NotFound(
                f"There is no database {self.path}. Check --db (or CALLBOARD_DB); "
                "`callboard run` makes a new one.",
                path=str(self.path),
            )
        return Callboard.open(self.path, workflows)

    def ask(self, work: Callable[[Callboard], Awaitable[T]], *, create: bool = False) -> T:
        """Open it, do something with it, and close it again."""

        async def opened() -> T:
            async with self.open(create=create) as board:
                return await work(board)

        return asyncio.run(opened())

    def startable(self, given: str) -> Startable:
        """A workflow of a Python file: `FILE[:NAME]`."""
        source = load(given)
        return Startable(source.workflow, source.recorded())

    def needed(self, info: SessionInfo, file: str | None) -> list[Workflow]:
        """The session's workflow, loaded from its file."""
        return [load_again(info, file)]

    def shapes(self, info: SessionInfo, file: str | None) -> Sequence[PhaseShape]:
        """The phases of the session's workflow, as its file defines them."""
        return shapes_of(load_again(info, file))
