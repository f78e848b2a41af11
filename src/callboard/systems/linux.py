"""Linux processes and sockets, from /proc and from socket diagnostics.

Socket diagnostics (`sock_diag(7)`) look up a socket in about 20 microseconds. Reading
`/proc/net/tcp` takes milliseconds, so it is the fallback: for systems without socket diagnostics,
and to confirm that a socket doesn't exist.
"""

import contextlib
import os
import resource
import signal
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from callboard.courier.processes import Process
from callboard.systems.sockets import IPV4_MAPPED, Ends, Socket

__all__ = ["Process"]

SHOWS_CLIENTS: Final = True
"""Whether the client of a connection can be found."""

# struct nlmsghdr, struct inet_diag_req_v2 and struct inet_diag_msg, from linux/inet_diag.h.
_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = struct.Struct("=IHHII BBBBI")
_PORTS: Final = struct.Struct("!HH")
_REST: Final = struct.Struct("=III")
_LENGTH: Final = 72
_ANSWER: Final = struct.Struct("=IHHII BB2x 48x 12x II")
_PEER: Final = struct.Struct("=iII")
"""A Unix socket's peer: its process, user and group."""
_ANY: Final = 0xFFFFFFFF
_LISTEN: Final = 10
_LOOPBACK: Final = 1
"""The index of the loopback device in every network namespace. Local connections use it whatever
their addresses are, and a socket that is bound to it is found only with this index.
"""

_IPV4_PACKET: Final = (socket.IPPROTO_IP, 8, 9, struct.Struct("=16x I"))
_IPV6_PACKET: Final = (socket.IPPROTO_IPV6, 49, 6, struct.Struct("=16x 16x I"))
"""For `arrived_by_loopback`: the level, the option that requests it (`IP_PKTINFO`), the option that
returns it (`IP_PKTOPTIONS`), and where the device's index is in the result.
"""

_TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")


def pids() -> list[int]:
    """The ids of all visible processes."""
    # Not pathlib, which takes three times as long: this reads many files of many processes.
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208


def boot_id() -> str:
    """Identifies this boot of the system: process ids repeat after a reboot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def user_of(pid: int) -> int | None:
    """The effective user of a process; None if it has ended."""
    import psutil  # Only servers need it, and it is slow to import.

    try:
        return psutil.Process(pid).uids().effective
    except psutil.Error:
        return None


def environment(pid: int) -> list[bytes]:
    """The environment a process was started with, as `NAME=value`; empty if it isn't visible."""
    # Not psutil, which stops at the first empty entry: a process could hide what follows.
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # It has ended, or belongs to another user.
        return []


def kill(pid: int, is_meant: Callable[[], bool]) -> bool:
    """Kill a process if it is the right one, and not another that has reused its id."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not is_meant():
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def limit_data(pid: int, most: int) -> None:
    """Let a process use at most so many bytes, besides files that it maps. It may be gone."""
    with contextlib.suppress(OSError):
        resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))


def find_socket(ends: Ends) -> Socket | None:
    """The client's socket, from socket diagnostics; None if they don't find it."""
    client, server = ends.packed()
    family = socket.AF_INET if len(client) == 4 else socket.AF_INET6
    message = (
        _REQUEST.pack(_LENGTH, _BY_FAMILY, 1, 0, 0, family, socket.IPPROTO_TCP, 0, 0, _ANY)
        + _PORTS.pack(ends.client[1], ends.server[1])
        + client.ljust(16, b"\0")
        + server.ljust(16, b"\0")
        + _REST.pack(_LOOPBACK, _ANY, _ANY)
    )
    try:
        answer = _ask_kernel(message)
    except OSError:
        return None
    if len(answer) < _ANSWER.size:
        return None
    _, kind, _, _, _, _, state, user, inode = _ANSWER.unpack_from(answer)
    # If there is no such connection, the kernel returns a socket that listens on the client's port.
    return None if kind != _BY_FAMILY or state == _LISTEN else Socket(user, inode)


def _ask_kernel(message: bytes) -> bytes:
    kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, kind, _SOCK_DIAG) as kernel:
        kernel.send(message)
        return kernel.recv(1024)


def find_in_tables(ends: Ends) -> Socket | None:
    """The client's socket, from the list of all sockets on this machine."""
    client, server = ends.packed()
    sought = [
        f"{_shown(one, ends.client[1])} {_shown(other, ends.server[1])}"
        for one, other in ((client, server), (_as_ipv6(client), _as_ipv6(server)))
    ]
    for line in _lines():
        fields = line.split()
        if f"{fields[1]} {fields[2]}" in sought:
            return Socket(int(fields[7]), int(fields[9]))
    return None


def peer_of(connected: socket.socket) -> int | None:
    """The process that connected to a Unix socket; 0 if it isn't visible."""
    return _PEER.unpack(connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))[0]


def arrived_by_loopback(ours: socket.socket) -> bool:
    """Whether a connection from a loopback address came by the loopback device.

    If so, its client has, or had, a socket on this machine. Some virtual machines deliver their
    host's connections as if they came from 127.0.0.1, but by another device. A connection that has
    ended counts as local.
    """
    level, ask, read, layout = _IPV4_PACKET if ours.family == socket.AF_INET else _IPV6_PACKET
    try:
        ours.setsockopt(level, ask, 1)
        (device,) = layout.unpack_from(ours.getsockopt(level, read, 64))
    except (OSError, struct.error):
        return True
    return device == _LOOPBACK


def listener_of(port: int) -> int | None:
    """The user who listens on a TCP port; None if no one does."""
    for line in _lines():
        _, local, _, state, *rest = line.split()
        if int(state, 16) == _LISTEN and int(local.rpartition(":")[2], 16) == port:
            return int(rest[3])
    return None


def _lines() -> Iterator[str]:
    for table in _TABLES:
        with contextlib.suppress(OSError):
            yield from Path(table).read_text(encoding="ascii").splitlines()[1:]


def _as_ipv6(packed: bytes) -> bytes:
    return packed if len(packed) == 16 else IPV4_MAPPED + packed


def _shown(packed: bytes, port: int) -> str:
    """An address as the tables show it: 32-bit words in the machine's byte order."""
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"


def holders_of(inode: int) -> tuple[Mapping[int, str], list[int]]:
    """The processes that have a socket open, each with its file for it; and those that hide it."""
    holding: dict[int, str] = {}
    hiding: list[int] = []
    for pid in pids():
        try:
            file = _file(pid, inode)
        except PermissionError:
            hiding.append(pid)
        except OSError:  # It has just ended.
            continue
        else:
            holding |= {} if file is None else {pid: file}
    return holding, hiding


def is_open(file: str, inode: int) -> bool:
    """Whether an open file, as returned by `holders_of`, is still this socket."""
    try:
        return _is_socket(file, inode)
    except OSError:
        return False


def _file(pid: int, inode: int) -> str | None:
    folder = f"/proc/{pid}/fd"
    files = (f"{folder}/{name}" for name in os.listdir(folder))  # noqa: PTH208
    return next((file for file in files if _is_socket(file, inode)), None)


def _is_socket(file: str, inode: int) -> bool:
    try:
        return os.readlink(file) == f"socket:[{inode}]"  # noqa: PTH115
    except FileNotFoundError:  # It has just been closed.
        return False
