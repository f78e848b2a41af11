"""Who is at the other end of a connection on this machine, where the system tells.

An agent runs as the same user as its person. So that it cannot allow itself what it asks for, an
answer that comes from one of its own processes is refused. That is a fence, not a wall: a process
that has cut itself loose from its parents gets past it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from callboard.board.processes import ancestors

_TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
_ESTABLISHED: Final = "01"


def comes_from(client: tuple[str, int] | None, server_port: int, pid: int) -> bool:
    """Whether the sender of a request is this process or a descendant of it."""
    sender = sender_of(client, server_port)
    return sender is not None and pid in ancestors(sender)


def sender_of(client: tuple[str, int] | None, server_port: int) -> int | None:
    """The process that sent a request; None when that cannot be told."""
    if client is None or sys.platform != "linux":
        return None
    inode = _socket_of(client[1], server_port)
    return None if inode is None else _owner_of(inode)


def _socket_of(port: int, server_port: int) -> str | None:
    """The socket that was connected from one port of this machine to another."""
    for table in _TABLES:
        for line in _lines(table):
            fields = line.split()
            ports = tuple(int(one.rsplit(":", 1)[1], 16) for one in fields[1:3])
            if ports == (port, server_port) and fields[3] == _ESTABLISHED:
                return fields[9]
    return None


def _lines(table: str) -> Iterator[str]:
    try:
        text = Path(table).read_text(encoding="ascii")
    except OSError:
        return
    yield from text.splitlines()[1:]


def _owner_of(inode: str) -> int | None:
    sought = f"socket:[{inode}]"
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and _has(process / "fd", sought):
            return int(process.name)
    return None


def _has(files: Path, sought: str) -> bool:
    try:
        return any(str(file.readlink()) == sought for file in files.iterdir())
    except OSError:  # Of another user, or gone.
        return False
