"""The findings of `callboard doctor`, and its checks of the installation and the machine."""

import re
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, metadata, requires, version
from pathlib import Path
from typing import Final, Literal

from callboard.board.hosts import host_file, kept_id

Level = Literal["ok", "warn", "fail"]

MAIN_PACKAGES: Final = {
    "acp": "agent-client-protocol",
    "client": "httpx",
    "mcp": "mcp",
    "notify": "apprise",
    "oidc": "pyjwt",
    "otel": "opentelemetry-sdk",
    "postgres": "psycopg",
    "procrastinate": "procrastinate",
    "pydantic-ai": "pydantic-ai-slim",
    "server": "fastapi",
    "temporal": "temporalio",
    "tui": "textual",
}
"""The package that shows that an extra was installed; the others come with other extras, too."""
_ALL = "all"
_LITTLE = 1_000_000_000
_NEXT_TO_NOTHING = 50_000_000
_UNITS = ("B", "KB", "MB", "GB", "TB")
_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was checked, the result, and what to do about a problem."""

    check: str
    level: Level
    said: str
    todo: str | None = None

    def to_wire(self) -> dict[str, str | None]:
        """The finding as JSON."""
        return {"check": self.check, "status": self.level, "message": self.said, "todo": self.todo}


def installation() -> Iterator[Finding]:
    """Python, Callboard itself, and its extras."""
    found = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("python", "ok", f"{found}, SQLite {sqlite3.sqlite_version}")
    yield Finding("callboard", "ok", version("callboard"))
    for extra in metadata("callboard").get_all("Provides-Extra") or ():
        if extra == _ALL:
            continue  # Only the others are installed.
        yield _extra(extra, _required_by(extra, requires("callboard") or ()))


def _required_by(extra: str, requirements: Iterable[str]) -> list[str]:
    """The names of an extra's packages."""
    marked = [one for one in requirements if re.search(rf"extra == ['\"]{extra}['\"]", one)]
    # A package that isn't used on this system isn't missing on it.
    here = [one for one in marked if sys.platform != "win32" or "platform_system" not in one]
    return [re.split(r"[\s<>=!~;\[(]", one, maxsplit=1)[0] for one in here]


def _extra(extra: str, packages: list[str]) -> Finding:
    missing = [name for name in packages if not _is_installed(name)]
    name, command = f"extra {extra}", f"pip install 'callboard[{extra}]'"
    if not missing:
        return Finding(name, "ok", "installed")
    main = MAIN_PACKAGES.get(extra)
    if len(missing) == len(packages) or main in missing:
        return Finding(name, "ok", f"not installed; to install it: {command}")
    return Finding(name, "warn", f"half installed: {', '.join(missing)} is missing", command)


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def host() -> Iterator[Finding]:
    """Whether this machine's id can be read, if it has one; agents are listed under it."""
    file = host_file()
    if not file.exists():
        return
    try:
        kept_id(file)
    except OSError as error:
        yield Finding("host", "warn", f"this machine's id cannot be read: {error}", f"rm {file}")


def disk(folder: Path) -> Finding:
    """Whether there is room for more events."""
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    said = f"{amount(free)} free"
    if free < _NEXT_TO_NOTHING:
        return Finding("disk", "fail", said, f"Free some space on the disk of {folder}.")
    if free < _LITTLE:
        return Finding("disk", "warn", said, "Free some space, or prune: callboard prune --help")
    return Finding("disk", "ok", said)


def amount(size: float) -> str:
    """A number of bytes in readable units."""
    unit = 0
    while size >= _THOUSAND and unit < len(_UNITS) - 1:
        size, unit = size / _THOUSAND, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 or size >= 10 else f"{size:.1f} {_UNITS[unit]}"
