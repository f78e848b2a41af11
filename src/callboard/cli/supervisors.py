"""The supervisors that keep a server running and own its listening socket."""

import os
import plistlib
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.parsers.expat import ExpatError

from callboard.errors import SettingsUnusable
from callboard.events.json_values import as_object
from callboard.server.activation import NAME

SERVICE: Final = "callboard.service"
SOCKET: Final = "callboard.socket"
LABEL: Final = "callboard"
"""The name of the launchd agent."""

_OURS: Final = "# Made by `callboard service install`."
_PATIENCE: Final = 60
_REMOVED_WITHIN: Final = 15.0
_TRY_EVERY: Final = 0.25
_BUSY: Final = (5, 37)
"""How `launchctl` exits while an agent is still being removed: EIO, or EALREADY."""
_OPEN_FILES: Final = 8192
"""As many as a server with a thousand readers needs; launchd's default is 256."""
_LISTENS: Final = re.compile(r"^ListenStream=127\.0\.0\.1:([0-9]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ServiceCommand:
    """What the supervisor runs: a command behind a port of this machine."""

    command: tuple[str, ...]
    port: int
    log: Path


class Systemd:
    """A person's systemd instance."""

    title = "systemd"

    def __init__(self) -> None:
        config = os.environ.get("XDG_CONFIG_HOME")
        base = Path(config) if config else Path.home() / ".config"
        self.folder = base / "systemd" / "user"

    def files(self, served: ServiceCommand) -> dict[Path, bytes]:
        """The units."""
        units = systemd_units(served)
        return {self.folder / name: text.encode() for name, text in units.items()}

    def port(self) -> int | None:
        """The port of the socket unit, if it is ours."""
        try:
            unit = (self.folder / SOCKET).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None
        found = _LISTENS.search(unit)
        return int(found[1]) if found and unit.startswith(_OURS) else None

    def start(self) -> None:
        """Enable and restart both units."""
        self._tell("daemon-reload")
        self._tell("enable", SOCKET, SERVICE)
        self._tell("restart", SOCKET)
        self._tell("restart", SERVICE)

    def stop(self) -> None:
        """Disable and stop both units."""
        self._tell("disable", "--now", SERVICE, SOCKET)

    def forget(self) -> None:
        """Notice that the units are gone."""
        self._tell("daemon-reload")

    def state(self) -> str:
        """The state as reported by `systemctl is-active`."""
        return _run(["systemctl", "--user", "is-active", SERVICE]).stdout.strip() or "unknown"

    def check(self) -> None:
        """Check that this person has an instance."""
        done = _run(["systemctl", "--user", "show-environment"])
        if done.returncode != 0:
            raise SettingsUnusable(
                f"systemd user services are not available here ({_said(done)}). Log in again, or "
                "run as root: loginctl enable-linger USER. Or start `callboard serve` yourself; "
                "hooks then use the spool and need no service."
            )

    def _tell(self, *words: str) -> None:
        done = _run(["systemctl", "--user", *words])
        if done.returncode != 0:
            raise SettingsUnusable(
                f"systemctl --user {' '.join(words)} failed: {_said(done)}. More: "
                f"journalctl --user -u {SERVICE}"
            )


class Launchd:
    """The launchd of a logged-in person."""

    title = "launchd"

    def __init__(self) -> None:
        self.plist = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._domain = f"gui/{os.getuid()}"

    def files(self, served: ServiceCommand) -> dict[Path, bytes]:
        """The agent."""
        path = os.environ.get("PATH") or os.defpath
        return {self.plist: launchd_agent(served, path)}

    def port(self) -> int | None:
        """The port of the agent."""
        try:
            return launchd_port(self.plist.read_bytes())
        except OSError:
            return None

    def start(self) -> None:
        """Load the agent, replacing an old one."""
        _run(["launchctl", "bootout", f"{self._domain}/{LABEL}"])
        # While the old one is being removed, this fails with an input/output error.
        until = time.monotonic() + _REMOVED_WITHIN
        while (done := self._bootstrap()).returncode != 0:
            if done.returncode not in _BUSY or time.monotonic() >= until:
                raise SettingsUnusable(f"launchctl bootstrap failed: {_said(done)}.")
            time.sleep(_TRY_EVERY)

    def _bootstrap(self) -> "subprocess.CompletedProcess[str]":
        return _run(["launchctl", "bootstrap", self._domain, str(self.plist)])

    def stop(self) -> None:
        """Unload the agent; one that isn't loaded isn't an error."""
        _run(["launchctl", "bootout", f"{self._domain}/{LABEL}"])

    def forget(self) -> None:
        """Nothing to do."""

    def state(self) -> str:
        """Whether it is loaded."""
        done = _run(["launchctl", "print", f"{self._domain}/{LABEL}"])
        return "active" if done.returncode == 0 else "inactive"

    def check(self) -> None:
        """Always available."""


def supervisor() -> Systemd | Launchd:
    """This system's supervisor."""
    return Launchd() if sys.platform == "darwin" else Systemd()


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(command, 127, "", f"there is no {command[0]}")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"{command[0]} is not responding")


def _said(done: "subprocess.CompletedProcess[str]") -> str:
    return " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"


def systemd_units(served: ServiceCommand) -> dict[str, str]:
    """The units by name. The socket is a separate unit, so it outlives every server."""
    run = " ".join(_word(word) for word in served.command)
    socket = f"""\
{_OURS}
[Unit]
Description=Callboard's address

[Socket]
ListenStream=127.0.0.1:{served.port}
Backlog=4096

[Install]
WantedBy=sockets.target
"""
    service = f"""\
{_OURS}
[Unit]
Description=Callboard
Requires={SOCKET}
After={SOCKET}
StartLimitIntervalSec=0

[Service]
ExecStart={run}
Restart=on-failure
RestartSec=1
UMask=0077

[Install]
WantedBy=default.target
"""
    return {SOCKET: socket, SERVICE: service}


def launchd_agent(served: ServiceCommand, path: str) -> bytes:
    """The property list of the agent. path: where it looks for programs."""
    socket = {
        "SockNodeName": "127.0.0.1",
        "SockServiceName": str(served.port),
        "SockFamily": "IPv4",
        "SockType": "stream",
    }
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": list(served.command),
            "Sockets": {NAME: socket},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 1,
            "Umask": 0o077,
            # A program that is started there finds only what comes with macOS: no `claude`.
            "EnvironmentVariables": {"PATH": path},
            "SoftResourceLimits": {"NumberOfFiles": _OPEN_FILES},
            # Anything else is slowed down as work that no one waits for.
            "ProcessType": "Interactive",
            "StandardErrorPath": str(served.log),
        }
    )


def launchd_port(agent: bytes) -> int | None:
    """The port in an agent's property list, if it is ours."""
    try:
        sockets = as_object(as_object(plistlib.loads(agent)).get("Sockets"))
        return int(str(as_object(sockets.get(NAME)).get("SockServiceName")))
    except (ValueError, ExpatError):
        return None


def _word(text: str) -> str:
    """A command's word in systemd's syntax: quoted, with nothing expanded."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain.replace("%", "%%").replace("$", "$$")}"'
