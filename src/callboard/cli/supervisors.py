"""The supervisors that keep a server running, and own its socket, or a relay."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from callboard.cli.service_units import (
    LABEL,
    RELAY,
    ServiceCommand,
    launchd_agent,
    launchd_port,
    systemd_port,
    systemd_units,
)
from callboard.errors import SettingsUnusable

_PATIENCE: Final = 60
_REMOVED_WITHIN: Final = 15.0
_TRY_EVERY: Final = 0.25
_BUSY: Final = (5, 37)
"""How `launchctl` exits while an agent is still being removed: EIO, or EALREADY."""


class Systemd:
    """A person's systemd instance. name: that of the service."""

    title = "systemd"

    def __init__(self, name: str = LABEL) -> None:
        self._service = f"{name}.service"
        self._socket = f"{name}.socket"
        self._units = (self._service,) if name == RELAY else (self._socket, self._service)
        config = os.environ.get("XDG_CONFIG_HOME")
        base = Path(config) if config else Path.home() / ".config"
        self.folder = base / "systemd" / "user"

    def files(self, served: ServiceCommand) -> dict[Path, bytes]:
        """The units."""
        units = systemd_units(served)
        return {self.folder / name: text.encode() for name, text in units.items()}

    def paths(self) -> list[Path]:
        """Where the units are."""
        return [self.folder / name for name in self._units]

    @property
    def is_installed(self) -> bool:
        """Whether there is a service."""
        return (self.folder / self._service).is_file()

    def port(self) -> int | None:
        """The port of the socket unit, if it is ours."""
        try:
            return systemd_port((self.folder / self._socket).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def start(self) -> None:
        """Enable and restart the units, the socket first."""
        self._tell("daemon-reload")
        self._tell("enable", *self._units)
        for unit in self._units:
            self._tell("restart", unit)

    def stop(self) -> None:
        """Disable and stop the units."""
        self._tell("disable", "--now", *reversed(self._units))

    def forget(self) -> None:
        """Notice that the units are gone."""
        self._tell("daemon-reload")

    def state(self) -> str:
        """The state as reported by `systemctl is-active`."""
        return _run(["systemctl", "--user", "is-active", self._service]).stdout.strip() or "unknown"

    @property
    def log(self) -> str:
        """How to read what it writes."""
        return f"journalctl --user -u {self._service}"

    def check(self) -> None:
        """Check that this person has an instance."""
        done = _run(["systemctl", "--user", "show-environment"])
        if done.returncode != 0:
            raise SettingsUnusable(
                f"systemd user services are not available here ({_said(done)}). Log in again, or "
                "run as root: loginctl enable-linger USER. Or start "
                f"`callboard {'relay' if self._service.startswith(RELAY) else 'serve'}` yourself; "
                "hooks then use the spool and need no service."
            )

    def _tell(self, *words: str) -> None:
        done = _run(["systemctl", "--user", *words])
        if done.returncode != 0:
            raise SettingsUnusable(
                f"systemctl --user {' '.join(words)} failed: {_said(done)}. More: {self.log}"
            )


class Launchd:
    """The launchd of a logged-in person. name: the label of the agent."""

    title = "launchd"

    def __init__(self, name: str = LABEL) -> None:
        self.plist = Path.home() / "Library" / "LaunchAgents" / f"{name}.plist"
        self._domain = f"gui/{os.getuid()}"
        self._target = f"{self._domain}/{name}"

    def files(self, served: ServiceCommand) -> dict[Path, bytes]:
        """The agent."""
        path = os.environ.get("PATH") or os.defpath
        return {self.plist: launchd_agent(served, path)}

    def paths(self) -> list[Path]:
        """Where the agent is."""
        return [self.plist]

    @property
    def is_installed(self) -> bool:
        """Whether there is an agent."""
        return self.plist.is_file()

    @property
    def log(self) -> str:
        """How to find out more."""
        return "callboard doctor"

    def port(self) -> int | None:
        """The port of the agent."""
        try:
            return launchd_port(self.plist.read_bytes())
        except OSError:
            return None

    def start(self) -> None:
        """Load the agent, replacing an old one."""
        _run(["launchctl", "bootout", self._target])
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
        _run(["launchctl", "bootout", self._target])

    def forget(self) -> None:
        """Nothing to do."""

    def state(self) -> str:
        """Whether it is loaded."""
        done = _run(["launchctl", "print", self._target])
        return "active" if done.returncode == 0 else "inactive"

    def check(self) -> None:
        """Always available."""


def supervisor(name: str = LABEL) -> Systemd | Launchd:
    """This system's supervisor of a service."""
    return Launchd(name) if sys.platform == "darwin" else Systemd(name)


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
