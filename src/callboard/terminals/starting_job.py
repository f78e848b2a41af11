"""What the process of a terminal does: start the agent, tell the board, and keep it to its end."""

import json
import os
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.courier.wire import Refused, Timeouts, ask, read_connection
from callboard.disk.private import make_own_folder
from callboard.events.json_values import Object, as_list, as_text
from callboard.systems.processes import started_at
from callboard.terminals.agent_job import AgentJob
from callboard.terminals.callers import agents_callers
from callboard.terminals.hosting import COLUMNS, ROWS, TerminalHost
from callboard.terminals.records import (
    OwnTerminal,
    remove_record,
    remove_socket,
    socket_for,
    write_record,
)

_TELL_WITHIN: Final = 1.0

Told = Mapping[str, object]


def keep(given: Object, tell: Callable[[Told], None]) -> None:
    """Start the agent, say which process it is, and keep it until it ends.

    tell: OSError if no one waits for it anymore: then the agent doesn't run.
    """
    folder, id = Path(str(given["terminals"])), str(given["id"])
    make_own_folder(folder)
    os.chdir(str(given["folder"]))
    wakes = _signals()
    listener, path = listening(folder, id)
    job = _job(given, lambda: remove_socket(folder, path))
    us = os.getpid()
    terminal = OwnTerminal(
        id=id,
        agent=str(given["agent"]),
        folder=str(given["folder"]),
        socket=str(path),
        pid=job.pid,
        start=started_at(job.pid) or "",
        host_pid=us,
        host_start=started_at(us) or "",
        session=as_text(given.get("session")),
    )
    try:
        write_record(folder, terminal)
    except OSError:
        job.send(signal.SIGKILL)
        remove_record(folder, terminal)
        raise
    hooks = str(given.get("hooks") or "")
    # Before it runs: its hooks find its plate.
    report_to_board(
        hooks,
        "/plates/register",
        terminal,
        **({"session_id": terminal.session} if terminal.session else {}),
    )
    host = TerminalHost(job, listener, wakes, agents_callers(folder))
    signal.signal(signal.SIGTERM, lambda number, frame: host.end())
    try:
        tell({"id": id, "pid": terminal.pid, "start": terminal.start})
        job.let_go()
        host.run()
    finally:
        # It has ended, unless that could not be reported to anyone.
        job.send(signal.SIGKILL)
        remove_record(folder, terminal)
        report_to_board(hooks, "/plates/stopped", terminal)


def _job(given: Object, clean: Callable[[], None]) -> AgentJob:
    """The agent, which waits to be let go. clean: called if there is no terminal for it."""
    try:
        return AgentJob([as_text(one) for one in as_list(given["words"])], ROWS, COLUMNS)
    except OSError:
        clean()
        raise


def _signals() -> int:
    """Outlive a hangup, and wake up when the agent ends; returns what becomes readable then."""
    wakes, wake = os.pipe()
    for end in (wakes, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    # Handlers, because what is ignored stays ignored in the agent.
    for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, frame: None)
    return wakes


def listening(folder: Path, id: str) -> tuple[socket.socket, Path]:
    """A socket of a process that keeps an agent, which only its user can connect to."""
    path = socket_for(folder, id)
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(16)
    listener.setblocking(False)
    return listener, path


def report_to_board(hooks: str, path: str, terminal: OwnTerminal, **more: str) -> None:
    """Report to the board as the agent's hooks know it, within a second or not at all."""
    told = {"agent": terminal.agent, "project_path": terminal.folder, "pid": terminal.pid} | more
    if terminal.start:
        told["proc_start"] = terminal.start
    with suppress(OSError, ValueError, Refused):
        if hooks and (server := read_connection(hooks)) is not None:
            ask(server, path, json.dumps(told).encode(), Timeouts(_TELL_WITHIN))
