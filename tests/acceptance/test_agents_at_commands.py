"""Coding agents run the commands that are for people: each refuses them, whatever they find."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.acceptance.cli_process import CallboardCommand

from callboard import Callboard
from callboard.systems.processes import started_at

COMMANDS = (
    ("start", "claude", "--cwd=/", "Look around"),
    ("start", "--resume=PLATE"),
    ("start", "acp", "--", "sleep", "60"),
    ("stop", "PLATE"),
    ("budget", "--daily=20"),
    ("budget", "--off"),
    ("attach", "PLATE"),
    ("transcript", "PLATE"),
    ("transcript", "PLATE", "--search=key"),
    ("changes", "PLATE"),
    ("changes", "PLATE", "--file=a.py"),
)


def registered(command: CallboardCommand, pid: int | None = None) -> str:
    """A plate; its id. pid: its agent's process."""

    async def register() -> str:
        async with Callboard.open(command.folder / "t.db") as board:
            start = None if pid is None else started_at(pid)
            made = await board.plates.register(
                "claude", project_path="/p", session_id="s1", pid=pid, proc_start=start
            )
            return made.plate_id

    return asyncio.run(register())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_agent_that_callboard_started_is_refused(tmp_path: Path, words: tuple[str, ...]):
    command = CallboardCommand(tmp_path)
    plate = registered(command)
    command.env["CALLBOARD_CLAUDE_RUN"] = "start"
    done = command.here(*(word.replace("PLATE", plate) for word in words), code=2)
    assert "Coding agents can't" in done.err
    assert done.out == ""


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_agent_on_the_board_is_refused(tmp_path: Path, words: tuple[str, ...]):
    command = CallboardCommand(tmp_path)
    plate = registered(command, os.getpid())
    done = command.here(*(word.replace("PLATE", plate) for word in words), code=2)
    assert "Coding agents can't" in done.err, done
    assert done.out == ""
