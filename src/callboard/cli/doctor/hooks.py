"""The state of coding agents' hooks, for `callboard doctor` and `callboard hooks status`."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import which
from typing import Final

from callboard.board.hook_backlog import backlog_in
from callboard.board.hook_folders import (
    connection_file,
    full_marker,
    hooks_folder,
    read_counters,
    spool_folder,
)
from callboard.cli.doctor.findings import Finding
from callboard.cli.doctor.server import server
from callboard.cli.exit import DONE, FAILED
from callboard.cli.format import ago, one_line
from callboard.cli.printing import print_json
from callboard.cli.relay_hooks import SCOPES, state_for_relay
from callboard.cli.relay_place import relay_folder
from callboard.cli.relay_state import describe, relay_state
from callboard.cli.screen import Screen
from callboard.cli.targets import Database
from callboard.clock import SystemClock
from callboard.courier.delivery import LOST
from callboard.display.amounts import counted
from callboard.errors import SettingsUnusable
from callboard.events.json_values import Object, as_whole
from callboard.events.moments import from_ms
from callboard.vendors.claude.settings import http_obstacles
from callboard.vendors.codex.settings import trusted
from callboard.vendors.hook_targets import INSTALLABLE, HooksState, Installable
from callboard.vendors.settings.files import read
from callboard.vendors.settings.installing import InstallState, Scope

_PATIENCE: Final = 10
_MANY: Final = 1000
_OLD_MS: Final = 10_000
_WIDTH: Final = 16
_STYLES: Final = {"current": "done", "outdated": "here", "elsewhere": "here", "unusable": "failed"}
_TODO: Final = {
    "outdated": "from another version; update them: ",
    "elsewhere": "report to another database; to switch to this one: ",
}


@dataclass(frozen=True, slots=True)
class Installation:
    """Our hooks in one settings file."""

    scope: str
    path: str
    state: HooksState
    transport: str | None = None
    answers: bool | None = None
    relayed: bool = False
    """Whether they report to the relay of this machine."""
    broken: bool = False
    """Whether they run a Python that is gone, and so do nothing."""
    problems: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class AgentFindings:
    """One agent, and where it has our hooks."""

    agent: str
    title: str
    found: bool
    version: str | None
    installed: list[Installation]


@dataclass(frozen=True, slots=True)
class SpoolFindings:
    """The content of the spool, and what happened to earlier reports."""

    waiting: int
    oldest_ms: int | None
    full: bool
    rejected: int
    lost: int
    received: Object
    address: str | None


def agents(database: Path, project: Path) -> list[AgentFindings]:
    """Every supported agent, in its own settings and in the project's."""
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
    """The content of a database's spool."""
    folder = hooks_folder(database)
    backlog = backlog_in(folder)
    return SpoolFindings(
        waiting=backlog.hooks,
        oldest_ms=backlog.oldest_at,
        full=full_marker(folder).exists(),
        rejected=_count(spool_folder(folder) / "rejected", ""),
        lost=_count(spool_folder(folder), LOST) + as_whole(read_counters(folder).get("lost")),
        received=read_counters(folder),
        address=_address(folder),
    )


def unrecorded(lies: SpoolFindings) -> Iterator[Finding]:
    """Hooks that couldn't be stored: those waiting in a server's memory, and the lost ones."""
    todo = "Free some disk space."
    if kept := as_whole(lies.received.get("kept")):
        said = f"{counted(kept, 'hook')} could not be saved; the server keeps them in memory"
        yield Finding("hooks", "warn", said, todo)
    if lies.lost:
        said = f"{counted(lies.lost, 'hook')} were lost because the disk was full"
        yield Finding("hooks", "warn", said, todo)


def finding(database: Path, project: Path) -> Iterator[Finding]:
    """One line for `callboard doctor`, with the first thing to do."""
    folder = hooks_folder(database)
    found = [
        (one, installation)
        for one in INSTALLABLE.values()
        for installation in _installed(one, database, folder, project)
    ]
    if not found:
        yield Finding("hooks", "ok", "none installed; to install them: callboard hooks install")
        return
    if any(each.relayed for _, each in found):
        yield from _of_relay(relay_folder())
    lies = spool(database)
    yield from unrecorded(lies)
    yield _first(found, lies)


def _of_relay(folder: Path) -> Iterator[Finding]:
    """How the relay is, for `callboard doctor`."""
    relay = relay_state(folder)
    if relay is None:
        todo = "callboard relay --server URL --pair CODE"
        yield Finding("relay", "fail", "hooks report to a relay that is not paired", todo)
        return
    todo = "callboard service install --relay, or callboard relay"
    if relay.running:
        todo = "Check the server's address and certificate: callboard relay --help"
    level = "ok" if relay.running and relay.connected else "warn"
    yield Finding("relay", level, describe(relay).rstrip("."), todo)


def _first(found: list[tuple[Installable, Installation]], lies: SpoolFindings) -> Finding:
    """The first thing to do about installed hooks."""
    where = ", ".join(sorted({one.title for one, _ in found}))
    wrong = [(one, each) for one, each in found if each.state in ("outdated", "unusable")]
    broken = [(one, each) for one, each in found if each.broken]
    hindered = [(one, each.problems[0]) for one, each in found if each.problems]
    if lies.full:
        todo = "Start a server to empty it: callboard serve"
        return Finding("hooks", "fail", "the spool is full, so agents' reports are dropped", todo)
    if broken:
        said = f"{broken[0][0].title}: {broken[0][1].problems[0]}"
        again = "callboard hooks install" + (" --server URL" if broken[0][1].relayed else "")
        return Finding("hooks", "fail", said, again)
    if wrong:
        said = f"those of {wrong[0][0].title} are {wrong[0][1].state}"
        return Finding("hooks", "warn", said, "callboard hooks install; callboard hooks status")
    if hindered:
        said = f"{hindered[0][0].title}: {hindered[0][1]}"
        return Finding("hooks", "warn", said, "See: callboard hooks status")
    if lies.waiting > _MANY or _is_old(lies):
        todo = "Start a server to read them: callboard serve"
        return Finding("hooks", "warn", f"{_waiting(lies)} in the spool", todo)
    return Finding("hooks", "ok", f"installed for {where}")


def _installed(
    one: Installable, database: Path, folder: Path, project: Path
) -> Iterator[Installation]:
    places: dict[Path, Scope] = {}
    for scope in SCOPES:
        # In the home folder, both are the same.
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
            gone = [*_gone(standing)]
            problems = [*gone, *_problems(one, path, text, standing)]
            state = one.state(text, standing, database, folder)
            relayed = None if state == "current" else state_for_relay(one, text, standing)
            yield Installation(
                scope,
                str(path),
                relayed or state,
                standing.transport,
                standing.answers,
                relayed is not None,
                bool(gone),
                problems,
            )


def _gone(standing: InstallState) -> Iterator[str]:
    """Homebrew, for one, removes a Python when it installs the next version."""
    for python in sorted(standing.interpreters):
        if not os.access(python, os.X_OK):
            yield f"{python} no longer exists, so these hooks do nothing. Install them again."


def _problems(one: Installable, path: Path, text: str, standing: InstallState) -> Iterator[str]:
    yield from one.obstacles(text)
    if standing.transport == "http":
        yield from http_obstacles(text, f"http://127.0.0.1:{standing.port}/hooks/{one.name}")
    if one.remark and one.name == "codex" and not trusted(path):
        yield one.remark


def _version(one: Installable) -> str | None:
    program = which(one.name)
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
    """The last server's address, for hooks. Never the token."""
    try:
        lines = connection_file(folder).read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    return lines[0] if lines and lines[0] else None


def show(database: Database, project: Path, as_json: bool) -> int:
    """Print the state of the hooks; the exit code is 1 if something keeps them from working."""
    found, lies = agents(database.path, project), spool(database.path)
    is_relayed = any(each.relayed for one in found for each in one.installed)
    relay = relay_state(relay_folder()) if is_relayed else None
    at_port = _server(database, lies.address)
    if as_json:
        told = {
            "agents": [asdict(one) for one in found],
            "server": [one.to_wire() for one in at_port],
            "relay": None if relay is None else relay.to_wire(),
        }
        print_json([told | asdict(lies)])
    else:
        _print(Screen(), database, found, at_port, lies)
        if relay is not None:
            Screen().line((f"{'Relay':<{_WIDTH}}", "name"), describe(relay))
    useless = [
        each for one in found for each in one.installed if each.broken or each.state == "unusable"
    ]
    return FAILED if useless or lies.full else DONE


def _server(database: Database, address: str | None) -> list[Finding]:
    host, _, port = (address or "127.0.0.1:2255").rpartition(":")
    number = int(port) if port.isdecimal() else 2255
    return list(server(host.strip("[]"), number, database.path))


def _print(
    screen: Screen,
    database: Database,
    found: list[AgentFindings],
    at_port: list[Finding],
    lies: SpoolFindings,
) -> None:
    for one in found:
        version = one_line(one.version or ("found" if one.found else "not found here"), 60)
        screen.line((f"{one.title:<{_WIDTH}}", "name"), version)
        if not one.installed and one.found:
            install = database.command("hooks", "install", "--agent", one.agent)
            screen.line("  no hooks; install them: ", (install, "command"))
        for each in one.installed:
            _print_installation(screen, database, one, each)
    for each in at_port:
        screen.line((f"{each.check.capitalize():<{_WIDTH}}", "name"), each.said)
    _print_spool(screen, lies)


def _print_installation(
    screen: Screen, database: Database, one: AgentFindings, each: Installation
) -> None:
    answers = "on" if each.answers else "off"
    how = f" by {each.transport}, answers {answers}" if each.transport else ""
    screen.line("  ", (each.state, _STYLES[each.state]), f"{how}  ({each.scope})  {each.path}")
    if each.state in _TODO:
        words = ("hooks", "install", "--agent", one.agent, "--scope", each.scope)
        again = database.command(*words, *(["--server", "URL"] if each.relayed else []))
        screen.line("  ", _TODO[each.state], (again, "command"))
    for problem in each.problems:
        screen.line("  ", (one_line(problem), "here"))


def _print_spool(screen: Screen, lies: SpoolFindings) -> None:
    waiting = _waiting(lies)
    full = ("; full: hooks write nothing until a server empties it", "failed")
    rejected = f", {lies.rejected} put aside" if lies.rejected else ""
    screen.line((f"{'Spool':<{_WIDTH}}", "name"), waiting, rejected, full if lies.full else "")
    for found in unrecorded(lies):
        screen.line(" " * _WIDTH, (found.said, "failed"))
    screen.line((f"{'Reports':<{_WIDTH}}", "name"), _received(lies.received))


def _is_old(lies: SpoolFindings) -> bool:
    now = SystemClock().now_ms()
    return lies.oldest_ms is not None and now - lies.oldest_ms > _OLD_MS


def _waiting(lies: SpoolFindings) -> str:
    said = f"{counted(lies.waiting, 'payload')} waiting"
    if lies.oldest_ms is None:
        return said
    return (
        f"{said}, the oldest from {ago(from_ms(lies.oldest_ms), from_ms(SystemClock().now_ms()))}"
    )


def _received(received: Mapping[str, object]) -> str:
    if not received:
        return "none yet; one arrives when a connected agent starts"
    parts = [f"{counted(as_whole(received.get('heard')), 'hook')}"]
    for key, said in (("garbage", "were not valid payloads"), ("failed", "could not be recorded")):
        if count := as_whole(received.get(key)):
            parts.append(f"{count} {said}")
    last = as_whole(received.get("last_at"))
    if last:
        now = from_ms(SystemClock().now_ms())
        parts.append(f"the last {ago(from_ms(last), now)}, from {received.get('last_agent')}")
    return one_line(", ".join(parts))
