"""A relay from start to stop."""

import asyncio
import logging
import secrets
import signal
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from callboard.board.hook_folders import make_folders, spool_folder, write_connection
from callboard.board.spool.files import Spool
from callboard.clock import Clock, SystemClock
from callboard.disk.locks import try_lock
from callboard.disk.private import make_own_folder, open_private
from callboard.errors import ConflictError, StoreError
from callboard.events.json_values import Object, as_list, objects
from callboard.relay.command_table import CommandJournal, CommandTable
from callboard.relay.commands import NAME as COMMANDS
from callboard.relay.commands import Commands, decide_with
from callboard.relay.contact import ServerContact, SleepWatch
from callboard.relay.hooks import RelayHooks
from callboard.relay.http import HttpConnection, ServerUrl
from callboard.relay.machine import LogTail, Machine
from callboard.relay.outbox import Outbox
from callboard.relay.processes import EVERY, ProcessWatch
from callboard.relay.settings import RelaySettings, hooks_of, read_settings, secret_of
from callboard.relay.uplink import NAME as REPORTS
from callboard.relay.uplink import Uplink
from callboard.relay.working_trees import WorkingTrees
from callboard.systems.current import system
from callboard.systems.folder_watch import FolderWatch
from callboard.waiting import wait_any

if TYPE_CHECKING:
    from callboard.relay.clients import ClientWatch

_log = logging.getLogger(__name__)
_ours = logging.getLogger("callboard")

_LOOK_AT_SPOOL: Final = 2.0
"""Seconds between two looks at the spool; the system usually reports a new file at once."""
_LOOK_AT_TURNS: Final = 0.25
"""Seconds between two looks at the files of clients that work or ask."""
_LONGEST_HEAD: Final = 65_536


class Relay:
    """Reports this machine's agents to the server, and hands its decisions to their hooks.

    folder: where the relay keeps its settings, its outbox and the hooks folder.
    """

    def __init__(
        self, folder: Path, settings: RelaySettings, version: str, clock: Clock | None = None
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._version = version
        self._clock = clock or SystemClock()
        self._tail = LogTail()
        self._contact = ServerContact(self._clock)
        self._outbox = Outbox(folder / "outbox", lambda: self._uplink.wake())
        self._outbox.open()
        url, ca_file = ServerUrl.parse(settings.server), settings.ca_file
        certificates = None if ca_file is None else Path(ca_file)
        self._up = HttpConnection(url, settings.token, certificates)
        self._down = self._up.another()
        self._secret = secret_of(folder)
        name, send = settings.name, self._up.post
        self._uplink = Uplink(self._outbox, send, self._contact, name, self._secret)
        self._token = f"cb_{secrets.token_urlsafe(32)}"
        spool = Spool(hooks_of(folder), self._clock)
        self._spool = spool
        self._trees = WorkingTrees(folder, self._clock, settings.powers)
        look, heard = (lambda: self._watch.look()), self._trees.heard
        self._hooks = RelayHooks(self._outbox, spool, self._token, look, self._state, heard)
        self._watch = ProcessWatch(
            self._outbox, self._clock.monotonic, lambda: self._hooks.holds, self._hooks.gone
        )
        self._clients: ClientWatch | None = None
        self._working = False
        self._turns = asyncio.Event()
        self._commands = Commands(
            self._outbox,
            self._hello,
            {
                "decide": decide_with(self._hooks.decide),
                "watch": self._watch_clients,
            },
            self._contact,
            CommandTable(
                {**self._machine().commands, "changes": self._trees.command},
                settings.powers,
                CommandJournal(folder / "commands"),
            ),
        )

    def _machine(self) -> Machine:
        hooks, waiting = hooks_of(self._folder), lambda: len(self._outbox)
        return Machine(self._version, hooks, self._clock, self._tail, waiting)

    def _watch_clients(self, data: Object) -> None:
        self._watch.watch(data)
        told = [one for one in objects(as_list(data.get("plates"))) if one.get("status")]
        self._working = bool(told)
        if told and self._clients is None:
            from callboard.relay.clients import ClientWatch  # It takes memory.

            self._clients = ClientWatch(self._outbox, self._clock.now_ms)
        if self._clients is not None:
            self._clients.watch(told)
        if told:
            self._turns.set()

    def _hello(self) -> Object:
        return {
            "name": self._settings.name,
            "bootId": system.boot_id(),
            "version": self._version,
            "holds": self._hooks.holds[:1000],
            "powers": list(self._settings.powers),
            "secret": self._secret,
        }

    def _state(self) -> Object:
        """How it is, for `callboard doctor` on this machine."""
        is_connected = COMMANDS in self._contact.worked_at and self._contact.problem is None
        return {
            "server": self._settings.server,
            "connected": is_connected,
            "problem": self._contact.problem,
            "deliveredAt": self._contact.worked_at.get(REPORTS),
        }

    async def run(self, stopping: asyncio.Event) -> None:
        """Run until `stopping`; RelayRefused if the server doesn't accept this machine."""
        hooks = hooks_of(self._folder)
        make_folders(hooks)
        _ours.addHandler(self._tail)
        server = await asyncio.start_server(
            self._hooks.serve, "127.0.0.1", 0, limit=_LONGEST_HEAD, backlog=256
        )
        port = server.sockets[0].getsockname()[1]
        write_connection(hooks, f"127.0.0.1:{port}", self._token)
        _log.info("Reporting to %s as %s.", self._settings.server, self._settings.name)
        try:
            await _all(
                stopping.wait(),
                self._uplink.run(),
                self._commands.run(self._down, self._clock),
                self._follow_spool(),
                self._follow_processes(),
                self._follow_turns(),
            )
        finally:
            _ours.removeHandler(self._tail)
            server.close()
            self._hooks.close()
            if self._clients is not None:
                await self._clients.stop()
            self._up.close()
            self._down.close()
            await self._trees.close()
            await asyncio.sleep(0.1)  # Waiting hooks are told to come back to the next relay.
            self._spool.close()

    async def _follow_spool(self) -> None:
        news = asyncio.Event()
        watch = FolderWatch(spool_folder(hooks_of(self._folder)), news.set)
        try:
            while True:
                news.clear()
                watch.renew()
                with suppress(StoreError):
                    await self._hooks.take_all_spooled()
                    self._hooks.tell_room()
                await wait_any(news.wait(), timeout=_LOOK_AT_SPOOL)
        finally:
            watch.close()

    async def _follow_processes(self) -> None:
        sleep = SleepWatch(self._clock)
        while True:
            await self._clock.sleep(EVERY)
            if sleep.has_slept():
                self._reconnect()
            if self._watch.is_needed:
                self._watch.look()
                self._watch.look_for_hooks()

    async def _follow_turns(self) -> None:
        while True:
            await self._turns.wait()
            self._turns.clear()
            while self._clients is not None and self._working:
                self._clients.look()
                await self._clock.sleep(_LOOK_AT_TURNS)

    def _reconnect(self) -> None:
        """The machine was asleep: its connections may be dead, which no one would tell us."""
        self._up.close()
        self._down.close()
        self._contact.try_again()


async def _all(
    stopped: Coroutine[object, None, object], *works: Coroutine[object, None, None]
) -> None:
    """Work until the first one ends, whose error is raised; the others are cancelled."""
    await wait_any(stopped, *works)


async def _run(folder: Path, version: str) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, stopping.set)
    await Relay(folder, read_settings(folder), version).run(stopping)


def run_relay(folder: Path, version: str) -> None:
    """Run the relay of a folder; ConflictError if another process already does."""
    make_own_folder(folder)
    lock = open_private(folder / "lock")
    if not try_lock(lock):
        raise ConflictError("A relay is already running on this machine: callboard hosts")
    asyncio.run(_run(folder, version))
