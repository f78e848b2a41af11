"""Finds the client's socket of a TCP connection, if the client runs on this machine. Linux only.

The kernel's socket diagnostics (`sock_diag(7)`) look up one socket in about 20 microseconds.
Reading `/proc/net/tcp` takes milliseconds, so it is the fallback: for systems without socket
diagnostics, and to confirm that there is no such socket.
"""

import contextlib
import errno
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

Address = tuple[str, int]

_IPV4_MAPPED: Final = bytes(10) + b"\xff\xff"
"""The prefix of an IPv4 address that is written as an IPv6 address."""

# struct nlmsghdr, struct inet_diag_req_v2 and struct inet_diag_msg, from linux/inet_diag.h.
_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = struct.Struct("=IHHII BBBBI")
_PORTS: Final = struct.Struct("!HH")
_REST: Final = struct.Struct("=III")
_LENGTH: Final = 72
_ANSWER: Final = struct.Struct("=IHHII BB2x 48x 12x II")
_ANY: Final = 0xFFFFFFFF
_LISTEN: Final = 10
_LOOPBACK: Final = 1
"""The index of the loopback device, in every network namespace. Local connections use it whatever
their addresses are, and a socket that is bound to it is found only with this index."""

_TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")


@dataclass(frozen=True, slots=True)
class Socket:
    """A socket: the user who created it, and the inode by which `/proc/PID/fd` names it.

    After the last process has closed it, the kernel reports 0 for both, whoever the user was.
    """

    user: int
    inode: int


@dataclass(frozen=True, slots=True)
class Ends:
    """The two addresses of a connection."""

    client: Address
    server: Address

    def packed(self) -> tuple[bytes, bytes]:
        """Both hosts as bytes; an IPv4 address has 4, also where it was written as IPv6."""
        return _packed(self.client[0]), _packed(self.server[0])


def find_socket(ends: Ends) -> Socket | None:
    """The client's socket, from socket diagnostics; None if they do not find it."""
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
    # Without such a connection, the kernel returns a socket that listens on the client's port.
    return None if kind != _BY_FAMILY or state == _LISTEN else Socket(user, inode)


def _ask_kernel(message: bytes) -> bytes:
    kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, kind, _SOCK_DIAG) as kernel:
        kernel.send(message)
        return kernel.recv(1024)


def find_in_tables(ends: Ends) -> Socket | None:
    """The client's socket, from the list of all sockets of this machine."""
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


def is_local(address: Address) -> bool:
    """Whether an address belongs to this machine: only then can a socket be bound to it."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trial:
            trial.bind((address[0], 0))
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True


def _lines() -> Iterator[str]:
    for table in _TABLES:
        with contextlib.suppress(OSError):
            yield from Path(table).read_text(encoding="ascii").splitlines()[1:]


def _packed(host: str) -> bytes:
    if ":" not in host:
        return socket.inet_pton(socket.AF_INET, host)
    found = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    return found.removeprefix(_IPV4_MAPPED)


def _as_ipv6(packed: bytes) -> bytes:
    return packed if len(packed) == 16 else _IPV4_MAPPED + packed


def _shown(packed: bytes, port: int) -> str:
    """An address as the tables show it: 32-bit words in the machine's byte order."""
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
