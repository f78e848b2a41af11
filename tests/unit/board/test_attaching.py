"""Attaching to an agent from the board: how it ends, and why it can't be done."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
from tests.terminals import PATIENCE, ROOT, OwnTerminals

from callboard.terminals.records import OwnTerminal

LEAVE = "\x1c"
AT_BOARD = """
import sys
from callboard.board.plate import Plate
from callboard.errors import CallboardError
from callboard.tui.terminals import attach_here

pid, start, host = int(sys.argv[1]), sys.argv[2], sys.argv[3]
try:
    print(attach_here(Plate("a1b2", "claude", "s1", 0, 0, pid=pid, proc_start=start, host=host)))
except CallboardError as error:
    print(type(error).__name__, error.message)
sys.stdout.flush()
sys.stdin.read(1)
"""


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnTerminals]:
    made = OwnTerminals.made_in(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(made.folder))
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(made.folder)


def at_board(
    terminals: OwnTerminals, own: OwnTerminal, *, start: str | None = None, host: str = ""
) -> Any:
    """A person who presses t on a plate."""
    words = ["-c", AT_BOARD, str(own.pid), own.start if start is None else start, host]
    size = (24, 200)
    child = pexpect.spawn(sys.executable, words, cwd=str(ROOT), timeout=PATIENCE, dimensions=size)
    terminals.people.append(child)
    return child


def test_a_person_leaves_an_agent_that_runs_on_and_sees_how_it_ends(terminals: OwnTerminals):
    own = terminals.start()
    person = at_board(terminals, own)
    person.expect_exact("Attaching. Leave it with Ctrl-\\; it runs on.")
    person.expect_exact("ready")
    person.send(LEAVE)
    person.expect_exact("It runs on. Press t to attach again.")
    again = at_board(terminals, own)
    again.expect_exact("ready")
    again.send("exit 3\n")
    again.expect_exact("It has ended, with exit code 3.")


def test_a_terminal_that_someone_has_open_can_be_taken_over(terminals: OwnTerminals):
    own = terminals.start()
    first = at_board(terminals, own)
    first.expect_exact("ready")
    second = at_board(terminals, own)
    second.expect_exact(
        "ConflictError Another terminal is attached to it. Take it over with: "
        "callboard attach a1b2 --take"
    )


def test_only_agents_that_were_started_here_can_be_attached_to(terminals: OwnTerminals):
    own = terminals.start()
    other = at_board(terminals, own, start="1")
    other.expect_exact("NotFound This agent was not started with `callboard start`, so you can't")
    elsewhere = at_board(terminals, own, host="h2")
    elsewhere.expect_exact("NotFound It runs on h2. Attach to it there: callboard attach a1b2")
