"""Identifies the client at the other end of a connection, if it runs on this machine.

An agent runs as the same user as the person it works for. To keep it from approving its own
requests, an answer is refused if it comes from one of the agent's processes, or from a process
that cannot be found. This is a guardrail, not a security boundary: a process that has detached
itself from its parents gets past it.
"""

import asyncio
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from callboard.systems.current import system
from callboard.systems.processes import Lineage, Process, lineage_of
from callboard.systems.sockets import Ends, Socket, is_local, is_loopback

KEY: Final = "callboard.peer"
"""The key of a connection's `Peer` in the scope of its requests."""

_INIT: Final = 1


@dataclass(frozen=True, slots=True)
class Sender:
    """The client of a connection on this machine.

    lineages: of every process that has the connection open; empty if none was found.
    user: the user who opened the connection; None if it was closed before we could look.
    """

    lineages: tuple[Lineage, ...]
    user: int | None

    @property
    def is_found(self) -> bool:
        """Whether at least one process and its whole lineage are still alive.

        A process that ends loses its lineage, so anything learned about it counts only if this
        is true afterwards.
        """
        return any(all(process.lives for process in line) for line in self.lineages)


class Peer:
    """The client's end of one connection.

    Its socket is looked up when the connection is accepted, because the client may be gone a
    moment later. Finding the processes that hold it takes milliseconds, and waits until the
    sender matters. Those that were found are looked at first when the next answer comes over the
    same connection.
    """

    __slots__ = ("_ends", "_holders", "_is_remote", "_socket")

    def __init__(self, transport: asyncio.BaseTransport) -> None:
        ours = transport.get_extra_info("socket")
        self._holders: Mapping[int, str] = {}
        self._ends = _ends(ours) if system.SHOWS_CLIENTS else None
        self._socket = None if self._ends is None else system.find_socket(self._ends)
        self._is_remote = self._socket is None and _is_remote(self._ends, ours)

    async def is_ours(self) -> bool:
        """Whether the user who runs the server opened the connection. False if that isn't known."""
        found = await self._found()
        return found is not None and found.inode != 0 and found.user == os.getuid()

    async def sender(self) -> Sender | None:
        """The client; None if it runs on another machine, or if the system doesn't say."""
        if not system.SHOWS_CLIENTS:
            return None
        found = await self._found()
        if found is not None:
            return await asyncio.to_thread(self._sender, found)
        return None if self._is_remote else Sender((), None)

    async def _found(self) -> Socket | None:
        """The client's socket. Not every system can find it when the connection is accepted."""
        if self._socket is None and self._ends is not None:
            self._socket = await asyncio.to_thread(system.find_in_tables, self._ends)
        return self._socket

    def _sender(self, found: Socket) -> Sender:
        if not found.inode:
            return Sender((), None)
        return Sender(self._lineages(found), found.user)

    def _lineages(self, found: Socket) -> tuple[Lineage, ...]:
        """The lineages of the processes that have the client's socket open.

        Some processes hide their open files even from their own user. The forwarding process of
        sshd does: root starts it, and it then becomes the user. If such a process runs, the socket
        is still open and no process is seen to have it, any hidden process of that user may hold
        it. All of them count, so that an agent cannot hide behind sshd.
        """
        holding = self._holders.values()
        if self._holders and all(system.is_open(one, found.inode) for one in holding):
            return _lineages_of(self._holders)
        self._holders, hiding = system.holders_of(found.inode)
        if self._holders:
            return _lineages_of(self._holders)
        hidden = _lineages_of(pid for pid in hiding if system.user_of(pid) == found.user)
        # In this order: a process that has just ended is not in the list, but its socket is closed.
        if any(_was_switched(line[0]) for line in hidden) and self._is_open(found):
            return hidden
        return ()

    def _is_open(self, found: Socket) -> bool:
        """Whether any process still has the client's socket open."""
        assert self._ends is not None
        return found in (system.find_socket(self._ends), system.find_in_tables(self._ends))


def _ends(ours: socket.socket) -> Ends | None:
    """The addresses of a connection; None if the client has already reset it."""
    try:
        return Ends(ours.getpeername()[:2], ours.getsockname()[:2])
    except OSError:
        return None


def _is_remote(ends: Ends | None, ours: socket.socket) -> bool:
    """Whether a client that has no socket on this machine is elsewhere, and not just gone."""
    if ends is None:
        return False
    if is_loopback(ends.client):
        return not system.arrived_by_loopback(ours)
    return not is_local(ends.client)


def _lineages_of(pids: Iterable[int]) -> tuple[Lineage, ...]:
    lines = (lineage_of(pid) for pid in pids)
    return tuple(line for line in lines if line is not None)


def _was_switched(process: Process) -> bool:
    """Whether a process was started by another user than the one it runs as."""
    parent = process.parent
    return parent > _INIT and system.user_of(parent) not in (None, system.user_of(process.pid))
