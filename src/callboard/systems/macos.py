"""macOS processes and sockets, from libproc and kqueue.

The interface is that of `linux.py`. psutil would not do for a process's start: it moves when the
clock is set. Processes of other users show nothing but that they exist.
"""

import os
import select
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Final, Protocol, cast

from callboard.systems.libproc import TcpSocket, libproc
from callboard.systems.sockets import Ends, Socket

SHOWS_CLIENTS: Final = True
"""Whether the client of a connection can be found."""

_ROOT: Final = 0
_SOL_LOCAL: Final = 0
_LOCAL_PEERPID: Final = 2


class MacProcess:
    """A process; `start` distinguishes it from earlier ones with the same id."""

    __slots__ = ("parent", "pid", "start")

    def __init__(self, pid: int) -> None:
        facts = libproc().facts(pid)
        self.pid = pid
        self.start = "" if facts is None else facts.start
        self.parent = 0 if facts is None else facts.parent

    @property
    def lives(self) -> bool:
        """Whether it is still running."""
        if self.start:
            return MacProcess(self.pid).start == self.start
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True


Process = MacProcess


def pids() -> list[int]:
    """The ids of all visible processes."""
    return libproc().pids()


def boot_id() -> str:
    """Identifies this boot of the system: process ids repeat after a reboot."""
    return libproc().text("kern.bootsessionuuid")


def user_of(pid: int) -> int | None:
    """The effective user of a process; None if it has ended, or belongs to another user."""
    facts = libproc().facts(pid)
    return None if facts is None else facts.user


def environment(pid: int) -> list[bytes]:
    """The environment a process was started with, as `NAME=value`; empty if it isn't visible.

    The programs of the system itself, such as /bin/sh, never show theirs.
    """
    import psutil  # Only servers need it, and it is slow to import.

    try:
        told = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return []
    return [f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in told.items()]


class _Queue(Protocol):
    def control(
        self, changes: Sequence[object] | None, most: int, timeout: float, /
    ) -> list[object]: ...
    def close(self) -> None: ...


class _Queues(Protocol):
    """The part of `select` that only BSD systems have."""

    KQ_FILTER_PROC: int
    KQ_NOTE_EXIT: int
    KQ_EV_ADD: int

    def kqueue(self) -> _Queue: ...
    def kevent(self, ident: int, /, filter: int, flags: int, fflags: int) -> object: ...  # noqa: A002 - its name there


def _queues() -> _Queues:
    return cast("_Queues", select)


def kill(pid: int, is_meant: Callable[[], bool]) -> bool:
    """Kill a process if it is the right one, and not another that has reused its id.

    The kernel notes the end of a process from the moment that we ask for it. If it has noted none
    after the check, the process that was checked is still the one with this id.
    """
    queues = _queues()
    end = queues.kevent(
        pid,
        filter=queues.KQ_FILTER_PROC,
        flags=queues.KQ_EV_ADD,
        fflags=queues.KQ_NOTE_EXIT,
    )
    with closing(queues.kqueue()) as queue:
        try:
            queue.control([end], 0, 0)
            if not is_meant() or queue.control(None, 1, 0):
                return False
            os.kill(pid, signal.SIGKILL)
        except OSError:
            return False
    return True


def limit_data(pid: int, most: int) -> None:
    """Nothing: here, no process can limit another one."""


def find_socket(ends: Ends) -> Socket | None:
    """The client's socket at once: not found, because that means to look at all processes."""
    return None


def find_in_tables(ends: Ends) -> Socket | None:
    """The client's socket, from the open files of all processes that show them.

    That takes milliseconds. A socket whose processes all belong to other users is not found.
    """
    for one in _sockets():
        if one.is_client_of(ends):
            user = user_of(one.pid)
            return None if user is None else Socket(user, one.number)
    return None


def holders_of(inode: int) -> tuple[Mapping[int, str], list[int]]:
    """The processes that have a socket open, each with its file for it; and those that hide it."""
    hiding: list[int] = []
    found = (one for one in _sockets(hiding) if one.number == inode)
    return {one.pid: f"{one.pid}/{one.file}" for one in found}, hiding


def is_open(file: str, inode: int) -> bool:
    """Whether an open file, as returned by `holders_of`, is still this socket."""
    pid, _, number = file.partition("/")
    found = libproc().socket(int(pid), int(number))
    return found is not None and found.number == inode


def _sockets(hiding: list[int] | None = None) -> Iterator[TcpSocket]:
    """The TCP sockets of our user's processes; of all, if we are root."""
    user = os.geteuid()
    for pid in libproc().pids(None if user == _ROOT else user):
        try:
            yield from libproc().sockets(pid)
        except PermissionError:
            if hiding is not None:
                hiding.append(pid)


def peer_of(connected: socket.socket) -> int | None:
    """The process that connected to a Unix socket; 0 if it isn't known."""
    try:
        return connected.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
    except OSError:  # It has closed the connection.
        return 0


def arrived_by_loopback(ours: socket.socket) -> bool:
    """Whether a connection from a loopback address came by the loopback device.

    Always: only Linux delivers others. So a client that isn't found counts as one of this machine.
    """
    return True


def listener_of(port: int) -> int | None:
    """The user who listens on a TCP port; None if no one does, or another user."""
    for one in _sockets():
        if one.is_listening and one.port == port:
            return user_of(one.pid)
    return None
