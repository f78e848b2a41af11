"""The other end of a TCP connection, when it is a socket of this machine. Linux only.

One socket is found through the kernel's socket diagnostics (`sock_diag(7)`), in some 20
microseconds. To read `/proc/net/tcp` takes milliseconds, so that is only done where the first way
is closed, or found nothing.
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

_MAPPED: Final = bytes(10) + b"\xff\xff"
"""What an IPv4 address begins with that is written as an IPv6 address."""

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = struct.Struct("=IHHII BBBBI")
_PORTS: Final = struct.Struct("!HH")
_REST: Final = struct.Struct("=III")
_LENGTH: Final = 72
_ANSWER: Final = struct.Struct("=IHHII BB2x 48x 12x II")
_ANY: Final = 0xFFFFFFFF
_LISTENS: Final = 10
_LOOPBACK: Final = 1
"""The number of the loopback device. Whatever comes from this machine comes through it, also to
another address of it; and a socket that is bound to it is only found by naming it."""

_TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")


@dataclass(frozen=True, slots=True)
class Socket:
    """A socket: the user who made it, and the number by which processes name it.

    Once no process has it open, the number is 0, and so is the user, whoever that was.
    """

    user: int
    inode: int


@dataclass(frozen=True, slots=True)
class Ends:
    """The two ends of a connection, seen from the client."""

    client: Address
    server: Address

    def packed(self) -> tuple[bytes, bytes]:
        """Both addresses as the kernel has them, an IPv4 address always as one."""
        return _packed(self.client[0]), _packed(self.server[0])


def find_socket(ends: Ends) -> Socket | None:
    """The client's socket, by asking for this one; None when that finds none."""
    client, server = ends.packed()
    family = socket.AF_INET if len(client) == 4 else socket.AF_INET6
    try:
        answer = _ask(
            _REQUEST.pack(_LENGTH, _BY_FAMILY, 1, 0, 0, family, socket.IPPROTO_TCP, 0, 0, _ANY)
            + _PORTS.pack(ends.client[1], ends.server[1])
            + client.ljust(16, b"\0")
            + server.ljust(16, b"\0")
            + _REST.pack(_LOOPBACK, _ANY, _ANY)
        )
    except OSError:
        return None
    if len(answer) < _ANSWER.size:
        return None
    _, kind, _, _, _, _, state, user, inode = _ANSWER.unpack_from(answer)
    # Where there is no such connection, it names who listens at the client's port, if anyone does.
    return None if kind != _BY_FAMILY or state == _LISTENS else Socket(user, inode)


def _ask(message: bytes) -> bytes:
    kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    with socket.socket(socket.AF_NETLINK, kind, _SOCK_DIAG) as kernel:
        kernel.send(message)
        return kernel.recv(1024)


def find_in_tables(ends: Ends) -> Socket | None:
    """The client's socket, by looking through all that there are."""
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


def is_here(address: Address) -> bool:
    """Whether an address is one of this machine's."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trying:
            trying.bind((address[0], 0))
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
    return found.removeprefix(_MAPPED)


def _as_ipv6(packed: bytes) -> bytes:
    return packed if len(packed) == 16 else _MAPPED + packed


def _shown(packed: bytes, port: int) -> str:
    """An address as the tables show it: words in the machine's own order of bytes."""
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
