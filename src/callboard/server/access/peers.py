"""Identifies the client at the other end of a connection, if it runs on this machine.

An agent runs as the same user as the person it works for. To keep it from approving its own
requests, an answer is refused if it comes from one of the agent's processes, or from a process
that cannot be found. That is a fence, not a wall: a process that has detached itself from its
parents gets past it.
"""

import asyncio
import socket
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from callboard.board.processes import lineage_of, user_of
from callboard.courier.processes import Process
from callboard.server.access.sockets import Ends, Socket, find_in_tables, find_socket, is_local

KEY: Final = "callboard.peer"
"""The key of a connection's `Peer` in the scope of its requests."""

Lineage = tuple[Process, ...]
"""A process, its parent, and so on up to the first one."""

_ESTABLISHED: Final = 1
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
    sender matters.
    """

    __slots__ = ("_ends", "_socket", "_transport")

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._ends = _ends(transport) if sys.platform == "linux" else None
        self._socket = None if self._ends is None else find_socket(self._ends)

    async def sender(self) -> Sender | None:
        """The client; None if it runs on another machine, or if the system does not tell."""
        if sys.platform != "linux":
            return None
        found = self._socket
        if found is None and self._ends is not None:
            found = await asyncio.to_thread(find_in_tables, self._ends)
        if found is not None:
            return await asyncio.to_thread(_sender, found)
        return None if self._is_remote() else Sender((), None)

    def _is_remote(self) -> bool:
        """Whether a client that has no socket on this machine is elsewhere, and not just gone."""
        if self._ends is None:
            return False
        return self._is_established() or not is_local(self._ends.client)

    def _is_established(self) -> bool:
        # As long as our end is, a client on this machine has a socket too.
        if self._transport.is_closing():
            return False
        ours = self._transport.get_extra_info("socket")
        state = ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
        return state[0] == _ESTABLISHED


def _ends(transport: Any) -> Ends | None:
    """The addresses of a connection; None if the client has already reset it."""
    ours = transport.get_extra_info("socket")
    try:
        return Ends(ours.getpeername()[:2], ours.getsockname()[:2])
    except OSError:
        return None


def _sender(found: Socket) -> Sender:
    if not found.inode:
        return Sender((), None)
    lines = [lineage_of(pid) for pid in _holders(found)]
    return Sender(tuple(line for line in lines if line is not None), found.user)


def _holders(found: Socket) -> Collection[int]:
    """The processes that have a socket open.

    Some processes hide their open files even from their own user. The forwarding process of sshd
    does: root starts it, and it then becomes the user. If no other process has the socket open,
    processes of that kind are taken for its holders. Other processes that hide stay unknown.
    """
    sought = f"socket:[{found.inode}]"
    holding: set[int] = set()
    hiding: set[int] = set()
    for pid in _processes():
        try:
            if _has(pid, sought):
                holding.add(pid)
        except PermissionError:
            hiding.add(pid)
        except OSError:  # It has just ended.
            continue
    return holding or [pid for pid in hiding if _was_switched_to(pid, found.user)]


def _processes() -> Iterator[int]:
    return (int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal())


def _has(pid: int, sought: str) -> bool:
    return any(_target(file) == sought for file in Path(f"/proc/{pid}/fd").iterdir())


def _target(file: Path) -> str:
    try:
        return str(file.readlink())
    except FileNotFoundError:  # It has just been closed.
        return ""


def _was_switched_to(pid: int, user: int) -> bool:
    """Whether a process of this user was started by a process of another user."""
    parent = Process(pid).parent
    return user_of(pid) == user and parent > _INIT and user_of(parent) not in (None, user)
