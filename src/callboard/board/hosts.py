"""The host that clients run on. Its id is random and permanent; its name may change."""

import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from callboard.disk.files import add, read
from callboard.disk.private import make_private_folder
from callboard.ids import short_id
from callboard.systems.current import system
from callboard.systems.processes import is_alive

_ID: Final = re.compile(r"[0-9a-z]{8,64}")
_LARGEST: Final = 1024
_LENGTH: Final = 16


@dataclass(frozen=True, slots=True)
class Host:
    """A machine, or a container that has its own user data folder.

    id: "" if none could be stored: then it stands for the host that the database is on.
    boot_id: identifies this boot of its system; "" if process start times already do.
    """

    id: str = ""
    name: str = ""
    boot_id: str = ""

    def runs(self, pid: int, start: str | None, boot_id: str) -> bool:
        """Whether a process of this host is alive, and was started in this boot of its system."""
        if boot_id and self.boot_id and boot_id != self.boot_id:
            return False
        return is_alive(pid, start)


@lru_cache(maxsize=1)
def local_host() -> Host:
    """The host that this process runs on."""
    try:
        id = kept_id(host_file())
    except OSError:  # The home folder isn't writable: plates do without.
        id = ""
    return Host(id, socket.gethostname(), system.boot_id())


def host_file() -> Path:
    """Where this host's id is stored."""
    from platformdirs import user_data_path  # Imported late: most callers don't need it.

    return user_data_path("callboard", appauthor=False) / "host"


def kept_id(file: Path) -> str:
    """The id in this file, which is created if it doesn't exist; OSError if that fails."""
    if not file.exists():
        make_private_folder(file.parent)
        # Another process may create it at the same time: the first one counts.
        with suppress(FileExistsError):
            add(file, f"{short_id(_LENGTH)}\n".encode())
    found = read(file, _LARGEST).decode("ascii", "replace").strip()
    if not _ID.fullmatch(found):
        raise OSError(f"{file} contains no host id. Delete it to create a new one.")
    return found
