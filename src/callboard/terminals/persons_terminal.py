"""The person's terminal: raw while an agent has it, and always restored afterwards."""

import fcntl
import os
import signal
import struct
import sys
import termios
import tty
from contextlib import suppress
from typing import Final

_SIZE: Final = struct.Struct("HHHH")


class PersonsTerminal:
    """Standard input and output, if both are the same terminal."""

    def __init__(self) -> None:
        self.input = sys.stdin.fileno()
        self.output = sys.stdout.fileno()
        self._before: list[int | list[bytes | int]] | None = None

    @property
    def is_there(self) -> bool:
        """Whether it is interactive."""
        return os.isatty(self.input) and os.isatty(self.output)

    @property
    def size(self) -> tuple[int, int, int, int]:
        """Rows and columns, and the size in pixels."""
        try:
            told = fcntl.ioctl(self.output, termios.TIOCGWINSZ, bytes(_SIZE.size))
        except OSError:
            return 24, 80, 0, 0
        rows, columns, width, height = _SIZE.unpack(told)
        return rows or 24, columns or 80, width, height

    def copy_size(self, to: int) -> None:
        """Give another terminal the same size."""
        with suppress(OSError):
            fcntl.ioctl(to, termios.TIOCSWINSZ, _SIZE.pack(*self.size))

    def copy_manners(self, to: int) -> None:
        """Give another terminal the same key settings."""
        with suppress(termios.error):
            termios.tcsetattr(to, termios.TCSANOW, termios.tcgetattr(self.input))

    def begin_raw(self) -> None:
        """Pass every key through unchanged."""
        with suppress(termios.error):
            before = termios.tcgetattr(self.input)
            tty.setraw(self.input, termios.TCSADRAIN)
            self._before = before

    def end_raw(self) -> None:
        """Restore the terminal; does nothing if it wasn't raw, or is gone."""
        if self._before is None:
            return
        # A process in the background would be stopped by this.
        ignored = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
        with suppress(termios.error):
            termios.tcsetattr(self.input, termios.TCSADRAIN, self._before)
        signal.pthread_sigmask(signal.SIG_SETMASK, ignored)
        self._before = None

    def write(self, data: bytes) -> None:
        """Write everything; nothing if the terminal is gone."""
        while data:
            try:
                data = data[os.write(self.output, data) :]
            except OSError:
                return
