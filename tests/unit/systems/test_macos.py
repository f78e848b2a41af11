"""What a Mac's structures say, and what is made of what it refuses."""

import asyncio
import ctypes
import errno
import os
import socket
import struct
from contextlib import ExitStack
from typing import Any

import pytest
from tests.darwin import BOOT, FakeCalls, FakeQueues, process_record, socket_record

from callboard.server.access import peers
from callboard.systems import macos, processes
from callboard.systems.libproc import Libproc, ProcessFacts
from callboard.systems.sockets import Ends


class Recorded(FakeCalls):
    """Calls that answer with records of this test."""

    def __init__(self, *, facts: bytes = b"", sockets: dict[int, bytes] | None = None) -> None:
        super().__init__()
        self.facts = facts
        self.files = sockets or {}
        self.refuses = 0

    def proc_listpids(self, kind: int, which: int, into: Any, size: int) -> int:
        return _given(struct.pack("=3i", 0, 501, 502), into, size)

    def proc_pidinfo(self, pid: int, flavor: int, argument: Any, into: Any, size: int) -> int:
        if self.refuses:
            ctypes.set_errno(self.refuses)
            return 0
        if flavor == 3:
            return _given(self.facts, into, size)
        return _given(b"".join(struct.pack("=iI", file, 2) for file in self.files), into, size)

    def proc_pidfdinfo(self, pid: int, file: int, flavor: int, into: Any, size: int) -> int:
        return _given(self.files[file], into, size)


def _given(data: bytes, into: Any, size: int) -> int:
    if into is None:
        return len(data)
    ctypes.memmove(into, data, min(len(data), size))
    return min(len(data), size)


def test_a_process_record_has_136_bytes_with_parent_user_and_start():
    record = process_record(4711, 815, 501, (1_763_000_000, 42))
    assert len(record) == 136
    facts = Libproc(Recorded(facts=record)).facts(4711)
    assert facts == ProcessFacts("1763000000.000042", 815, 501)


@pytest.mark.parametrize("number", [errno.ESRCH, errno.EPERM])
def test_a_zombie_and_a_process_of_another_user_say_nothing(number: int):
    calls = Recorded()
    calls.refuses = number
    assert Libproc(calls).facts(1) is None


def test_a_process_that_is_exiting_counts_as_ended():
    record = process_record(4711, 815, 501, (1, 2), flags=0x4014)
    assert Libproc(Recorded(facts=record)).facts(4711) is None


def test_hidden_files_are_an_error_and_those_of_an_ended_process_are_none():
    calls = Recorded()
    calls.refuses = errno.EPERM
    with pytest.raises(PermissionError):
        list(Libproc(calls).sockets(501))
    calls.refuses = errno.ESRCH
    assert list(Libproc(calls).sockets(501)) == []


def test_a_list_that_grows_between_two_calls_is_read_in_full():
    class Growing(FakeCalls):
        def proc_listpids(self, kind: int, which: int, into: Any, size: int) -> int:
            pids = range(1, 2 if into is None else 1001)
            return _given(struct.pack(f"={len(pids)}i", *pids), into, size)

    assert Libproc(Growing()).pids() == list(range(1, 1001))


def test_the_kernel_itself_is_not_among_the_processes():
    assert Libproc(Recorded()).pids(501) == [501, 502]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "192.0.2.7"])
def test_a_socket_record_is_matched_by_both_its_ends(host: str):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    packed = socket.inet_pton(family, host)
    record = socket_record(99, (packed, 52_000), (packed, 2255), 4)
    (found,) = Libproc(Recorded(sockets={7: record})).sockets(501)
    assert (found.pid, found.file, found.number, found.is_listening) == (501, 7, 99, False)
    assert found.is_client_of(Ends((host, 52_000), (host, 2255)))
    assert not found.is_client_of(Ends((host, 2255), (host, 52_000)))
    assert not found.is_client_of(Ends(("192.0.2.1", 52_000), (host, 2255)))


def test_what_is_no_tcp_socket_is_skipped():
    assert list(Libproc(Recorded(sockets={7: bytes(792), 8: b""})).sockets(501)) == []


def test_the_boot_is_named_by_the_kernel_and_an_unknown_name_is_empty(monkeypatch):
    monkeypatch.setattr(macos, "libproc", lambda: Libproc(FakeCalls()))
    assert macos.boot_id() == BOOT
    assert macos.libproc().text("kern.nothing") == ""


class Transport(asyncio.BaseTransport):
    """The server's end of a connection, as asyncio shows it."""

    def __init__(self, ours: socket.socket) -> None:
        self.ours = ours

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.ours if name == "socket" else default


@pytest.fixture
def on_a_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(macos, "libproc", lambda: Libproc(FakeCalls()))
    monkeypatch.setattr(macos, "_queues", FakeQueues)
    monkeypatch.setattr(peers, "system", macos)
    monkeypatch.setattr(processes, "Process", macos.Process)


async def test_a_server_finds_the_process_that_sent_an_answer(on_a_mac: None):
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        client = stack.enter_context(socket.create_connection(listening.getsockname()))
        server = stack.enter_context(listening.accept()[0])
        peer = peers.Peer(Transport(server))
        assert await peer.is_ours()
        sender = await peer.sender()
        assert sender is not None
        assert [line[0].pid for line in sender.lineages] == [os.getpid()]
        assert (sender.user, sender.is_found) == (os.geteuid(), True)
        client.close()
        assert await peers.Peer(Transport(server)).sender() == peers.Sender((), None)
        assert not await peers.Peer(Transport(server)).is_ours()


def test_a_lineage_ends_below_the_first_process_of_another_user(on_a_mac: None, monkeypatch):
    """A terminal's shell is started by `login`, which belongs to root."""
    facts = {
        600: ProcessFacts("1.000001", 500, 501),
        500: ProcessFacts("1.000000", 400, 501),
    }

    class Own:
        def facts(self, pid: int) -> ProcessFacts | None:
            return facts.get(pid)

    monkeypatch.setattr(macos, "libproc", Own)
    monkeypatch.setattr(os, "kill", _refused)
    assert [one.pid for one in processes.lineage_of(600) or ()] == [600, 500]


def _refused(pid: int, number: int) -> None:
    raise PermissionError(errno.EPERM, "not ours")
