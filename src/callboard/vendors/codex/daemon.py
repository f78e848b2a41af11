"""Finds the processes of a Codex session that runs in an app server.

The app server runs the sessions of many terminals, and starts their hooks in its own environment.
Nothing says which terminal shows a session, so it is found by its folder and time.
"""

import os
import uuid
from dataclasses import dataclass, replace
from typing import Final

from callboard.systems.current import system
from callboard.systems.processes import started_at
from callboard.vendors.reports import Report

_NAME: Final = "codex"
_APP_SERVER: Final = "app-server"
_SOCKET: Final = "unix://"
_ALONE: Final = frozenset(
    {_APP_SERVER, "exec", "e", "review", "mcp-server", "queue", "--no-daemon"}
)
"""Subcommands that don't show a session of an app server."""
_CHANGES_FOLDER: Final = ("-C", "--cd")
_PANE: Final = b"TMUX_PANE="


@dataclass(frozen=True, slots=True)
class Program:
    """A process of our own user.

    start: as returned by `started_at`. began_ms: the same by the wall clock, which may be off by
    a few hundredths of a second.
    """

    pid: int
    start: str
    began_ms: int
    folder: str
    arguments: tuple[str, ...]


def with_terminal(report: Report) -> Report:
    """The report with its terminal, if it comes from an app server.

    A process that is gone may have been one, so its sessions are kept apart. One that listens on no
    socket belongs to an editor, and has no terminals.
    """
    words = () if report.pid is None else _arguments(report.pid)
    if report.pid is None or (words and _APP_SERVER not in words[1:]):
        return report
    has_terminals = any(word.startswith(_SOCKET) for word in words)
    programs = _programs() if has_terminals else []
    found = chosen(report.session_id, report.project_path or "", programs)
    if found is None:
        return replace(report, in_daemon=True, tmux_target=None)
    return replace(
        report,
        in_daemon=True,
        tmux_target=_pane(found.pid),
        client_pid=found.pid,
        client_start=found.start,
    )


def chosen(session_id: str, folder: str, programs: list[Program]) -> Program | None:
    """The program that resumed this session by its id; otherwise, of those in the folder, the last
    one that existed when the session was created: a terminal creates one when it starts.
    """
    shows = [one for one in programs if _ALONE.isdisjoint(one.arguments[1:])]
    named = [one for one in shows if session_id in one.arguments]
    here = os.path.realpath(folder) if folder else None
    there = named or [one for one in shows if _folder(one) == here]
    made_ms = _made_ms(session_id)
    return max(there, key=lambda one: (one.began_ms <= made_ms, one.began_ms), default=None)


def _made_ms(session_id: str) -> int:
    """When a session was created: Codex's ids start with the time (UUID version 7)."""
    try:
        return uuid.UUID(session_id).int >> 80
    except ValueError:
        return 0


def _folder(program: Program) -> str:
    words = program.arguments
    for word, value in zip(words, (*words[1:], ""), strict=True):
        name, _, given = word.partition("=")
        if name in _CHANGES_FOLDER:
            return os.path.realpath(os.path.join(program.folder, given or value))  # noqa: PTH118
    return program.folder


def _pane(pid: int) -> str | None:
    named = (entry for entry in system.environment(pid) if entry.startswith(_PANE))
    return next((entry.removeprefix(_PANE).decode("utf-8", "replace") for entry in named), None)


def _arguments(pid: int) -> tuple[str, ...]:
    """A process's command line, starting with its name; empty if it isn't visible."""
    import psutil  # Only servers need it, and it is slow to import.

    try:
        return tuple(psutil.Process(pid).cmdline())
    except (psutil.Error, OSError):
        return ()


def _programs() -> list[Program]:
    """Our user's programs. Looks at every process."""
    import psutil

    found: list[Program] = []
    for process in psutil.process_iter():
        try:
            if process.name() != _NAME or process.uids().effective != os.geteuid():
                continue
            began_ms = int(process.create_time() * 1000)
            start, folder = started_at(process.pid), process.cwd()
            if start is not None:
                words = tuple(process.cmdline())
                found.append(Program(process.pid, start, began_ms, folder, words))
        except (psutil.Error, OSError):  # It has ended, or is hidden.
            continue
    return found
