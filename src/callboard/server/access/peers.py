"""Who is at the other end of a connection, where the system tells.

An agent runs as the same user as its person. So that it cannot approve what it asks for, an answer
is refused if one of its own processes sends it, or if a process sends it that cannot be found.
That is a fence, not a wall: a process that has cut itself loose from its parents gets past it.
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
from callboard.server.access.sockets import (
    Ends,
    Socket,
    find_in_tables,
    find_socket,
    is_here,
)

KEY: Final = "callboard.peer"
"""Where a request's scope names the other end of its connection."""

Lineage = tuple[Process, ...]
"""A process, its parent, and so on."""

_ESTABLISHED: Final = 1
_INIT: Final = 1


@dataclass(frozen=True, slots=True)
class Sender:
    """Who on this machine sent a request.

    lineages: the processes that have the connection open, each with all above it. None when they
        cannot be found.
    user: the one whose connection it is; None when it was closed before we could look.
    """

    lineages: tuple[Lineage, ...]
    user: int | None

    @property
    def is_found(self) -> bool:
        """Whether a process has the connection open that lives, as do all above it.

        A process that ends is no longer below its parents, and neither is one whose parent ends.
        So ask only after everything else has been asked about them.
        """
        return any(all(process.lives for process in line) for line in self.lineages)


class Peer:
    """The other end of a connection.

    Its socket is looked up at once, because a client can be gone a moment later. Which processes
    have it open is found out when it matters: that takes milliseconds.
    """

    __slots__ = ("_ends", "_socket", "_transport")

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._ends = _ends(transport) if sys.platform == "linux" else None
        self._socket = None if self._ends is None else find_socket(self._ends)

    async def sender(self) -> Sender | None:
        """Who sent what came over this connection; None for one that came from elsewhere."""
        if sys.platform != "linux":
            return None
        found = self._socket
        if found is None and self._ends is not None:
            found = await asyncio.to_thread(find_in_tables, self._ends)
        if found is not None:
            return await asyncio.to_thread(_sender, found)
        return None if self._is_from_elsewhere() else Sender((), None)

    def _is_from_elsewhere(self) -> bool:
        """Whether a client without a socket here is not on this machine, or has just gone."""
        if self._ends is None:
            return False
        return self._is_open() or not is_here(self._ends.client)

    def _is_open(self) -> bool:
        # While our end is open, one of this machine has its other end here.
        if self._transport.is_closing():
            return False
        ours = self._transport.get_extra_info("socket")
        state = ours.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
        return state[0] == _ESTABLISHED


def _ends(transport: Any) -> Ends | None:
    """Both addresses of a connection; None when it has been reset already."""
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

    Some processes hide what they have open, even from their own user. sshd's are of that kind:
    it starts them as root and lets them become the user. When no other has the socket, it is one
    of these. What hides itself without having been another user's is not found.
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
    return holding or [pid for pid in hiding if _was_handed_to(pid, found.user)]


def _processes() -> Iterator[int]:
    return (int(one.name) for one in Path("/proc").iterdir() if one.name.isdecimal())


def _has(pid: int, sought: str) -> bool:
    return any(_target(file) == sought for file in Path(f"/proc/{pid}/fd").iterdir())


def _target(file: Path) -> str:
    try:
        return str(file.readlink())
    except FileNotFoundError:  # It was closed meanwhile.
        return ""


def _was_handed_to(pid: int, user: int) -> bool:
    """Whether another user's process started this one, which is this user's now."""
    parent = Process(pid).parent
    return user_of(pid) == user and parent > _INIT and user_of(parent) not in (None, user)
