"""An agent in a terminal, and what is written over it."""

import os
import pty
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.harness.pty import Passthrough
from callboard.terminals.persons_terminal import PersonsTerminal


class Desk:
    """A terminal, and the other end of it, where a person would sit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.person, self.here = pty.openpty()
        with monkeypatch.context() as patch, os.fdopen(os.dup(self.here), "rb+", 0) as opened:
            patch.setattr(sys, "stdin", opened)
            patch.setattr(sys, "stdout", opened)
            self.terminal = PersonsTerminal()
        self.terminal.input = self.terminal.output = self.here

    def shows(self, until: bytes) -> bytes:
        """What is shown, up to something."""
        seen = b""
        while until not in seen:
            seen += os.read(self.person, 65_536)
        return seen


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk(monkeypatch)
    yield made
    os.close(made.here)
    os.close(made.person)


def test_a_notice_shows_what_others_wrote_and_does_not_obey_it(desk: Desk, tmp_path: Path):
    stage = Passthrough(desk.terminal)
    stage.start(["/bin/sh", "-c", "read line; echo over"], tmp_path, os.environ)
    running = threading.Thread(target=stage.run, args=[lambda: None], daemon=True)
    running.start()
    stage.notify("\x1b]0;owned\x07\x1b[2Jbob sees to this too.")
    seen = desk.shows(until=b"too.")
    os.write(desk.person, b"\r")
    desk.shows(until=b"over")
    running.join()
    assert rb"\x1b]0;owned\x07\x1b[2Jbob" in seen
    assert b"\x1b]0;" not in seen
    assert b"\x1b[2J" not in seen
