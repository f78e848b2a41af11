"""What psutil provides on every system, such as Windows. It doesn't show the client of a socket.

The interface is that of `linux.py`.
"""

import socket
from collections.abc import Callable, Mapping
from typing import Final

import psutil

from callboard.systems.sockets import Ends, Socket

SHOWS_CLIENTS: Final = False
"""Whether the client of a connection can be found."""


class PortableProcess:
    """A process; `start` distinguishes it from earlier ones with the same id."""

    __slots__ = ("parent", "pid", "start")

    def __init__(self, pid: int) -> None:
        self.pid, self.start, self.parent = pid, "", 0
        try:
            found = psutil.Process(pid)
            if found.status() != psutil.STATUS_ZOMBIE:
                self.start, self.parent = repr(found.create_time()), found.ppid()
        except (psutil.Error, ValueError):
            return

    @property
    def lives(self) -> bool:
        """Whether it is still running."""
        if self.start:
            return PortableProcess(self.pid).start == self.start
        return psutil.pid_exists(self.pid)


Process = PortableProcess


def pids() -> list[int]:
    """The ids of all visible processes."""
    return psutil.pids()


def boot_id() -> str:
    """Empty: a process's start is a time here, so it is unique across boots. The boot time wouldn't
    do, because it moves when the clock is set.
    """
    return ""


def user_of(pid: int) -> int | None:
    """The effective user of a process; None if it has ended, or if users have no number."""
    try:
        return psutil.Process(pid).uids().effective
    except (psutil.Error, AttributeError):  # On Windows, users have names only.
        return None


def environment(pid: int) -> list[bytes]:
    """The environment a process was started with, as `NAME=value`; empty if it isn't visible."""
    try:
        told = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return []
    return [f"{name}={value}".encode("utf-8", "surrogateescape") for name, value in told.items()]


def kill(pid: int, is_meant: Callable[[], bool]) -> bool:
    """Kill a process if it is the right one, and not another that has reused its id."""
    try:
        found = psutil.Process(pid)
        if not is_meant():
            return False
        found.kill()
    except psutil.Error:
        return False
    return True


def limit_data(pid: int, most: int) -> None:
    """Nothing: here, no process can limit another one."""


def find_socket(ends: Ends) -> Socket | None:
    """The client's socket: never found."""
    return None


def find_in_tables(ends: Ends) -> Socket | None:
    """The same."""
    return None


def holders_of(inode: int) -> tuple[Mapping[int, str], list[int]]:
    """The processes that have a socket open: never found."""
    return {}, []


def is_open(file: str, inode: int) -> bool:
    """Whether an open file is still this socket."""
    return False


def peer_of(connected: socket.socket) -> int | None:
    """The process that connected to a Unix socket: unknown."""
    return None


def arrived_by_loopback(ours: socket.socket) -> bool:
    """Whether a connection from a loopback address came by the loopback device: unknown."""
    return True


def listener_of(port: int) -> int | None:
    """The user who listens on a TCP port: unknown."""
    return None
