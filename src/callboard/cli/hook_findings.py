"""How the hooks of coding agents are: what is installed where, and what came of it."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import which
from typing import Any, Final, Literal, cast

from callboard.board.places import (
    connection_file,
    full_marker,
    hooks_folder,
    read_counters,
    spool_folder,
)
from callboard.cli.findings import Finding
from callboard.cli.wording import plural
from callboard.courier.delivery import LOST
from callboard.errors import SettingsUnusable
from callboard.vendors.claude.settings import http_obstacles
from callboard.vendors.claude.status_hook import has_status_hooks
from callboard.vendors.codex.settings import trusted
from callboard.vendors.settings import Plan, Scope, Standing
from callboard.vendors.settings_agents import INSTALLABLE, Installable
from callboard.vendors.settings_files import read

State = Literal["current", "outdated", "elsewhere", "unusable"]
"""elsewhere: they report to another database. unusable: the settings cannot be read."""

_PATIENCE: Final = 10
_MANY: Final = 1000


@dataclass(frozen=True, slots=True)
class Installation:
    """Our hooks in one settings file."""

    scope: str
    path: str
    state: State
    transport: str | None = None
    answers: bool | None = None
    problems: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class AgentFindings:
    """One agent, and where it has our hooks."""

    agent: str
    title: str
    found: bool
    version: str | None
    installed: list[Installation]

    def to_wire(self) -> dict[str, Any]:
        """The findings for programs."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SpoolFindings:
    """What lies in the spool, and what servers made of what came."""

    waiting: int
    full: bool
    rejected: int
    lost: int
    received: dict[str, Any]
    address: str | None

    def to_wire(self) -> dict[str, Any]:
        """The findings for programs."""
        return asdict(self)


def agents(database: Path, project: Path) -> list[AgentFindings]:
    """Every agent that we know, in its own settings and in the project's."""
    folder = hooks_folder(database)
    with ThreadPoolExecutor(len(INSTALLABLE)) as pool:
        versions = pool.map(_version, INSTALLABLE.values())
        return [
            AgentFindings(
                one.name,
                one.title,
                one.is_here,
                version,
                [*_installed(one, database, folder, project)],
            )
            for one, version in zip(INSTALLABLE.values(), versions, strict=True)
        ]


def spool(database: Path) -> SpoolFindings:
    """What lies in the spool of a database."""
    folder = hooks_folder(database)
    return SpoolFindings(
        waiting=_count(spool_folder(folder), ".json"),
        full=full_marker(folder).exists(),
        rejected=_count(spool_folder(folder) / "rejected", ""),
        lost=_count(spool_folder(folder), LOST) + number_of(read_counters(folder), "lost"),
        received=read_counters(folder),
        address=_address(folder),
    )


def number_of(received: dict[str, Any], key: str) -> int:
    """One of the counters; 0 when it is not there."""
    value = received.get(key)
    return value if isinstance(value, int) else 0


def unrecorded(lies: SpoolFindings) -> Iterator[Finding]:
    """Hooks that found no room: what waits in a server's memory, and what is lost."""
    todo = "Free some disk space."
    if kept := number_of(lies.received, "kept"):
        said = f"{plural(kept, 'hook')} could not be written, and the server keeps them in memory"
        yield Finding("hooks", "warn", said, todo)
    if lies.lost:
        said = f"{plural(lies.lost, 'hook')} got lost because the disk was full"
        yield Finding("hooks", "warn", said, todo)


def finding(database: Path, project: Path) -> Iterator[Finding]:
    """One line for `callboard doctor`, with the first thing that is to be done."""
    folder = hooks_folder(database)
    found = [
        (one, installation)
        for one in INSTALLABLE.values()
        for installation in _installed(one, database, folder, project)
    ]
    if not found:
        yield Finding("hooks", "ok", "none installed; if you want them: callboard hooks install")
        return
    lies = spool(database)
    yield from unrecorded(lies)
    where = ", ".join(sorted({one.title for one, _ in found}))
    wrong = [(one, each) for one, each in found if each.state in ("outdated", "unusable")]
    hindered = [(one, each.problems[0]) for one, each in found if each.problems]
    if lies.full:
        todo = "Start a server, which empties it: callboard serve"
        yield Finding("hooks", "fail", "the spool is full, and what agents do is not told", todo)
    elif wrong:
        said = f"those of {wrong[0][0].title} are {wrong[0][1].state}"
        yield Finding("hooks", "warn", said, "callboard hooks install; callboard hooks status")
    elif hindered:
        said = f"{hindered[0][0].title}: {hindered[0][1]}"
        yield Finding("hooks", "warn", said, "See: callboard hooks status")
    elif lies.waiting > _MANY:
        said = f"{plural(lies.waiting, 'payload')} wait in the spool"
        yield Finding("hooks", "warn", said, "Start a server, which reads them: callboard serve")
    else:
        yield Finding("hooks", "ok", f"installed for {where}")


def _installed(
    one: Installable, database: Path, folder: Path, project: Path
) -> Iterator[Installation]:
    places: dict[Path, Scope] = {}
    for scope in cast("tuple[Scope, ...]", ("user", "project")):
        # At home both are the same.
        places.setdefault(one.settings.place(scope, project), scope)
    for path, scope in places.items():
        try:
            text = read(path).text
            standing = None if text is None else one.settings.standing(text)
        except SettingsUnusable as error:
            said = error.message if "path" in error.context else f"{path}: {error.message}"
            yield Installation(scope, str(path), "unusable", problems=[said])
            continue
        if text is not None and standing is not None:
            problems = [*_problems(one, path, text, standing)]
            state = _state(one, text, standing, database, folder)
            yield Installation(
                scope, str(path), state, standing.transport, standing.answers, problems
            )


def _state(one: Installable, text: str, standing: Standing, database: Path, folder: Path) -> State:
    if standing.folder is not None and standing.folder != folder:
        return "elsewhere"
    plan = Plan(
        folder=folder,
        database=database.absolute(),
        transport=standing.transport,
        answers=standing.answers,
        port=standing.port or 2255,
        token=standing.token,
        status_files=has_status_hooks(text),
    )
    return "current" if one.settings.is_current(text, plan) else "outdated"


def _problems(one: Installable, path: Path, text: str, standing: Standing) -> Iterator[str]:
    yield from one.obstacles(text)
    if standing.transport == "http":
        yield from http_obstacles(text, f"http://127.0.0.1:{standing.port}/hooks/{one.name}")
    if one.remark and one.name == "codex" and not trusted(path):
        yield one.remark


def _version(one: Installable) -> str | None:
    program = which(one.program)
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    lines = done.stdout.strip().splitlines()
    return lines[-1][:100] if done.returncode == 0 and lines else None


def _count(folder: Path, ending: str) -> int:
    try:
        with os.scandir(folder) as entries:
            return sum(one.name.endswith(ending) and one.is_file() for one in entries)
    except OSError:
        return 0


def _address(folder: Path) -> str | None:
    """Where the last server was, for hooks. Never the token."""
    try:
        lines = connection_file(folder).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    return lines[0] if lines and lines[0] else None
