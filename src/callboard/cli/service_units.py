"""What a supervisor reads: systemd's units, and launchd's property lists."""

import plistlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.parsers.expat import ExpatError

from callboard.cli.exit import WRONG_USE
from callboard.events.json_values import as_object
from callboard.relay.__main__ import BY_LAUNCHD, REVOKED
from callboard.server.activation import NAME

LABEL: Final = "callboard"
"""The name of the server's service."""
RELAY: Final = "callboard-relay"
"""The name of the relay's service."""

_OURS: Final = "# Made by `callboard service install`."
_OPEN_FILES: Final = 8192
"""As many as a server with a thousand readers needs; launchd's default is 256."""
_KEEPS_AGENTS: Final = "KillMode=process"
"""Agents that were started in the background outlive a restart."""
_LISTENS: Final = re.compile(r"^ListenStream=127\.0\.0\.1:([0-9]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ServiceCommand:
    """What the supervisor runs: a server behind a port of this machine, or a relay, without one."""

    name: str
    command: tuple[str, ...]
    log: Path
    port: int | None = None


def systemd_units(served: ServiceCommand) -> dict[str, str]:
    """The units by name. A socket is a separate unit, so it outlives every server."""
    service = f"{served.name}.service"
    if served.port is None:
        return {service: _unit_of_relay(served)}
    socket = f"{served.name}.socket"
    listening = f"""\
{_OURS}
[Unit]
Description=Callboard's address

[Socket]
ListenStream=127.0.0.1:{served.port}
Backlog=4096

[Install]
WantedBy=sockets.target
"""
    serving = f"""\
{_OURS}
[Unit]
Description=Callboard
Requires={socket}
After={socket}
StartLimitIntervalSec=0

[Service]
ExecStart={_line(served)}
{_KEEPS_AGENTS}
Restart=on-failure
RestartSec=1
UMask=0077

[Install]
WantedBy=default.target
"""
    return {socket: listening, service: serving}


def _unit_of_relay(served: ServiceCommand) -> str:
    """One that is refused is not started again: a person has to pair the machine."""
    return f"""\
{_OURS}
[Unit]
Description=Callboard's relay
StartLimitIntervalSec=0

[Service]
ExecStart={_line(served)}
{_KEEPS_AGENTS}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus={WRONG_USE} {REVOKED}
UMask=0077

[Install]
WantedBy=default.target
"""


def systemd_port(unit: str) -> int | None:
    """The port in a socket unit, if it is ours."""
    found = _LISTENS.search(unit)
    return int(found[1]) if found and unit.startswith(_OURS) else None


def launchd_agent(served: ServiceCommand, path: str) -> bytes:
    """The property list of the agent. path: where it looks for programs."""
    agent: dict[str, object] = {
        "Label": served.name,
        "ProgramArguments": list(served.command),
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
    if served.port is None:
        # Without it, launchd would start a relay again and again that the server refuses.
        agent["EnvironmentVariables"] = {"PATH": path, BY_LAUNCHD: "1"}
        agent["ThrottleInterval"] = 5
        return plistlib.dumps(agent)
    socket = {
        "SockNodeName": "127.0.0.1",
        "SockServiceName": str(served.port),
        "SockFamily": "IPv4",
        "SockType": "stream",
    }
    return plistlib.dumps({**agent, "Sockets": {NAME: socket}})


def launchd_port(agent: bytes) -> int | None:
    """The port in an agent's property list, if it is ours."""
    try:
        sockets = as_object(as_object(plistlib.loads(agent)).get("Sockets"))
        return int(str(as_object(sockets.get(NAME)).get("SockServiceName")))
    except (ValueError, ExpatError):
        return None


def _line(served: ServiceCommand) -> str:
    return " ".join(_word(word) for word in served.command)


def _word(text: str) -> str:
    """A command's word in systemd's syntax: quoted, with nothing expanded."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain.replace("%", "%%").replace("$", "$$")}"'
