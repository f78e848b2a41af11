"""An agent in a pseudo-terminal that passes everything through in both directions.

A thread carries the bytes, so that a slow terminal and a slow database don't hold each other up.
The agent has a session of its own (`job_control`): it alone gets what is typed, including Ctrl-C;
it can be suspended; and if we die, the kernel sends it a hangup.
"""

import errno
import os
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.display.lines import visible
from callboard.terminals import job_control
from callboard.terminals.persons_terminal import PersonsTerminal
from callboard.terminals.terminal_modes import TerminalOutput
from callboard.vendors.settings.commands import interpreter

_PIECE: Final = 65_536
_LOOK_AGAIN: Final = 0.1
_LONGEST_END: Final = 2_000

_OPENER: Final = Path(job_control.__file__)


@dataclass(frozen=True, slots=True)
class Exit:
    """How an agent ended. code: its exit code; if negative, the signal that ended it."""

    code: int
    end: str = ""
    """The end of its output, as far as it is text."""


class Passthrough:
    """One agent in one terminal, from its start to its end."""

    def __init__(self, terminal: PersonsTerminal) -> None:
        self._terminal = terminal
        self._output = TerminalOutput()
        self._notice = ""
        self._shown = ""
        self._end = b""
        self._typed = b""
        self._is_lost = False
        self._status: int | None = None
        self._opener = 0
        self.pid = 0

    def start(self, words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        """Start it; raises an OSError if that fails. words: the program by its path."""
        self._master, slave = os.openpty()
        told, tells = os.pipe()
        try:
            self._terminal.copy_size(self._master)
            self._terminal.copy_manners(slave)
            python = [interpreter(), "-I", "-S", str(_OPENER), str(tells)]
            process = subprocess.Popen(
                [*python, *words],
                cwd=cwd,
                env=dict(env),
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
                pass_fds=[tells],
            )
        except OSError:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
            os.close(tells)
        self._opener = process.pid
        process.returncode = 0  # We wait for it ourselves, because it may also stop for a while.
        with os.fdopen(told, "rb") as telling:
            self.pid = int(telling.read() or process.pid)
        os.set_blocking(self._master, False)

    def run(self, on_lost: Callable[[], None]) -> Exit:
        """Pass everything through until it ends. Call this in a thread."""
        self._terminal.begin_raw()
        try:
            while self._status is None:
                self._turn(on_lost)
                self._look()
            # Its last output; a child process may still hold the other end.
            while data := _read(self._master):
                self._pass(data)
        finally:
            if self._notice:
                self._terminal.write(b"\x1b7\x1b[%d;1H\x1b[2K\x1b8" % self._terminal.size[0])
            self._terminal.write(self._output.undoing())
            self._terminal.end_raw()
            os.close(self._master)
        code = os.waitstatus_to_exitcode(self._status)
        return Exit(code, self._end.decode("utf-8", "replace"))

    def resize(self) -> None:
        """Adopt the new size of the person's terminal."""
        with suppress(OSError):
            self._terminal.copy_size(self._master)

    def notify(self, text: str) -> None:
        """Show a line at the bottom, over the agent's output; an empty text removes it."""
        self._notice = visible(text, keep="")  # It may contain names that others chose.

    def ring(self) -> None:
        """Ring the terminal's bell."""
        self._terminal.write(b"\a")

    def send(self, number: signal.Signals, *, to_all: bool = False) -> None:
        """Send the agent a signal; to_all: also to its child processes."""
        if self._status is None:
            with suppress(ProcessLookupError, PermissionError):
                (os.killpg if to_all else os.kill)(self.pid, number)

    def _turn(self, on_lost: Callable[[], None]) -> None:
        reading = [self._master, *([] if self._is_lost else [self._terminal.input])]
        writing = [self._master] if self._typed else []
        ready, free, _ = select.select(reading, writing, [], _LOOK_AGAIN)
        if self._terminal.input in ready:
            self._take(on_lost)
        if free:
            self._give()
        if self._master in ready:
            self._pass(_read(self._master))
        self._show_notice()

    def _take(self, on_lost: Callable[[], None]) -> None:
        typed = _read(self._terminal.input)
        if typed:
            self._typed += typed
        else:
            self._is_lost = True
            on_lost()

    def _give(self) -> None:
        try:
            self._typed = self._typed[os.write(self._master, self._typed) :]
        except BlockingIOError:
            return
        except OSError:
            self._typed = b""

    def _pass(self, data: bytes | None) -> None:
        if not data:
            return
        self._output.feed(data)
        self._shown = ""  # The agent's output may cover it.
        self._end = (self._end + data)[-_LONGEST_END:]
        if not self._is_lost:
            self._terminal.write(data)

    def _look(self) -> None:
        pid, status = os.waitpid(self._opener, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            self._rest()
        else:
            self._status = status

    def _rest(self) -> None:
        """The person suspended the agent, so suspend ourselves until both are resumed."""
        self._terminal.end_raw()
        # Without a waiting shell, nothing could resume us, and the kernel doesn't stop us. Sent to
        # this thread, because it must not continue before the whole process is stopped.
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        self._terminal.begin_raw()
        self.resize()
        with suppress(ProcessLookupError):
            os.kill(self._opener, signal.SIGCONT)

    def _show_notice(self) -> None:
        notice = self._notice
        if notice != self._shown and not self._is_lost and self._output.can_be_broken:
            self._shown = notice
            rows, columns, *_ = self._terminal.size
            line = notice[: columns - 2].encode()
            self._terminal.write(b"\x1b7\x1b[%d;1H\x1b[2K\x1b[7m %b \x1b[0m\x1b8" % (rows, line))


def _read(file: int) -> bytes | None:
    """The available data; None if there isn't any, now or ever."""
    try:
        return os.read(file, _PIECE) or None
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno in (errno.EIO, errno.EBADF):
            return None
        raise
