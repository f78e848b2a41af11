"""A server as a place to work on: it has the workflows, and drives the sessions."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from callboard.cli.picture import PhaseShape
from callboard.cli.places import Startable
from callboard.cli.program import program
from callboard.cli.source import OURS, load
from callboard.engine.sessions import SessionInfo
from callboard.engine.workflow import Workflow
from callboard.errors import ValidationError, WorkflowNotFound

if TYPE_CHECKING:
    from callboard.client.client import Client
    from callboard.client.offers import WorkflowInfo

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Server:
    """A server by its address. Its token comes from the environment, or from a file."""

    url: str

    @property
    def watched(self) -> bool:
        """A server drives what it can."""
        return True

    def drives(self, workflow: str) -> bool:
        """It refused to begin what it cannot drive; our own workflows are their commands'."""
        return workflow not in OURS

    def command(self, *words: str) -> str:
        """A command line of Callboard's on this server, as a shell takes it."""
        # Behind "--" nothing is an option any more.
        end = words.index("--") if "--" in words else len(words)
        return shlex.join([program(), *words[:end], "--server", self.url, *words[end:]])

    def open(self, workflows: Sequence[Workflow] = (), *, create: bool = False) -> "Client":
        """A client of it."""
        from callboard.client.client import Client  # Only commands on a server wait for httpx.

        return Client(self.url, via="cli")

    def ask(self, work: "Callable[[Client], Awaitable[T]]") -> T:
        """Connect, do something, and disconnect."""

        async def opened() -> T:
            async with self.open() as client:
                return await work(client)

        return asyncio.run(opened())

    def startable(self, given: str) -> Startable:
        """A workflow by its name, or by the file and variable that it stands in here too."""
        name = load(given).workflow.name if _is_file(given) else given
        self._offer(name)
        return Startable(name)

    def needed(self, info: SessionInfo, file: str | None) -> list[Workflow]:
        """Nothing here, but the server must have the workflow."""
        self._offer_to(info, file)
        return []

    def shapes(self, info: SessionInfo, file: str | None) -> Sequence[PhaseShape]:
        """The phases as the server describes them."""
        return [
            PhaseShape(phase.name, phase.agent, phase.human, phase.terminal, phase.leads_to)
            for phase in self._offer_to(info, file).phases
        ]

    def _offer_to(self, info: SessionInfo, file: str | None) -> "WorkflowInfo":
        if file is not None:
            raise ValidationError(
                "--file says where a workflow is on this machine; a server has its own. "
                "Leave it out.",
                field="file",
            )
        return self._offer(info.workflow)

    def _offer(self, name: str) -> "WorkflowInfo":
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


def _is_file(given: str) -> bool:
    """Whether a file is meant; a workflow's name says nothing of one."""
    file = given.rpartition(":")[0] or given
    return file.endswith(".py") or "/" in file or Path(given).is_file() or Path(file).is_file()
