"""Claude Code's own list of its sessions: one small file for each process.

No one documents it, so it only corrects what hooks tell: a file that is odd in any way is not one.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.disk.files import read
from callboard.events.codec import load_json
from callboard.events.json_values import as_object
from callboard.vendors.claude.settings import home
from callboard.vendors.fields import whole, word
from callboard.vendors.metadata import LARGEST_MOMENT, LARGEST_PID, process_start

STATUSES: Final = frozenset({"idle", "busy", "shell", "waiting"})

_LARGEST_FILE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Registered:
    """What a client says of itself.

    status: idle, busy, shell or waiting; None when it is one that we do not know.
    changed_at: since when it has this status, in milliseconds.
    """

    session_id: str
    proc_start: str | None
    status: str | None
    changed_at: int


def registered(pid: int, proc_start: str | None = None) -> Registered | None:
    """What this process says of itself.

    proc_start: when it started; a file of another one that had the same number does not count.
    """
    found = _read(home() / "sessions" / f"{pid}.json", pid)
    if found is None or None in (proc_start, found.proc_start):
        return found
    return found if found.proc_start == proc_start else None


def _read(path: Path, pid: int) -> Registered | None:
    """What stands in a file, if it is a small one of our own and no link to another."""
    try:
        if path.lstat().st_uid != os.getuid():
            return None
        told = as_object(load_json(read(path, _LARGEST_FILE)))
    except (OSError, ValueError):
        return None
    session_id, status = word(told.get("sessionId")), word(told.get("status"))
    if session_id is None or whole(told.get("pid"), LARGEST_PID) != pid:
        return None
    moments = (whole(told.get(key), LARGEST_MOMENT) for key in ("statusUpdatedAt", "updatedAt"))
    return Registered(
        session_id=session_id,
        proc_start=process_start(told.get("procStart")),
        status=status if status in STATUSES else None,
        changed_at=next((at for at in moments if at is not None), 0),
    )
