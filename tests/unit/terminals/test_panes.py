"""What keeps a terminal may reply late: then what it was told may have been done."""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from callboard.terminals import link, panes
from callboard.terminals.link import type_into
from callboard.terminals.panes import TmuxPane
from callboard.terminals.records import OwnTerminal

PANE = TmuxPane("/tmux.sock", "%1", "/dev/pts/1")


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The commands to which tmux replies too late."""
    found: set[str] = set()

    def run(words: list[str], **more: Any) -> subprocess.CompletedProcess[bytes]:
        if words[3] in found:
            raise subprocess.TimeoutExpired(words, 2)
        shown = b"/dev/pts/1 000 0 0" if words[3] == "display-message" else b""
        return subprocess.CompletedProcess(words, 0, shown, b"")

    monkeypatch.setattr(panes.subprocess, "run", run)
    return found


def test_what_tmux_does_late_may_be_done(late: set[str]):
    screen = PANE.look()
    assert screen is not None
    late |= {"send-keys", "paste-buffer"}
    assert PANE.press("\r", screen.serial)
    assert PANE.paste("x", screen.serial)


@pytest.mark.parametrize("command", ["load-buffer", "capture-pane", "display-message"])
def test_what_comes_before_that_is_not(late: set[str], command: str):
    screen = PANE.look()
    assert screen is not None
    late.add(command)
    assert not PANE.paste("x", screen.serial)


OWN = OwnTerminal("t", "claude", "/p", "s", 1, "1", 2, "1")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """What keeps a terminal, and never replies."""
    monkeypatch.setattr(link, "_WITHIN", 0.1)
    monkeypatch.chdir(tmp_path)  # A socket's path may not be long.
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(OWN.socket)
        made.listen()
        yield made


@pytest.mark.usefixtures("server")
def test_a_terminal_of_ours_that_does_not_reply_may_have_typed():
    assert type_into(OWN, "x")


def test_one_that_has_ended_has_not(server: socket.socket):
    server.close()
    assert not type_into(OWN, "x")


def test_one_that_hangs_up_has_not(server: socket.socket):
    def refuse() -> None:
        server.accept()[0].close()

    refusing = Thread(target=refuse)
    refusing.start()
    assert not type_into(OWN, "x")
    refusing.join()
