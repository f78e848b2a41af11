"""Starts and stops agents in terminals of their own on this machine, as a server asked for."""

import asyncio
import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

from callboard.errors import CallboardError, ConflictError, NotFound, ValidationError
from callboard.events.json_values import Object, as_list, as_text, as_whole
from callboard.systems.processes import ancestors
from callboard.terminals.link import stop
from callboard.terminals.records import OwnTerminal, terminal_of
from callboard.terminals.starting import StartedProcess, TerminalStart, start_in_terminal
from callboard.vendors.client_programs import AgentStart, prepared
from callboard.vendors.fields import word
from callboard.vendors.settings.commands import interpreter

SHOWN: Final = (NotFound, ConflictError, ValidationError)
"""Errors that the person who asked can do something about."""


def start_here(wanted: AgentStart, hooks: Path | None) -> StartedProcess:
    """Start an agent on this machine. hooks: the folder through which it reports to the board."""
    words, env = prepared(wanted, os.environ)
    folder = Path(wanted.folder)
    told = TerminalStart(wanted.agent, words, folder, str(hooks or ""), wanted.resume)
    try:
        return start_in_terminal(told, env, interpreter())
    except OSError as error:
        raise ConflictError(
            f"{wanted.agent} could not be started: {error.strerror or error}."
        ) from error


def stop_here(pid: int, proc_start: str | None, others: Collection[tuple[int, str]] = ()) -> None:
    """Let an agent end; NotFound if it doesn't run in a terminal of ours.

    others: the processes of other agents. ConflictError if one of them runs this one.
    """
    terminal = terminal_of(pid, proc_start)
    if terminal is not None and not set(others).isdisjoint(_above(pid, terminal)):
        raise ConflictError("Another agent runs this one. Stop that one, or interrupt it.")
    if terminal is None or not stop(terminal):
        raise NotFound(
            "This agent doesn't run in a terminal of Callboard. Only those that `callboard start` "
            "started can be stopped."
        )


def _above(pid: int, terminal: OwnTerminal) -> list[tuple[int, str]]:
    """The processes above an agent's, up to the one that the terminal was started with."""
    found: list[tuple[int, str]] = []
    if pid != terminal.pid:
        for one in ancestors(pid)[1:]:
            found.append((one.pid, one.start))
            if one.pid == terminal.pid:
                break
    return found


class AgentStarting:
    """The commands of a machine that start and stop agents. hooks: its hooks folder."""

    def __init__(self, hooks: Path | None) -> None:
        self._hooks = hooks

    async def start(self, data: Object) -> Object:
        """Start an agent; its process, or an error."""
        wanted = AgentStart(
            as_text(data.get("agent")),
            as_text(data.get("folder")),
            as_text(data.get("prompt")) or None,
            word(data.get("resume")),
            alone=data.get("alone") is True,
        )
        try:
            started = await asyncio.to_thread(start_here, wanted, self._hooks)
        except SHOWN as error:
            return _refused(error)
        return {"pid": started.pid, "start": started.start}

    async def stop(self, data: Object) -> Object:
        """Let an agent end; an error if it doesn't run in a terminal of ours."""
        try:
            pid, start = as_whole(data.get("pid")), word(data.get("start"))
            await asyncio.to_thread(stop_here, pid, start, _processes(data.get("others")))
        except SHOWN as error:
            return _refused(error)
        return {"ok": True}


def _processes(told: object) -> list[tuple[int, str]]:
    pairs = [as_list(one) for one in as_list(told)]
    return [(as_whole(one[0]), as_text(one[1])) for one in pairs if len(one) == 2]


def _refused(error: CallboardError) -> Object:
    return {"error": error.as_payload()}
