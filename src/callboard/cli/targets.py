"""Where a command works: on a database of this machine, or on a server.

`choose` is the one rule by which every command finds it. A database's file token is sent only to
the server that holds that database's lock, or to an address that the person gave.
"""

import asyncio
import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Generic, NamedTuple, TypeVar

from callboard.app import Callboard
from callboard.board.hook_folders import hooks_folder
from callboard.board.protocol import Board
from callboard.cli.invocation import Invocation, program
from callboard.cli.server_search import address_of, token_for
from callboard.cli.workflow_files import OURS, listed, load, load_again, workflows_in
from callboard.cli.workflow_input import WorkflowInput
from callboard.client.access import checked, find_token
from callboard.disk.private import make_private_folder
from callboard.engine.offers import PhaseInfo, WorkflowInfo
from callboard.engine.sessions import SessionInfo
from callboard.engine.workflow import Workflow
from callboard.errors import NotFound, ServerUnreachable, ValidationError, WorkflowNotFound
from callboard.log.location import (
    database_path,
    default_path,
    postgres_address,
    without_password,
)
from callboard.log.presence import is_driven, listed_servers, servers_of

if TYPE_CHECKING:
    from callboard.client.client import Client

_LOOK_PATIENCE: Final = 0.8
"""Seconds. A command that only reads answers within two, including startup."""


class ServerAccess(NamedTuple):
    """The address of a server, and the token for it."""

    url: str
    token: str | None


T = TypeVar("T")
B_co = TypeVar("B_co", bound=Board, covariant=True)


class _Place(ABC, Generic[B_co]):
    """What every target can do once it is known how to open it."""

    __slots__ = ()

    @abstractmethod
    def open(
        self, workflows: Sequence[Workflow] = (), *, create: bool = False
    ) -> AbstractAsyncContextManager[B_co]:
        """Open it, with the workflows to run here."""

    @abstractmethod
    def _options(self) -> list[str]:
        """The options that lead a command to this target; empty if every command finds it."""

    def command(self, *words: str) -> str:
        """A Callboard command line for this target, quoted for a shell."""
        # After "--", nothing is an option.
        end = words.index("--") if "--" in words else len(words)
        return shlex.join([program(), *words[:end], *self._options(), *words[end:]])

    def database_command(self, *words: str) -> str:
        """The same for a command that works only on databases; a server's database is unknown."""
        return self.command(*words)

    def worker_command(self) -> str:
        """The command that starts a worker for it."""
        return self.database_command("worker", "FILE")

    def ask(self, work: Callable[[B_co], Awaitable[T]]) -> T:
        """Open it, run the work, and close it again."""

        async def opened() -> T:
            async with self.open() as board:
                return await work(board)

        return asyncio.run(opened())

    def look(self, work: Callable[[B_co], Awaitable[T]]) -> T:
        """The same for commands that only read, and should fail fast."""
        return self.ask(work)


@dataclass(frozen=True, slots=True)
class Database(_Place[Callboard]):
    """A database as the person named it; None is the default one.

    A file drives nothing: the command that continues a session drives it.
    """

    given: str | None = None
    lock_timeout: float = 30.0
    watched: ClassVar = False
    """Whether sessions there are driven without this command."""

    @property
    def path(self) -> Path:
        """The file; if it is in PostgreSQL, where this machine keeps what would be next to it."""
        return database_path(self.given)

    @property
    def address(self) -> str | None:
        """Its address, if it is in PostgreSQL."""
        return postgres_address(self.given)

    @property
    def shown(self) -> str:
        """The database as messages name it, without a password."""
        return str(self.path) if self.address is None else without_password(self.address)

    @property
    def exists(self) -> bool:
        """Whether there is such a file. Only a server knows which databases it has."""
        return self.address is not None or self.path.exists()

    @property
    def is_default(self) -> bool:
        """Whether every command finds it without an option."""
        return self.path.absolute() == default_path()

    @property
    def is_served(self) -> bool:
        """Whether a server of this machine has it."""
        return bool(servers_of(self.path))

    def server(self) -> ServerAccess:
        """The server running on it, for commands that need one."""
        url = address_of(self.path, is_default=self.is_default)
        if url is None:
            raise ServerUnreachable(
                f"No server is running on {self.path}. Start one: {self.command('serve')}",
                path=str(self.path),
            )
        return ServerAccess(url, find_token(url, self.path))

    def worker_command(self) -> str:
        """The command that starts a worker for it: engines need a database in PostgreSQL."""
        driver = ["--driver", "local"] if self.address is None else []
        return self.command("worker", "FILE", *driver)

    def drives(self, workflow: str) -> bool:
        """Whether a server on this machine has the workflow."""
        return is_driven(self.path, workflow)

    def open(self, workflows: Sequence[Workflow] = (), *, create: bool = False) -> Callboard:
        """Open it. Creates only the default one, one that hooks report to, or with `create`."""
        if self.address is not None:
            make_private_folder(self.path.parent)
            return Callboard.open(self.address, workflows, lock_timeout=self.lock_timeout)
        is_meant = create or self.is_default or hooks_folder(self.path).is_dir()
        if not is_meant and not self.exists:
            raise NotFound(
                f"There is no database {self.path}. Check --db (or CALLBOARD_DB); "
                "`callboard run` creates a new one.",
                path=str(self.path),
            )
        return Callboard.open(self.path, workflows, lock_timeout=self.lock_timeout)

    def look(self, work: Callable[[Callboard], Awaitable[T]]) -> T:
        """Read it. A program that has locked the whole file doesn't keep anyone waiting."""
        return replace(self, lock_timeout=_LOOK_PATIENCE).ask(work)

    def running(self, given: str) -> "Target":
        """Where a workflow runs: on the server that has it, if it was given by name."""
        if _is_file(given):
            return self
        servers = [one for one in servers_of(self.path) if given in one.workflows]
        return next((ServerTarget(one.url) for one in servers if one.url is not None), self)

    def startable(self, given: str) -> tuple[Workflow, Mapping[str, str]]:
        """A workflow from a Python file, `FILE[:NAME]`, and what a session records about it."""
        if not _is_file(given) and not Path(given).is_dir():
            raise WorkflowNotFound(self._unknown(given), workflow=given)
        found = load(given)
        return found.workflow, found.recorded()

    def _unknown(self, name: str) -> str:
        """What to run instead of a name that is neither a file nor a server's workflow."""
        served = sorted({one for server in servers_of(self.path) for one in server.workflows})
        files = workflows_in(Path())
        known = f"and the server has no such workflow (it has: {', '.join(served)})"
        where = known if served else "and no server is running that has such a workflow"
        return f"There is no file {name}, {where}. Give a Python file: FILE[:NAME]{listed(files)}"

    def input_of(self, workflow: Workflow | str) -> WorkflowInput:
        """What a workflow takes as its input."""
        assert isinstance(workflow, Workflow)
        return WorkflowInput.of(workflow)

    def needed(self, info: SessionInfo, file: str | None) -> list[Workflow]:
        """The session's workflow, loaded from its file."""
        return [load_again(info, file)]

    def phases(self, info: SessionInfo, file: str | None) -> Sequence[PhaseInfo]:
        """The phases of the session's workflow, as its file defines them."""
        return WorkflowInfo.of(load_again(info, file)).phases

    def _options(self) -> list[str]:
        if self.address is None:
            return [] if self.is_default else ["--db", str(self.given)]
        if self.address == os.environ.get("CALLBOARD_DB"):
            return []
        return ["--db", self.shown]


@dataclass(frozen=True, slots=True)
class ServerTarget(_Place["Client"]):
    """A server by its address: it has the workflows, and drives the sessions.

    Its token comes from the environment, or from a file.
    """

    url: str
    watched: ClassVar = True

    def server(self) -> ServerAccess:
        """Itself, with its token: on this machine, the one next to its database."""
        return ServerAccess(self.url, token_for(self.url))

    def drives(self, workflow: str) -> bool:
        """Whether the server drives it: everything except Callboard's own workflows."""
        return workflow not in OURS

    def open(self, workflows: Sequence[Workflow] = (), *, create: bool = False) -> "Client":
        """A client for it."""
        from callboard.client.client import Client  # Only commands on a server need httpx.

        return Client(self.url, self.server().token, via="cli")

    def running(self, given: str) -> "Target":
        """On the server, whatever is given."""
        return self

    def startable(self, given: str) -> tuple[str, None]:
        """A workflow by its name, or by the file and variable that contain it here."""
        name = load(given).workflow.name if _is_file(given) else given
        self._offer(name)
        return name, None

    def input_of(self, workflow: Workflow | str) -> WorkflowInput:
        """What a workflow takes as its input, as the server describes it."""
        name = workflow if isinstance(workflow, str) else workflow.name
        offered = self._offer(name)
        return WorkflowInput(name, offered.input_schema, offered.input_name)

    def needed(self, info: SessionInfo, file: str | None) -> list[Workflow]:
        """Empty, but the server must have the workflow."""
        self.phases(info, file)
        return []

    def phases(self, info: SessionInfo, file: str | None) -> Sequence[PhaseInfo]:
        """The phases as the server describes them."""
        if file is not None:
            raise ValidationError(
                "--file is a path on this machine, but the server has its own workflows. "
                "Remove --file.",
                field="file",
            )
        return self._offer(info.workflow).phases

    def _options(self) -> list[str]:
        return ["--server", self.url]

    def database_command(self, *words: str) -> str:
        """Just the command."""
        return shlex.join([program(), *words])

    def _offer(self, name: str) -> WorkflowInfo:
        offered = self.ask(lambda client: client.workflows())
        for one in offered:
            if one.name == name:
                return one
        names = ", ".join(one.name for one in offered) or "none"
        raise WorkflowNotFound(
            f"{self.url} has no workflow {name!r} (it has: {names}). "
            "Start the server with its file: callboard serve FILE",
            workflow=name,
        )


Target = Database | ServerTarget


class ChosenTarget(NamedTuple):
    """Where a command works, and a note if the person couldn't know it."""

    target: Target
    note: str | None = None


def choose(given: Invocation) -> ChosenTarget:
    """Where a command works.

    In this order: what was typed, the environment, this user's only running server, the default
    database.
    """
    if given.server and not given.db_was_typed:
        return ChosenTarget(ServerTarget(checked(given.server)))
    if given.db:
        return ChosenTarget(Database(given.db))
    return _found()


def _found() -> ChosenTarget:
    databases = {one.database: one.url for one in listed_servers()}
    if not databases or default_path().resolve() in databases:
        return ChosenTarget(Database())
    if len(databases) > 1:
        servers = ", ".join(sorted(str(url) for url in databases.values()))
        return ChosenTarget(
            Database(),
            f"Using the default database. Several servers are running ({servers}); "
            "choose one with --server.",
        )
    ((path, url),) = databases.items()
    return ChosenTarget(Database(str(path)), f"Using the server at {url} (database {path}).")


def _is_file(given: str) -> bool:
    """Whether a file is meant, not a workflow's name."""
    file = given.rpartition(":")[0] or given
    if file.endswith(".py") or "/" in file or file in (".", ".."):
        return True
    return Path(given).is_file() or Path(file).is_file()
