"""An agent as the only job of a pseudo-terminal whose session we lead.

When we die, the kernel hangs up on the agent.
"""

import contextlib
import errno
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Sequence
from typing import Final

from callboard.terminals.job_control import paused_job

_PIECE: Final = 65_536
_SIZE: Final = struct.Struct("HHHH")


class AgentJob:
    """The agent and the terminal that it has. pid: its process, which waits to be let go."""

    def __init__(self, words: Sequence[str], rows: int, columns: int) -> None:
        """Call this in a process that leads its session and has no other threads."""
        self.terminal, slave = os.openpty()
        self.resize(rows, columns)
        # The agent has it as its standard input and output, and so do we until it has it.
        for number in (0, 1, 2):
            os.dup2(slave, number)
        os.close(slave)
        self.pid, self._go = paused_job(list(words))
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        os.set_blocking(self.terminal, False)
        self.status: int | None = None

    def let_go(self) -> None:
        """Let it run."""
        os.close(self._go)

    def resize(self, rows: int, columns: int) -> None:
        """Resize its terminal. The agent gets a signal."""
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, _SIZE.pack(rows, columns, 0, 0))

    def read(self) -> bytes:
        """What it printed; empty if there is nothing now."""
        try:
            return os.read(self.terminal, _PIECE)
        except BlockingIOError:
            return b""
        except OSError as error:
            if error.errno == errno.EIO:  # Nothing has the terminal open anymore.
                return b""
            raise

    def write(self, data: bytes) -> int:
        """Type; returns how many bytes it took."""
        try:
            return os.write(self.terminal, data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)

    def look(self) -> None:
        """Notice its end. One that was suspended runs on: there is no shell to return to."""
        if self.status is not None:
            return
        pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            self.send(signal.SIGCONT, to_all=True)
        else:
            self.status = status

    def send(self, number: signal.Signals, *, to_all: bool = False) -> None:
        """Send it a signal; to_all: also to its child processes."""
        if self.status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.killpg if to_all else os.kill)(self.pid, number)
