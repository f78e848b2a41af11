"""What every system has to provide. All of their modules are asked the same here, on Linux."""

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any, cast

import pytest
from tests.darwin import FakeCalls, FakeQueues

from callboard.courier.processes import Process as HookProcess
from callboard.systems import linux, macos, portable
from callboard.systems.libproc import Libproc
from callboard.systems.processes import ancestors, is_alive, lineage_of, started_at
from callboard.systems.sockets import Ends

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="compares Linux with the others")

MODULES = (linux, macos, portable)
SHOWING = (linux, macos)


@pytest.fixture(autouse=True)
def mac(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Mac's library for `macos`, which reads the structures that it would get there."""
    found = Libproc(FakeCalls())
    monkeypatch.setattr(macos, "libproc", lambda: found)
    monkeypatch.setattr(macos, "_queues", FakeQueues)


@pytest.fixture(params=MODULES, ids=lambda one: one.__name__.rpartition(".")[2])
def system(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=SHOWING, ids=lambda one: one.__name__.rpartition(".")[2])
def showing(request: pytest.FixtureRequest) -> Any:
    """A system that shows the client of a socket."""
    return request.param


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "MARKED": "1"}
    ) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started
        started.kill()


def test_all_modules_have_the_same_interface():
    def public(module: ModuleType) -> set[str]:
        own = {
            n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__
        }
        return {name for name in own if not name.startswith("_")} | {"Process", "SHOWS_CLIENTS"}

    assert public(linux) == public(portable) - {"PortableProcess"}
    assert public(linux) == public(macos) - {"MacProcess"}


def test_a_process_has_a_start_a_parent_and_a_user(system, child):
    found = system.Process(child.pid)
    assert found.start
    assert found.start == system.Process(child.pid).start
    assert found.parent == os.getpid()
    assert found.lives
    assert system.user_of(child.pid) == os.geteuid()
    assert child.pid in system.pids()
    assert b"MARKED=1" in system.environment(child.pid)


def test_a_process_that_ended_is_gone_before_its_parent_has_looked(system, child):
    found = system.Process(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not found.lives
    assert system.Process(child.pid).start == ""
    child.wait()
    assert system.user_of(child.pid) is None
    assert system.environment(child.pid) == []


def test_only_the_process_that_is_meant_is_killed(system, child):
    assert not system.kill(child.pid, lambda: False)
    assert child.poll() is None
    assert system.kill(child.pid, lambda: True)
    assert child.wait() == -signal.SIGKILL
    assert not system.kill(child.pid, lambda: True)


def test_a_process_that_ends_during_the_check_is_not_killed_again(showing, child, monkeypatch):
    def ends() -> bool:
        child.kill()
        child.wait()
        monkeypatch.setattr(os, "kill", lambda pid, number: pytest.fail("killed another"))
        return True

    assert not showing.kill(child.pid, ends)


def test_a_boot_has_one_id_and_a_system_without_one_says_so(system):
    assert system.boot_id() == system.boot_id()
    assert bool(system.boot_id()) is system.SHOWS_CLIENTS


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as closing:
        yield closing


def connected(stack: ExitStack, host: str) -> tuple[socket.socket, Ends]:
    listening = stack.enter_context(
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    client = stack.enter_context(socket.socket(family))
    client.connect((host, listening.getsockname()[1]))
    server = stack.enter_context(listening.accept()[0])
    return client, Ends(server.getpeername()[:2], server.getsockname()[:2])


@pytest.mark.parametrize("host", ["127.0.0.1", "::ffff:127.0.0.1", "::1"])
def test_the_client_of_a_connection_is_found(showing, stack: ExitStack, host: str):
    client, ends = connected(stack, host)
    found = showing.find_in_tables(ends)
    assert found is not None
    assert found.user == os.geteuid()
    holding, _ = showing.holders_of(found.inode)
    assert list(holding) == [os.getpid()]
    assert showing.is_open(holding[os.getpid()], found.inode)
    client.close()
    assert not showing.is_open(holding[os.getpid()], found.inode)
    assert showing.holders_of(found.inode)[0] == {}


def test_all_processes_that_have_a_socket_open_are_found(showing, stack: ExitStack):
    client, ends = connected(stack, "127.0.0.1")
    heir = stack.enter_context(
        subprocess.Popen(["sleep", "60"], pass_fds=[client.fileno()], stdin=subprocess.DEVNULL)
    )
    stack.callback(heir.kill)
    assert set(showing.holders_of(showing.find_in_tables(ends).inode)[0]) == {os.getpid(), heir.pid}


def test_who_listens_on_a_port_is_known(showing, stack: ExitStack):
    listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    port = listening.getsockname()[1]
    assert showing.listener_of(port) == os.geteuid()
    listening.close()
    assert showing.listener_of(port) is None


def test_a_system_that_shows_no_clients_finds_none(stack: ExitStack):
    _, ends = connected(stack, "127.0.0.1")
    assert portable.find_socket(ends) is None
    assert portable.find_in_tables(ends) is None
    assert portable.holders_of(1) == ({}, [])
    assert not portable.is_open("1", 1)
    assert portable.listener_of(ends.server[1]) is None


def test_a_connection_of_this_machine_arrives_by_loopback(system, stack: ExitStack):
    listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    stack.enter_context(socket.create_connection(listening.getsockname()))
    assert system.arrived_by_loopback(stack.enter_context(listening.accept()[0]))


def test_a_start_is_the_text_that_the_hook_client_sends(child):
    assert started_at(child.pid) == HookProcess(child.pid).start
    assert is_alive(child.pid, HookProcess(child.pid).start)
    assert not is_alive(child.pid, "1")


def test_a_lineage_goes_up_to_the_first_process(child):
    line = lineage_of(child.pid)
    assert line is not None
    assert [one.pid for one in line[:2]] == [child.pid, os.getpid()]
    assert [one.pid for one in ancestors(child.pid)] == [one.pid for one in line]
    child.kill()
    child.wait()
    assert lineage_of(child.pid) is None


class MacSocket:
    """A Unix socket whose peer a Mac names, unless that has closed it."""

    def __init__(self, peer: int | None) -> None:
        self.peer = peer

    def getsockopt(self, level: int, option: int) -> int:
        assert (level, option) == (0, 2)
        if self.peer is None:
            raise OSError(errno.ENOTCONN, "Socket is not connected")
        return self.peer


def test_the_process_that_connected_to_a_socket_is_known():
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert linux.peer_of(ours) == os.getpid()
        assert portable.peer_of(ours) is None
    assert macos.peer_of(cast("Any", MacSocket(123))) == 123
    assert macos.peer_of(cast("Any", MacSocket(None))) == 0
