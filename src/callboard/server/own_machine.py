"""The server's own machine takes the same commands as those with a relay, without a connection.

Its owner is who runs the server, so everything is granted. Who may ask, the server's routes decide.
"""

import asyncio
import logging
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from callboard.board.hook_folders import hooks_folder
from callboard.board.host_requests import HostRequest
from callboard.board.hosts import Host, host_file
from callboard.board.plate_changes import AgentChanges
from callboard.board.relay_hosts import RelayHosts
from callboard.clock import Clock
from callboard.errors import StoreError
from callboard.relay.command_table import Command, CommandJournal, CommandTable
from callboard.relay.machine import LogTail, Machine
from callboard.relay.settings import POWERS
from callboard.server.logs import without_secrets

_ours = logging.getLogger("callboard")


class OwnMachine:
    """Does commands in the server itself.

    database: the hooks folder is next to it. changes: reads those of this machine's sessions.
    """

    def __init__(
        self, hosts: RelayHosts, host: Host, database: Path, clock: Clock, changes: AgentChanges
    ) -> None:
        self._hosts = hosts
        self._host = host
        self._tail = LogTail(without_secrets)
        folder = hooks_folder(database)
        machine = Machine(version("callboard"), folder, clock, self._tail, lambda: 0)
        # All servers of this machine share it, whichever databases they have.
        journal = CommandJournal(host_file().with_name("commands"))
        commands = {**machine.commands, "changes": Command(changes.reading.do, "read")}
        self._table = CommandTable(commands, POWERS, journal)
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Take commands from now on."""
        _ours.addHandler(self._tail)
        # If the log is away, other servers can't ask this machine. Its own server can.
        with suppress(StoreError):
            await self._hosts.serve_own(self._host.id, self._take)

    async def close(self) -> None:
        """Take no more commands; what is being done is cancelled."""
        _ours.removeHandler(self._tail)
        with suppress(StoreError):
            await self._hosts.leave_own(self._host.id)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _take(self, request: HostRequest) -> None:
        task = asyncio.create_task(self._do(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _do(self, request: HostRequest) -> None:
        receipt = await self._table.do(request.command, request.id, request.data, request.within)
        if receipt is not None:
            # If the log is away, who asked is told that there was no result in time.
            with suppress(StoreError):
                await self._hosts.requests.answered(self._host.id, receipt)
