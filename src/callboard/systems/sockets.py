"""The two ends of a TCP connection, and the socket of one of them."""

import errno
import ipaddress
import socket
from dataclasses import dataclass
from typing import Final

Address = tuple[str, int]

IPV4_MAPPED: Final = bytes(10) + b"\xff\xff"
"""The prefix of an IPv4 address written as IPv6."""


@dataclass(frozen=True, slots=True)
class Socket:
    """A socket: the user who created it, and its inode.

    After the last process has closed it, the kernel reports 0 for both, no matter who the user was.
    """

    user: int
    inode: int


@dataclass(frozen=True, slots=True)
class Ends:
    """The two addresses of a connection."""

    client: Address
    server: Address

    def packed(self) -> tuple[bytes, bytes]:
        """Both hosts as bytes; an IPv4 address has 4, even if it was written as IPv6."""
        return _packed(self.client[0]), _packed(self.server[0])


def is_local(address: Address) -> bool:
    """Whether an address belongs to this machine. Only then can a socket be bound to it."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trial:
            trial.bind((address[0], 0))
    except OSError as error:
        return error.errno != errno.EADDRNOTAVAIL
    return True


def is_loopback(address: Address) -> bool:
    """Whether an address is a loopback address, such as 127.0.0.1."""
    return ipaddress.ip_address(_packed(address[0])).is_loopback


def _packed(host: str) -> bytes:
    if ":" not in host:
        return socket.inet_pton(socket.AF_INET, host)
    found = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    return found.removeprefix(IPV4_MAPPED)
