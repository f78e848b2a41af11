"""Claude Code's own list of its sessions: one small file per process.

It is undocumented, so it only corrects what hooks report, and a file that is unusual in any way is
ignored.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import read
from callboard.disk.private import is_own
from callboard.events.codec import load_json
from callboard.events.json_values import as_object
from callboard.vendors.claude.home import home
from callboard.vendors.fields import LONGEST_PATH, whole, word
from callboard.vendors.metadata import LARGEST_MOMENT, LARGEST_PID, process_start

STATUSES: Final = frozenset({"idle", "busy", "shell", "waiting"})

_PEER_PROTOCOL: Final = 1
_LARGEST_FILE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Registered:
    """What a client reports about itself.

    status: idle, busy, shell or waiting; None if it is unknown to us.
    changed_at: since when it has this status, in milliseconds.
    inbox: the socket where it takes messages; None if it speaks no protocol that we know.
    """

    session_id: str
    proc_start: str | None
    status: str | None
    changed_at: int
    inbox: str | None = None


def registered(pid: int, proc_start: str | None = None) -> Registered | None:
    """What this process reports about itself.

    proc_start: when it started, to ignore the file of an earlier process with the same id.
    """
    found = _read(home() / "sessions" / f"{pid}.json", pid)
    if found is None or None in (proc_start, found.proc_start):
        return found
    if _form(found.proc_start) != _form(proc_start):  # Claude Code may count in its own way.
        return found
    return found if found.proc_start == proc_start else None


def _form(start: str | None) -> str:
    return re.sub(r"[0-9]+", "0", start or "")


def _read(path: Path, pid: int) -> Registered | None:
    """The content of a file, if it is small, our user's own and not a link."""
    try:
        if not is_own(path.lstat()):
            return None
        told = as_object(load_json(read(path, _LARGEST_FILE)))
    except (OSError, ValueError):
        return None
    session_id, status = word(told.get("sessionId")), word(told.get("status"))
    if session_id is None or whole(told.get("pid"), LARGEST_PID) != pid:
        return None
    speaks = told.get("peerProtocol") == _PEER_PROTOCOL
    moments = (whole(told.get(key), LARGEST_MOMENT) for key in ("statusUpdatedAt", "updatedAt"))
    return Registered(
        session_id=session_id,
        proc_start=process_start(told.get("procStart")),
        status=status if status in STATUSES else None,
        changed_at=next((at for at in moments if at is not None), 0),
        inbox=word(told.get("messagingSocketPath"), LONGEST_PATH) if speaks else None,
    )
