"""A listening socket owned by systemd, launchd or a similar supervisor.

While the server is down, the supervisor keeps the socket open, so clients wait for the next server
instead of being refused.
"""

import os
import socket
import sys
from collections.abc import MutableMapping, Sequence
from typing import Final

from callboard.errors import CallboardError

NAME: Final = "Listeners"
"""The name of the socket in our launchd agent."""

_FIRST = 3
"""The first descriptor that is passed; see sd_listen_fds(3)."""
_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def inherited(environment: MutableMapping[str, str] = os.environ) -> socket.socket | None:
    """The socket that the process was started with; None if it has to open one itself.

    Removes the variables from the environment, because they aren't meant for child processes.
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
    """The descriptors that launchd passes under a name; none if it didn't start this process."""
    import ctypes  # Only on macOS.

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
    """The descriptor as a socket, if it is one that listens on IP."""
    try:
        found = socket.socket(fileno=number)
    except OSError:
        return None
    if found.family not in _FAMILIES or found.type != socket.SOCK_STREAM or not _listens(found):
        found.close()
        return None
    os.set_inheritable(number, False)
    found.setblocking(False)
    return found


def _listens(found: socket.socket) -> bool:
    """Whether a socket listens; macOS has the name of this option, but doesn't know it."""
    accepts = getattr(socket, "SO_ACCEPTCONN", None)
    try:
        return accepts is None or found.getsockopt(socket.SOL_SOCKET, accepts) != 0
    except OSError:
        return True
