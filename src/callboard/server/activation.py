"""A listening socket that someone else owns: systemd, launchd, or a supervisor like them.

While the server is away, the owner keeps the socket: who connects waits instead of being refused,
and is answered by the next server.
"""

import ctypes
import os
import socket
import sys
from collections.abc import MutableMapping, Sequence
from typing import Final

from callboard.errors import CallboardError

NAME: Final = "Listeners"
"""The name of the socket in our launchd agent."""

_FIRST = 3
"""The first descriptor that is handed over; sd_listen_fds(3) says so."""
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def inherited(environment: MutableMapping[str, str] = os.environ) -> socket.socket | None:
    """The socket that we were started with; None when we have to make one ourselves.

    What says so is taken out of the environment: it is not meant for our children.
    """
    handed = _from_systemd(environment)
    if not handed and sys.platform == "darwin":
        handed = _launch_activate_socket(NAME)
    if not handed:
        return None
    found = [_socket(number) for number in handed]
    listening = [one for one in found if one is not None]
    if len(listening) != 1:
        raise CallboardError(
            f"{len(handed)} sockets were handed over, and {len(listening)} of them listen for "
            "HTTP. Hand over one: ListenStream=127.0.0.1:2255"
        )
    return listening[0]


def _from_systemd(environment: MutableMapping[str, str]) -> Sequence[int]:
    owner, count = environment.get("LISTEN_PID", ""), environment.get("LISTEN_FDS", "")
    if owner != str(os.getpid()) or not count.isdecimal():
        return ()
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        environment.pop(name, None)
    return range(_FIRST, _FIRST + int(count))


def _launch_activate_socket(name: str) -> Sequence[int]:
    """What launchd gives us under a name; nothing when it did not start us."""
    try:
        activate = ctypes.CDLL(None).launch_activate_socket
    except AttributeError:
        return ()
    numbers = ctypes.POINTER(ctypes.c_int)()
    count = ctypes.c_size_t()
    if activate(name.encode(), ctypes.byref(numbers), ctypes.byref(count)) != 0:
        return ()
    found = [numbers[index] for index in range(count.value)]
    ctypes.CDLL(None).free(numbers)
    return found


def _socket(number: int) -> socket.socket | None:
    """The descriptor as a socket, if it is one that listens for connections over IP."""
    try:
        found = socket.socket(fileno=number)
    except OSError:
        return None
    accepts = getattr(socket, "SO_ACCEPTCONN", None)
    listens = accepts is None or found.getsockopt(socket.SOL_SOCKET, accepts) != 0
    if found.family not in _FAMILIES or found.type != socket.SOCK_STREAM or not listens:
        found.close()
        return None
    os.set_inheritable(number, False)
    found.setblocking(False)
    return found
