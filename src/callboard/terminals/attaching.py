"""Joins a person's terminal to an agent's, until the person leaves or the agent ends."""

import os
import re
import select
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from callboard.events.json_values import Object, as_whole
from callboard.terminals.frames import INPUT, OUTPUT, FrameReader, framed, told_in, worded
from callboard.terminals.persons_terminal import PersonsTerminal
from callboard.terminals.terminal_modes import TerminalOutput

LEAVES: Final = re.compile(rb"\x1c|\x1b\[92;5u|\x1b\[27;5;92~")
"""Ctrl-\\, as terminals send it, depending on the agent's keyboard mode."""
_PIECE: Final = 65_536
_ENDS: Final = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)

How = Literal["left", "ended", "taken", "lost", "attached", "refused"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """How it ended: the person left, the agent ended, another terminal took it over, its process is
    gone, another person has it open already, or agents are refused. code: the agent's exit code.
    """

    how: How
    code: int = 0


class Attaching:
    """One person at one agent's terminal."""

    def __init__(self, connected: socket.socket, terminal: PersonsTerminal) -> None:
        self._socket = connected
        self._terminal = terminal
        self._reader = FrameReader()
        self._output = TerminalOutput()
        self._unsent = b""

    def run(self, *, take: bool = False) -> Attachment:
        """Pass everything on. take: from another terminal that has it.

        The person's terminal is as before afterwards, whatever happened.
        """
        with _waking() as wakes:
            self._send(worded({"do": "attach", "take": take, **self._size()}))
            self._terminal.begin_raw()
            try:
                return self._pass_on(wakes)
            finally:
                # The second screen is left first, so that what follows is on the person's own.
                self._terminal.write(self._output.undoing() + b"\x1b[0m\x1b[r\x1b[?25h")
                rows = self._terminal.size[0]
                self._terminal.write(b"\x1b[%d;1H\r\n" % rows)
                self._terminal.end_raw()

    def _pass_on(self, wakes: int) -> Attachment:
        while True:
            reading = [self._socket.fileno(), self._terminal.input, wakes]
            writing = [self._socket.fileno()] if self._unsent else []
            ready, free, _ = select.select(reading, writing, [])
            if wakes in ready and (left := self._wake(os.read(wakes, _PIECE))) is not None:
                return left
            if free:
                self._flush()
            if self._terminal.input in ready and not self._take():
                self._flush()
                return Attachment("left")
            if self._socket.fileno() in ready and (over := self._show()) is not None:
                return over

    def _wake(self, signals: bytes) -> Attachment | None:
        if any(number in _ENDS for number in signals):
            return Attachment("left")
        self._send(worded({"do": "resize", **self._size()}))
        return None

    def _take(self) -> bool:
        """Pass on what was typed; returns whether the person stays."""
        try:
            typed = os.read(self._terminal.input, _PIECE)
        except OSError:
            typed = b""
        leaves = LEAVES.search(typed)
        self._send(framed(INPUT, typed[: leaves.start()] if leaves else typed))
        return bool(typed) and leaves is None

    def _show(self) -> Attachment | None:
        try:
            data = self._socket.recv(_PIECE)
            frames = self._reader.feed(data)
        except BlockingIOError:
            return None
        except (OSError, ValueError):
            return Attachment("lost")
        for kind, content in frames:
            if kind == OUTPUT:
                self._output.feed(content)
                self._terminal.write(content)
            elif (over := _over(told_in(content))) is not None:
                return over
        return None if data else Attachment("lost")

    def _send(self, data: bytes) -> None:
        self._unsent += data
        self._flush()

    def _flush(self) -> None:
        try:
            self._unsent = self._unsent[self._socket.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = b""  # Reading says that it is gone.

    def _size(self) -> Object:
        rows, columns, *_ = self._terminal.size
        return {"rows": rows, "columns": columns}


def _over(told: Object) -> Attachment | None:
    if "ended" in told:
        return Attachment("ended", as_whole(told["ended"]))
    if "taken" in told:
        return Attachment("taken")
    if told.get("error") == "agent":
        return Attachment("refused")
    return Attachment("attached") if told.get("error") == "attached" else None


@contextmanager
def _waking() -> Generator[int]:
    """Wake up for signals, which end nothing by themselves; what becomes readable has them."""
    wakes, wake = os.pipe()
    for end in (wakes, wake):
        os.set_blocking(end, False)
    heard = (*_ENDS, signal.SIGWINCH)
    before = {number: signal.signal(number, _heard) for number in heard}
    other = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        yield wakes
    finally:
        signal.set_wakeup_fd(other)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(wakes)
        os.close(wake)


def _heard(number: int, frame: object) -> None:
    """A signal whose number is read from the pipe."""
