"""Keeps one agent that speaks ACP in the background. It is run as a program.

Reads what to start as JSON from standard input, and prints its own process, or why there is none.
It has a session of its own, so it outlives the program that started it and every server, and ends
with its agent. If it is killed, a shell that watches it kills the agent.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from callboard.disk.private import make_own_folder
from callboard.errors import CallboardError
from callboard.events.json_values import Object, as_text
from callboard.systems.processes import started_at
from callboard.terminals.records import OwnTerminal, remove_record, write_record
from callboard.terminals.starting_job import listening, report_to_board
from callboard.vendors.acp.payloads import NAME


def main() -> None:
    """Become a process of its own, and keep the agent."""
    given: Object = json.load(sys.stdin)
    if os.fork():
        os._exit(0)  # Who started us doesn't have to wait for us.
    os.setsid()
    tells = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    try:
        _keep(given, tells)
    except (OSError, CallboardError) as error:
        with suppress(OSError):
            _tell(tells, {"error": str(error)})
    os._exit(0)


def _tell(file: int, told: Mapping[str, object]) -> None:
    os.write(file, json.dumps(told).encode() + b"\n")
    os.close(file)


def _keep(given: Object, tells: int) -> None:
    folder, id = Path(as_text(given["terminals"])), as_text(given["id"])
    make_own_folder(folder)
    os.chdir(as_text(given["folder"]))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    listener, path = listening(folder, id)
    us = os.getpid()
    start = started_at(us) or ""
    session = as_text(given.get("session"))
    record = OwnTerminal(
        id, NAME, as_text(given["folder"]), str(path), us, start, us, start, session
    )
    hooks = as_text(given.get("hooks"))
    try:
        write_record(folder, record)
    except OSError:
        remove_record(folder, record)
        raise
    try:
        more = {"session_id": session} if session else {}
        report_to_board(hooks, "/plates/register", record, **more)
        # If no one waits for it anymore, it isn't started.
        _tell(tells, {"id": id, "pid": us, "start": start})
        # Now, because this takes most of a second.
        from callboard.vendors.acp.hosted_agent import HostedAgent

        asyncio.run(HostedAgent(given, listener).run())
    finally:
        remove_record(folder, record)
        report_to_board(hooks, "/plates/stopped", record)


if __name__ == "__main__":
    main()
