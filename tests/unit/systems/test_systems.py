"""What every system has to provide, on the one that we run on."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from callboard.courier.processes import Process as HookProcess
from callboard.systems import linux, portable
from callboard.systems.processes import ancestors, is_alive, lineage_of, started_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="compares Linux with the others")

SYSTEMS = [pytest.param(one, id=one.__name__.rpartition(".")[2]) for one in (linux, portable)]


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


def test_both_modules_have_the_same_interface():
    def public(module: ModuleType) -> set[str]:
        own = {
            n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__
        }
        return {name for name in own if not name.startswith("_")} | {"Process", "SHOWS_CLIENTS"}

    assert public(linux) == public(portable) - {"PortableProcess"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_process_has_a_start_a_parent_and_a_user(system, child):
    found = system.Process(child.pid)
    assert found.start
    assert found.start == system.Process(child.pid).start
    assert found.parent == os.getpid()
    assert found.lives
    assert system.user_of(child.pid) == os.geteuid()
    assert child.pid in system.pids()
    assert b"MARKED=1" in system.environment(child.pid)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_process_that_ended_is_gone_before_its_parent_has_looked(system, child):
    found = system.Process(child.pid)
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not found.lives
    assert system.Process(child.pid).start == ""
    child.wait()
    assert system.user_of(child.pid) is None
    assert system.environment(child.pid) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_only_the_process_that_is_meant_is_killed(system, child):
    assert not system.kill(child.pid, lambda: False)
    assert child.poll() is None
    assert system.kill(child.pid, lambda: True)
    assert child.wait() == -signal.SIGKILL


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
