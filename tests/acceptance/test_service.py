"""`callboard service`, and a server whose socket belongs to somebody else."""

import contextlib
import ctypes
import errno
import json
import os
import plistlib
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Iterator
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.acceptance.cli_process import CallboardCommand

from callboard.cli.service_units import ServiceCommand, launchd_agent, launchd_port, systemd_units
from callboard.cli.supervisors import Launchd
from callboard.errors import CallboardError
from callboard.relay import __main__ as relay_process
from callboard.relay import running
from callboard.relay.__main__ import BY_LAUNCHD
from callboard.relay.settings import RelaySettings, write_settings
from callboard.relay.uplink import RelayRefused
from callboard.server import activation

# Stands in for systemd: says what it was told, and remembers what is active.
SYSTEMCTL = """#!/bin/sh
echo "$*" >> "$HOME/told"
case "$*" in
  *show-environment*) [ ! -e "$HOME/no-bus" ] || { echo 'Failed to connect to bus' >&2; exit 1; } ;;
  *"restart callboard.socket"*) [ ! -e "$HOME/fails" ] || { echo 'Address in use' >&2; exit 1; } ;;
  *"restart callboard.service"*) touch "$HOME/active" ;;
  *disable*) rm -f "$HOME/active" ;;
  *is-active*) [ -e "$HOME/active" ] && echo active || { echo inactive; exit 3; } ;;
esac
"""


@pytest.fixture
def callboard(tmp_path) -> CallboardCommand:
    command = CallboardCommand(tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "systemctl").write_text(SYSTEMCTL, encoding="utf-8")
    (programs / "systemctl").chmod(0o755)
    command.env["PATH"] = f"{programs}:{command.env['PATH']}"
    return command


@pytest.fixture
def units(callboard) -> Path:
    return callboard.folder / ".config" / "systemd" / "user"


def told(callboard: CallboardCommand) -> list[str]:
    file = callboard.folder / "told"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [line.removeprefix("--user ") for line in lines]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# ---------------------------------------------------------------------- units


def test_a_service_is_installed_once_and_goes_without_a_trace(callboard, units):
    port = str(free_port())
    first = callboard.here("service", "install", "--port", port, "--json").json[0]
    assert first["installed"]
    assert first["changed"]
    assert {one.name for one in units.iterdir()} == {"callboard.service", "callboard.socket"}
    assert f"ListenStream=127.0.0.1:{port}\n" in (units / "callboard.socket").read_text("utf-8")
    service = (units / "callboard.service").read_text("utf-8")
    assert "Restart=on-failure" in service
    assert "KillMode=process" in service
    assert f'"serve" "--db" "{callboard.folder / "t.db"}"' in service
    assert [one for one in told(callboard) if "restart" in one] == [
        "restart callboard.socket",
        "restart callboard.service",
    ]

    again = callboard.here("service", "install", "--port", port, "--json").json[0]
    assert not again["changed"]
    assert len([one for one in told(callboard) if "restart" in one]) == 2

    callboard.here("service", "uninstall")
    assert list(units.iterdir()) == []
    assert told(callboard)[-2:] == [
        "disable --now callboard.service callboard.socket",
        "daemon-reload",
    ]
    assert "No service was installed." in callboard.here("service", "uninstall").out


def test_the_units_are_what_systemd_takes(callboard, units, tmp_path):
    odd = 'a folder with "quotes", 100% and $HOME'
    (tmp_path / odd).mkdir()
    shutil.copy(callboard.flows, tmp_path / odd / "flows.py")
    callboard.env["CALLBOARD_DB"] = str(tmp_path / odd / "x.db")
    callboard.here("service", "install", f"{odd}/flows.py:trip", "--port", str(free_port()))
    service = (units / "callboard.service").read_text("utf-8")
    assert r"with \"quotes\", 100%% and $$HOME/flows.py:trip" in service
    analyze = shutil.which("systemd-analyze")
    if analyze is None:  # Not on this system; what it would say is known of these lines.
        assert '\n[Service]\nExecStart="' in service
        assert "\n[Install]\nWantedBy=default.target\n" in service
        return
    env = {**callboard.env, "XDG_RUNTIME_DIR": str(tmp_path)}
    files = [str(units / name) for name in ("callboard.service", "callboard.socket")]
    done = subprocess.run(
        [analyze, "--user", "verify", *files], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_where_systemd_runs_nothing_it_says_what_to_do_instead(callboard, units):
    (callboard.folder / "no-bus").touch()
    done = callboard.here("service", "install", code=1)
    assert "Failed to connect to bus" in done.err
    assert "callboard serve" in done.err
    assert not units.exists()
    callboard.env["PATH"] = "/nowhere"
    assert "there is no systemctl" in callboard.here("service", "install", code=1).err


def test_what_systemd_refuses_is_told(callboard):
    (callboard.folder / "fails").touch()
    done = callboard.here("service", "install", "--port", str(free_port()), code=1)
    assert "Address in use" in done.err


def test_a_port_that_is_taken_is_told_before_anything_is_written(callboard, units):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = callboard.here("service", "install", "--port", port, code=2)
    assert f"Port {port} is in use" in done.err
    assert not units.exists()


def test_status_asks_the_supervisor_and_the_server(callboard):
    assert "No service is installed" in callboard.here("service", "status").out
    port = str(free_port())
    callboard.here("service", "install", "--port", port)
    status = callboard.here("service", "status", "--json", code=1).json[0]
    assert (status["state"], status["answers"]) == ("active", False)
    assert "is not responding" in callboard.here("service", "status", code=1).out


def test_wrong_use_is_told(callboard):
    assert "takes no files" in callboard.here("service", "status", "flows.py", code=2).err
    assert "no file" in callboard.here("service", "install", "absent.py", code=2).err


def test_hooks_over_http_keep_the_service(callboard, units):
    (callboard.folder / ".claude").mkdir()
    callboard.here("service", "install", "--port", str(free_port()))
    callboard.here("hooks", "install", "--agent", "claude")
    done = callboard.here("service", "uninstall", code=2)
    assert "Claude Code calls the service" in done.err
    assert "hooks install --transport spool" in done.err
    callboard.here("hooks", "install", "--agent", "claude", "--transport", "spool")
    callboard.here("service", "uninstall")


# ---------------------------------------------------------------------- the relay


@pytest.fixture
def paired(callboard) -> Path:
    """The folder of a relay whose machine is paired with a server."""
    folder = Path(callboard.env["XDG_DATA_HOME"]) / "callboard" / "relay"
    folder.mkdir(mode=0o700, parents=True)
    settings = RelaySettings("https://board.example.com", "cb_t", "host1234", "mac")
    write_settings(folder, settings)
    return folder


def test_the_relay_is_a_service_without_a_socket(callboard, units, paired):
    first = callboard.here("service", "install", "--relay", "--json").json[0]
    assert first["installed"]
    assert first["changed"]
    assert first["server"] == "https://board.example.com"
    assert [one.name for one in units.iterdir()] == ["callboard-relay.service"]
    service = (units / "callboard-relay.service").read_text("utf-8")
    assert '"-m" "callboard" "relay"\n' in service
    assert "RestartPreventExitStatus=2 4\n" in service
    assert "KillMode=process\n" in service
    assert "Requires=" not in service
    assert "restart callboard-relay.service" in told(callboard)
    assert not callboard.here("service", "install", "--relay", "--json").json[0]["changed"]
    assert "board.example.com" in callboard.here("service", "status", "--relay", code=1).out

    callboard.here("service", "uninstall", "--relay")
    assert list(units.iterdir()) == []
    assert told(callboard)[-2:] == ["disable --now callboard-relay.service", "daemon-reload"]
    assert "No service" in callboard.here("service", "status", "--relay").out


def test_the_server_and_the_relay_can_both_be_services(callboard, units, paired):
    callboard.here("service", "install", "--port", str(free_port()))
    callboard.here("service", "install", "--relay")
    assert len(list(units.iterdir())) == 3
    callboard.here("service", "uninstall", "--relay")
    assert {one.name for one in units.iterdir()} == {"callboard.service", "callboard.socket"}
    callboard.here("service", "install", "--relay")
    callboard.here("service", "uninstall")
    assert [one.name for one in units.iterdir()] == ["callboard-relay.service"]


def test_only_a_paired_machine_has_the_relay_as_a_service(callboard, units):
    assert "callboard pair" in callboard.here("service", "install", "--relay", code=2).err
    assert not units.exists()


def test_a_relay_has_no_workflows_and_no_port(callboard, paired):
    done = callboard.here("service", "install", "--relay", "flows.py", code=2)
    assert "--relay takes no files" in done.err
    done = callboard.here("service", "install", "--relay", "--port", "4711", code=2)
    assert "--port is not for a relay" in done.err


def test_the_relay_s_agent_of_launchd_is_another_one(tmp_path):
    relay = ServiceCommand("callboard-relay", ("/bin/python",), tmp_path / "relay.log")
    read: dict[str, Any] = plistlib.loads(launchd_agent(relay, "/usr/bin:/bin"))
    assert read["Label"] == "callboard-relay"
    assert "Sockets" not in read
    assert read["StandardErrorPath"] == str(tmp_path / "relay.log")
    # Launchd restarts it whatever its exit code is, unless that is 0.
    assert read["EnvironmentVariables"][BY_LAUNCHD] == "1"
    assert Launchd(relay.name).plist != Launchd("callboard").plist


@pytest.mark.parametrize(("by_launchd", "code"), [("", 4), ("1", 0)])
def test_a_relay_that_is_refused_is_not_started_again(
    paired, monkeypatch, capsys, by_launchd: str, code: int
):
    def refuse(folder: Path, version: str) -> None:
        raise RelayRefused("revoked")

    monkeypatch.setattr(running, "run_relay", refuse)
    monkeypatch.setenv(BY_LAUNCHD, by_launchd)
    assert relay_process.main(str(paired), "1") == code
    assert "Pair it again" in capsys.readouterr().err


def test_the_agent_of_launchd_has_the_socket(tmp_path):
    agent = launchd_agent(
        ServiceCommand("callboard", ("/bin/python", "-m", "callboard"), tmp_path / "l", 4711),
        "/usr/bin:/bin",
    )
    read: dict[str, Any] = plistlib.loads(agent)
    assert read["Sockets"][activation.NAME]["SockServiceName"] == "4711"
    assert read["KeepAlive"] == {"SuccessfulExit": False}
    assert launchd_port(agent) == 4711
    assert launchd_port(b"<plist>") is None
    assert set(systemd_units(ServiceCommand("callboard", ("x",), tmp_path, 1))) == {
        "callboard.service",
        "callboard.socket",
    }


# ---------------------------------------------------------------------- the socket

HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.set_inheritable(3, True)
os.environ["LISTEN_FDS"], os.environ["LISTEN_PID"] = "1", str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def owned() -> Iterator[socket.socket]:
    """A socket that listens, as a supervisor has it."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        yield listening


@contextlib.contextmanager
def started(
    callboard: CallboardCommand, owned: socket.socket, *more: str
) -> "Generator[subprocess.Popen[str]]":
    words = ["-m", "callboard", "serve", "--json", *more]
    server = subprocess.Popen(
        [sys.executable, "-c", HAND_OVER, str(owned.fileno()), sys.executable, *words],
        cwd=callboard.folder,
        env=callboard.env,
        pass_fds=[owned.fileno()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield server
    finally:
        server.kill()
        server.communicate()


def ready(server: "subprocess.Popen[str]") -> dict[str, Any]:
    assert server.stdout is not None
    line = server.stdout.readline()
    assert line, server.communicate()
    return json.loads(line)


def asking(port: int) -> "contextlib.closing[HTTPConnection]":
    """A request that is on its way."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/health")
    return contextlib.closing(connection)


def answered(port: int) -> int:
    with asking(port) as connection:
        return connection.getresponse().status


def test_a_server_listens_at_the_socket_that_it_is_given(callboard, owned):
    port = owned.getsockname()[1]
    with started(callboard, owned, "--port", "1") as server:
        told = ready(server)
        assert told == {"url": f"http://127.0.0.1:{port}", "port": port, "workflows": []}
        assert answered(port) == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    owned.getsockname()  # It is still there: the server had its own copy.
    with socket.create_connection(("127.0.0.1", port)):
        pass


def test_who_asks_while_the_server_is_dead_is_answered_by_the_next(callboard, owned):
    port = owned.getsockname()[1]
    with started(callboard, owned) as first:
        ready(first)
        assert answered(port) == 200
        first.kill()
        first.wait(30)
    with contextlib.ExitStack() as stack:
        waiting = [stack.enter_context(asking(port)) for _ in range(20)]
        ready(stack.enter_context(started(callboard, owned)))
        assert [one.getresponse().status for one in waiting] == [200] * 20


def test_a_socket_beyond_this_machine_has_to_be_meant(callboard):
    with socket.socket() as everywhere:
        everywhere.bind(("0.0.0.0", 0))
        everywhere.listen()
        with started(callboard, everywhere) as server:
            _, err = server.communicate(timeout=120)
            assert server.returncode == 2
            assert "--allow-remote" in err


def test_what_is_handed_over_to_somebody_else_is_left_alone():
    environment = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid() + 1)}
    assert activation.inherited(environment) is None
    assert environment["LISTEN_FDS"] == "1"
    assert activation.inherited({}) is None


def test_what_is_no_listening_socket_is_told(callboard, tmp_path):
    with (tmp_path / "file").open("wb") as file:
        owned: Any = file
        with started(callboard, owned) as server:
            _, err = server.communicate(timeout=120)
            assert server.returncode == 2
            assert "sockets were handed over" in err


def test_launchd_hands_over_by_name(owned, monkeypatch):
    asked: list[str] = []

    def activate(name: str) -> list[int]:
        asked.append(name)
        return [os.dup(owned.fileno())]

    monkeypatch.setattr(activation.sys, "platform", "darwin")
    monkeypatch.setattr(activation, "_launch_activate_socket", activate)
    found = activation.inherited({})
    assert found is not None
    with found:
        assert found.getsockname() == owned.getsockname()
    assert asked == [activation.NAME]
    pipe = os.pipe()
    monkeypatch.setattr(activation, "_launch_activate_socket", lambda name: pipe)
    with pytest.raises(CallboardError, match="2 sockets"):
        activation.inherited({})
    for end in pipe:
        os.close(end)


def test_what_launchd_hands_over_is_read_from_its_library(owned, monkeypatch):
    """A library with the functions' exact signatures, and memory that is freed once."""
    keep: list[Any] = []
    freed: list[int | None] = []

    @ctypes.CFUNCTYPE(
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.POINTER(ctypes.POINTER(ctypes.c_int)),
        ctypes.POINTER(ctypes.c_size_t),
    )
    def activate(name: bytes, numbers: Any, count: Any) -> int:
        if name != activation.NAME.encode():
            return errno.ENOENT
        keep.append((ctypes.c_int * 2)(os.dup(owned.fileno()), os.dup(owned.fileno())))
        numbers[0] = ctypes.cast(keep[0], ctypes.POINTER(ctypes.c_int))
        count[0] = 2
        return 0

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def free(memory: int | None) -> None:
        freed.append(memory)

    library = SimpleNamespace(launch_activate_socket=activate, free=free)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    found = activation._launch_activate_socket(activation.NAME)
    for number in found:
        with socket.socket(fileno=number) as one:
            assert one.getsockname() == owned.getsockname()
    assert len(found) == 2
    assert freed == [ctypes.addressof(keep[0])]
    assert activation._launch_activate_socket("other") == ()
    assert len(freed) == 1
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    assert activation._launch_activate_socket(activation.NAME) == ()
