"""The terminal that an agent's process runs in, as far as programs reach it: ours, or tmux's.

Nothing is typed unless the process is in the foreground of that terminal: otherwise a shell would
run what was meant for the agent.
"""

import hashlib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from callboard.systems.current import system
from callboard.systems.processes import is_alive
from callboard.terminals.link import ShownScreen, screen_of, type_into
from callboard.terminals.records import OwnTerminal, terminal_of

_WITHIN: Final = 2.0
_PANE: Final = re.compile(r"%[0-9]{1,9}")
_STATE: Final = (
    "#{pane_tty} #{pane_dead}#{pane_in_mode}#{pane_synchronized} #{cursor_y} #{cursor_x}"
)
_USUAL: Final = "000"
"""It runs, shows what the agent prints, and gets only its own keys."""


class Pane(Protocol):
    """A terminal that can be looked at and typed into."""

    def look(self) -> ShownScreen | None:
        """What it shows now; None if that can't be seen."""
        ...

    def paste(self, text: str, serial: int) -> bool:
        """Paste, if it still shows what it did with this serial.

        Returns whether it was pasted, or may have been: what keeps the terminal can reply late.
        """
        ...

    def press(self, key: str, serial: int) -> bool:
        """Press a key, given as the character that it sends, on the same condition."""
        ...


@dataclass(frozen=True, slots=True)
class OwnPane:
    """A terminal of ours."""

    terminal: OwnTerminal

    def look(self) -> ShownScreen | None:
        """What it shows now; None if it has ended."""
        return screen_of(self.terminal)

    def paste(self, text: str, serial: int) -> bool:
        """Paste, if nothing was printed since."""
        return type_into(self.terminal, f"\x1b[200~{text}\x1b[201~", serial)

    def press(self, key: str, serial: int) -> bool:
        """Press a key, if nothing was printed since."""
        return type_into(self.terminal, key, serial)


@dataclass(frozen=True, slots=True)
class TmuxPane:
    """A pane of tmux. server: its socket. tty: the pane's, by which it is recognized."""

    server: str
    pane: str
    tty: str

    def look(self) -> ShownScreen | None:
        """What it shows now; None while a person scrolls in it, or if it is another one by now."""
        told = self._tmux("display-message", "-p", "-t", self.pane, _STATE)
        shown = self._tmux("capture-pane", "-p", "-t", self.pane)
        tty, state, row, column, *_ = [*(told or "").split(), "", "", "", ""]
        if shown is None or tty != self.tty or state != _USUAL or not (row + column).isdigit():
            return None
        lines = shown.removesuffix("\n").split("\n")
        digest = hashlib.sha256(f"{row} {column}\n{shown}".encode()).digest()
        serial = int.from_bytes(digest[:6])
        return ShownScreen(lines, (int(row), int(column)), serial, attached=True)

    def paste(self, text: str, serial: int) -> bool:
        """Paste, if it shows the same as before. tmux can't check that in the same moment."""
        buffer = f"callboard-{self.pane[1:]}"
        if (
            not self._shows(serial)
            or self._tmux("load-buffer", "-b", buffer, "-", given=text) is None
        ):
            return False
        # -p: as a paste, not as keys; -r: with its line breaks as they are.
        how = ("-d", "-p", "-r", "-b", buffer, "-t", self.pane)
        return self._tmux("paste-buffer", *how, late="") is not None

    def press(self, key: str, serial: int) -> bool:
        """Press a key, on the same condition."""
        how = ("-t", self.pane, "-l", key)
        return self._shows(serial) and self._tmux("send-keys", *how, late="") is not None

    def _shows(self, serial: int) -> bool:
        now = self.look()
        return now is not None and now.serial == serial

    def _tmux(self, *words: str, given: str = "", late: str | None = None) -> str | None:
        """What it prints. late: what counts as that if it was told, and may still do it."""
        try:
            done = subprocess.run(
                ["tmux", "-S", self.server, *words],
                input=given.encode(),
                capture_output=True,
                timeout=_WITHIN,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return late
        except (OSError, ValueError):
            return None
        return None if done.returncode else done.stdout.decode("utf-8", "replace")


def pane_of(pid: int, start: str | None) -> Pane | None:
    """The terminal of a process that is in its foreground; None if it is in none that we reach."""
    if not is_alive(pid, start) or (tty := _foreground_of(pid)) is None:
        return None
    own = terminal_of(pid, start)
    if own is not None and _foreground_of(own.pid) == tty:
        return OwnPane(own)
    return _tmux_pane(pid, tty)


def _tmux_pane(pid: int, tty: str) -> Pane | None:
    found: dict[bytes, bytes] = {}
    for one in system.environment(pid):
        name, _, value = one.partition(b"=")
        found.setdefault(name, value)
    server = found.get(b"TMUX", b"").decode("utf-8", "replace").partition(",")[0]
    pane = found.get(b"TMUX_PANE", b"").decode("ascii", "replace")
    if not server.startswith("/") or not _PANE.fullmatch(pane):
        return None
    made = TmuxPane(server, pane, tty)
    return made if made.look() is not None else None


def _foreground_of(pid: int) -> str | None:
    """The terminal that a process is in the foreground of; None if there is none."""
    told = _ps(["-o", "pgid=", "-o", "tpgid=", "-o", "tty=", "-p", str(pid)]).split()
    if len(told) != 3 or told[0] != told[1]:
        return None
    return f"/dev/{told[2]}"


def _ps(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            ["ps", *words], capture_output=True, text=True, timeout=_WITHIN, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
