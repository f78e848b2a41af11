"""What a supervisor needs to know of us: the units of systemd, the agent of launchd."""

import plistlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from xml.parsers.expat import ExpatError

from callboard.server.activation import NAME

SERVICE: Final = "callboard.service"
SOCKET: Final = "callboard.socket"
LABEL: Final = "callboard"
"""The name of the launchd agent."""

_OURS: Final = "# Made by `callboard service install`."
_LISTENS: Final = re.compile(r"^ListenStream=127\.0\.0\.1:([0-9]+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Served:
    """What the supervisor runs: a command, behind a port of this machine."""

    command: tuple[str, ...]
    port: int
    log: Path


def systemd_units(served: Served) -> dict[str, str]:
    """The units by their names. The socket is one of its own, so it outlives every server."""
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


def systemd_port(socket_unit: str) -> int | None:
    """The port in a socket unit that is ours."""
    found = _LISTENS.search(socket_unit)
    return int(found[1]) if found and socket_unit.startswith(_OURS) else None


def launchd_agent(served: Served) -> bytes:
    """The property list of the agent."""
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
            "StandardErrorPath": str(served.log),
        }
    )


def launchd_port(agent: bytes) -> int | None:
    """The port in an agent's property list that is ours."""
    try:
        told = cast("dict[str, Any]", plistlib.loads(agent))
        return int(told["Sockets"][NAME]["SockServiceName"])
    except (ValueError, KeyError, TypeError, ExpatError):
        return None


def _word(text: str) -> str:
    """A word of a command as systemd takes it: quoted, with nothing expanded."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain.replace("%", "%%").replace("$", "$$")}"'
