"""Calling a person who does not look: a sound, a message on the desktop; both only if wanted."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from callboard.tui.rows import NEEDS, Row
from callboard.tui.settings import Settings
from callboard.tui.wording import fitted, one_line

_PLAYERS: Final = (("pw-play",), ("paplay",), ("aplay", "-q"), ("afplay",))
_LONGEST: Final = 120
_KNOWS_777: Final = ("foot", "rxvt")
_BELL: Final = "\a"


class Needs:
    """Who needed a person when we looked last, and who does so only now."""

    def __init__(self) -> None:
        self._known: frozenset[str] | None = None

    def new(self, rows: Iterable[Row]) -> list[Row]:
        """Those that were not waiting, or waited for something else. The first look finds none."""
        needy = {_occasion(row): row for row in rows if row.group == NEEDS}
        known, self._known = self._known, frozenset(needy)
        return [] if known is None else [row for key, row in needy.items() if key not in known]


def _occasion(row: Row) -> str:
    return f"{row.key} {row.standing.word} {row.question.id if row.question else ''}"


def call(rows: list[Row], settings: Settings) -> None:
    """Call for these rows, as loudly as the settings say."""
    if not rows:
        return
    _sound(settings.sound)
    if settings.desktop:
        first = rows[0]
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        title = f"{first.title}: {first.standing.word}{more}"
        _desktop(one_line(title), fitted(first.asks, _LONGEST).rstrip())


def _sound(sound: str) -> None:
    if sound == "off":
        return None
    player = next((one for one in _PLAYERS if shutil.which(one[0])), None)
    if sound == "bell" or player is None or not Path(sound).is_file():
        return _to_terminal(_BELL)
    return _start([*player, sound])


def _desktop(title: str, body: str) -> None:
    if shutil.which("notify-send") and _has_desktop(os.environ):
        _start(["notify-send", "--app-name=Callboard", "--", title, body])
    else:
        _to_terminal(message(title, body, os.environ))


def _has_desktop(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def message(title: str, body: str, environ: Mapping[str, str]) -> str:
    """What a terminal takes for a notification; one that knows none shows nothing."""
    text = body.replace(";", ",")
    if environ.get("TERM", "").startswith(_KNOWS_777):
        told = f"\x1b]777;notify;{title.replace(';', ',')};{text}{_BELL}"
    else:
        told = f"\x1b]9;{title}: {text}{_BELL}"
    if not environ.get("TMUX"):
        return told
    # tmux keeps to itself what is not wrapped for the terminal around it.
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
    """Write past the screen, in one piece: it moves no cursor and shows no character."""
    with suppress(OSError), Path("/dev/tty").open("wb", buffering=0) as terminal:
        terminal.write(told.encode())
