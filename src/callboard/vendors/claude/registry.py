"""Claude Code's own list of its sessions: one small file for each process.

Nobody documents it, so it only corrects what hooks tell: a file that is odd in any way is none.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from callboard.events.codec import load_json
from callboard.vendors.fields import LONGEST_PATH, as_object, text, whole, word

STATUSES: Final = frozenset({"idle", "busy", "shell", "waiting"})

_LARGEST_FILE: Final = 64 * 1024
_LARGEST_MOMENT: Final = 2**53
_LARGEST_PID: Final = 2**31 - 1
# Beside each file lies a key, which is none of our business.
_FILE: Final = re.compile(r"([1-9][0-9]{0,9})\.json")


@dataclass(frozen=True, slots=True)
class Registered:
    """What a client says of itself. Times are milliseconds.

    status: idle, busy, shell or waiting; None when it is one that we do not know.
    changed_at: since when it has this status.
    """

    pid: int
    session_id: str
    cwd: str | None
    proc_start: str | None
    status: str | None
    waiting_for: str | None
    name: str | None
    updated_at: int
    changed_at: int
    version: str | None


def folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where the files are."""
    given = (os.environ if environment is None else environment).get("CLAUDE_CONFIG_DIR")
    return (Path(given) if given else Path.home() / ".claude") / "sessions"


def registered(
    pid: int, proc_start: str | None = None, among: Path | None = None
) -> Registered | None:
    """What this process says of itself.

    proc_start: when it began; a file of another one that had the same number does not count.
    """
    found = _read((among or folder()) / f"{pid}.json", pid)
    if found is None or None in (proc_start, found.proc_start):
        return found
    return found if found.proc_start == proc_start else None


def all_registered(among: Path | None = None) -> list[Registered]:
    """What all clients say of themselves, those that were killed as well."""
    return list(_all(among or folder()))


def _all(among: Path) -> Iterator[Registered]:
    try:
        names = sorted(entry.name for entry in os.scandir(among))
    except OSError:
        return
    for name in names:
        match = _FILE.fullmatch(name)
        found = _read(among / name, int(match[1])) if match else None
        if found is not None:
            yield found


def _read(path: Path, pid: int) -> Registered | None:
    content = _own(path)
    if content is None:
        return None
    try:
        told = as_object(load_json(content))
    except ValueError:
        return None
    session_id = word(told.get("sessionId"))
    if session_id is None or whole(told.get("pid"), _LARGEST_PID) != pid:
        return None
    updated_at = _moment(told.get("updatedAt"))
    status = word(told.get("status"))
    return Registered(
        pid=pid,
        session_id=session_id,
        cwd=word(told.get("cwd"), LONGEST_PATH),
        proc_start=_proc_start(told.get("procStart")),
        status=status if status in STATUSES else None,
        waiting_for=text(told.get("waitingFor")),
        name=text(told.get("name")),
        updated_at=updated_at,
        changed_at=_moment(told.get("statusUpdatedAt")) or updated_at,
        version=word(told.get("version")),
    )


def _own(path: Path) -> bytes | None:
    """What stands in a file, if it is a small one of our own and no link to another."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as reading:
            content = reading.read(_LARGEST_FILE + 1) if _is_ours(os.fstat(file)) else None
    except OSError:
        return None
    return content if content is not None and len(content) <= _LARGEST_FILE else None


def _is_ours(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid()


def _moment(value: Any) -> int:
    return whole(value, _LARGEST_MOMENT) or 0


def _proc_start(value: Any) -> str | None:
    number = whole(value, _LARGEST_MOMENT)
    return str(number) if number is not None else word(value)
