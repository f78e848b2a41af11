"""Who is at the other end of a connection: found by the kernel's tables and by /proc."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from callboard.server.access.peers import Peer, Sender
from callboard.systems import linux
from callboard.systems.linux import arrived_by_loopback, find_in_tables, find_socket, user_of
from callboard.systems.processes import lineage_of
from callboard.systems.sockets import Ends, Socket, is_local, is_loopback

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows other sockets")

ADDRESSES = ("127.0.0.1", "::ffff:127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sockets of a connection on this machine."""

    client: socket.socket
    server: socket.socket

    @property
    def ends(self) -> Ends:
        return Ends(self.server.getpeername()[:2], self.server.getsockname()[:2])

    @property
    def inode(self) -> int:
        return os.fstat(self.client.fileno()).st_ino


@dataclass(frozen=True, slots=True)
class Transport(asyncio.BaseTransport):
    """The server's end, as asyncio shows it."""

    ours: socket.socket

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.ours if name == "socket" else default

    def is_closing(self) -> bool:
        return False


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as closing:
        yield closing


def connected(stack: ExitStack, host: str = "127.0.0.1", device: bytes = b"") -> Pair:
    """A connection to a server that listens for IPv4 and IPv6."""
    listening = stack.enter_context(
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    client = stack.enter_context(socket.socket(family))
    if device:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
    client.connect((host, listening.getsockname()[1]))
    return Pair(client, stack.enter_context(listening.accept()[0]))


@pytest.mark.parametrize("device", [b"", b"lo"])
@pytest.mark.parametrize("host", ADDRESSES)
def test_a_socket_is_found_both_ways(stack: ExitStack, host: str, device: bytes):
    pair = connected(stack, host, device)
    found = Socket(os.geteuid(), pair.inode)
    assert find_socket(pair.ends) == found
    assert find_in_tables(pair.ends) == found


@pytest.mark.parametrize("find", [find_socket, find_in_tables])
def test_a_half_closed_socket_has_an_owner_and_a_closed_one_has_none(stack: ExitStack, find: Any):
    pair = connected(stack)
    inode, ends = pair.inode, pair.ends
    pair.client.shutdown(socket.SHUT_WR)
    assert find(ends) == Socket(os.geteuid(), inode)
    pair.client.close()
    assert find(ends) == Socket(0, 0)


@pytest.mark.parametrize("find", [find_socket, find_in_tables])
def test_a_socket_that_listens_on_the_clients_port_is_not_the_client(stack: ExitStack, find: Any):
    pair = connected(stack)
    other = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    assert find(Ends(other.getsockname(), pair.ends.server)) is None


def test_only_addresses_of_this_machine_are_local():
    assert is_local(("127.0.0.1", 1))
    assert is_local(("::1", 1))
    assert is_local(("::ffff:127.0.0.1", 1))
    assert not is_local(("192.0.2.1", 1))
    assert not is_local(("2001:db8::1", 1))


def test_loopback_addresses_are_known_however_they_are_written():
    assert all(is_loopback((host, 1)) for host in (*ADDRESSES, "127.9.9.9"))
    assert not is_loopback(("192.0.2.1", 1))
    assert not is_loopback(("2001:db8::1", 1))


@pytest.mark.parametrize("host", ADDRESSES)
def test_a_connection_of_this_machine_arrives_by_loopback(stack: ExitStack, host: str):
    pair = connected(stack, host)
    assert arrived_by_loopback(pair.server)
    pair.client.close()
    assert arrived_by_loopback(pair.server)
    pair.server.close()
    assert arrived_by_loopback(pair.server)


async def test_all_processes_that_have_a_connection_open_are_found(stack: ExitStack):
    pair = connected(stack)
    pair.client.set_inheritable(True)
    number = pair.client.fileno()
    heir = stack.enter_context(
        subprocess.Popen(["sleep", "60"], pass_fds=[number], stdin=subprocess.DEVNULL)
    )
    stack.callback(heir.kill)
    sender = await Peer(Transport(pair.server)).sender()
    assert sender is not None
    assert {line[0].pid for line in sender.lineages} == {os.getpid(), heir.pid}
    assert all(line[-1].parent == 0 for line in sender.lineages)
    assert (sender.user, sender.is_found) == (os.geteuid(), True)


async def test_a_client_that_was_reset_is_unknown(stack: ExitStack):
    pair = connected(stack)
    peer = Peer(Transport(pair.server))
    linger = b"\1\0\0\0" + bytes(4)
    pair.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    pair.client.close()
    assert await peer.sender() == Sender((), os.geteuid())
    assert await Peer(Transport(pair.server)).sender() == Sender((), None)


@pytest.mark.parametrize(("by_loopback", "expected"), [(False, None), (True, Sender((), None))])
async def test_a_client_without_a_socket_here_is_remote_or_gone(
    stack: ExitStack, monkeypatch: pytest.MonkeyPatch, by_loopback: bool, expected: Sender | None
):
    monkeypatch.setattr(linux, "find_socket", lambda ends: None)
    monkeypatch.setattr(linux, "find_in_tables", lambda ends: None)
    monkeypatch.setattr(linux, "arrived_by_loopback", lambda ours: by_loopback)
    assert await Peer(Transport(connected(stack).server)).sender() == expected


def test_a_process_that_has_ended_is_not_found():
    with subprocess.Popen(["sleep", "60"]) as child:
        lineage = lineage_of(child.pid)
        assert lineage is not None
        assert [one.pid for one in lineage[:2]] == [child.pid, os.getpid()]
        sender = Sender((lineage,), os.geteuid())
        assert sender.is_found
        assert user_of(child.pid) == os.geteuid()
        child.kill()
    assert not sender.is_found
    assert lineage_of(child.pid) is None
    assert user_of(child.pid) is None
