"""Alert a person who isn't looking: with a sound or a desktop notification, both opt-in.

Each state has its own sound. A session that ends can have one too, but sends no notification.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.systems.sounds import BELL, OFF, most_pressing, play
from callboard.tui.rows import NEEDS, Row
from callboard.tui.settings import BoardSettings
from callboard.tui.text import fitted, one_line

_LONGEST: Final = 120
_KNOWS_777: Final = ("foot", "rxvt")
_BELL: Final = "\a"
_SCRIPT: Final = (
    *("-e", "on run argv"),
    *("-e", "display notification (item 2 of argv) with title (item 1 of argv)"),
    *("-e", "end run"),
)
"""What macOS shows. The text is an argument, so that nothing in it is run."""


class Needs:
    """Who needed a person at the last check, and who does only now."""

    def __init__(self) -> None:
        self._known: frozenset[str] | None = None
        self._open: frozenset[str] = frozenset()

    def new(self, rows: Iterable[Row]) -> list[Row]:
        """Those that weren't waiting before, or for something else. Empty on the first check."""
        needy = {_occasion(row): row for row in rows if row.group == NEEDS}
        known, self._known = self._known, frozenset(needy)
        return [] if known is None else [row for key, row in needy.items() if key not in known]

    def ended(self, rows: Iterable[Row]) -> list[Row]:
        """Those that were open at the last check, and are closed now."""
        rows = list(rows)
        before, self._open = self._open, frozenset(row.key for row in rows if not row.closed)
        return [row for row in rows if row.closed and row.key in before]


def _occasion(row: Row) -> str:
    return f"{row.key} {row.standing.word} {row.question.id if row.question else ''}"


_STATES: Final = {"approve": "awaiting_approval", "asks": "awaiting_input", "done": "idle"}
"""The board's names for states that plates name differently."""


def call(rows: list[Row], settings: BoardSettings, ended: Sequence[Row] = ()) -> None:
    """Alert for these rows, as the settings say. ended: those with a sound only."""
    words = [row.standing.word for row in (*rows, *ended)]
    state = most_pressing(_STATES.get(word, word) for word in words)
    if state is not None:
        _sound(settings.sound_of(state))
    if rows and settings.desktop:
        first = rows[0]
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        title = f"{first.title}: {first.standing.word}{more}"
        _desktop(one_line(title), fitted(first.asks, _LONGEST).rstrip())


def _sound(sound: str) -> None:
    """Play it, or ring the terminal's bell if that isn't possible."""
    if sound != OFF and (sound == BELL or not play(sound)):
        _to_terminal(_BELL)


def _desktop(title: str, body: str) -> None:
    has_desktop = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if shutil.which("notify-send") and has_desktop:
        _start(["notify-send", "--app-name=Callboard", "--", title, body])
    elif sys.platform == "darwin" and shutil.which("osascript"):
        _start(["osascript", *_SCRIPT, "--", title, body])
    else:
        _to_terminal(message(title, body, os.environ))


def message(title: str, body: str, environ: Mapping[str, str]) -> str:
    """The escape sequence for a notification; terminals without support show nothing."""
    text = body.replace(";", ",")
    if environ.get("TERM", "").startswith(_KNOWS_777):
        told = f"\x1b]777;notify;{title.replace(';', ',')};{text}{_BELL}"
    else:
        told = f"\x1b]9;{title}: {text}{_BELL}"
    if not environ.get("TMUX"):
        return told
    # tmux doesn't pass on what isn't wrapped for the terminal around it.
    return "\x1bPtmux;" + told.replace("\x1b", "\x1b\x1b") + "\x1b\\"


def _start(command: list[str]) -> None:
    with suppress(OSError):
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def _to_terminal(told: str) -> None:
    """Write directly to the terminal, in one piece. It moves no cursor and shows no character."""
    with suppress(OSError), Path("/dev/tty").open("wb", buffering=0) as terminal:
        terminal.write(told.encode())
