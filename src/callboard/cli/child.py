"""A program in our terminal, in our place: what happens to the one happens to the other."""

import os
import resource
import signal
from dataclasses import dataclass
from typing import Final, Self

_HELD: Final = (
    signal.SIGCHLD,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGTSTP,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""What we wait for, instead of letting it happen to us."""
_CHANGED: Final = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
"""What Python has changed for itself, and the program must find as it was."""
_OF_TERMINALS: Final = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP})
_BY_KERNEL: Final = 128
_NEWS: Final = os.WNOHANG | os.WUNTRACED | os.WCONTINUED


@dataclass(frozen=True, slots=True)
class Child:
    """A program that was started here.

    It is in our process group, so the terminal is as much its own as ours; we never touch it.
    """

    pid: int

    @classmethod
    def start(cls, words: tuple[str, ...]) -> Self:
        """Start it; an OSError when that cannot be done."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # Whoever started us may have ignored it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
        try:
            pid = os.posix_spawnp(
                words[0],
                words,
                os.environ,
                setsigmask=before,
                setsigdef=[one for one in _CHANGED if signal.getsignal(one) != signal.SIG_DFL],
            )
        except OSError:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise
        return cls(pid)

    def wait(self) -> int:
        """Until it ends; gives its status, as `os.waitpid` does."""
        while True:
            number, is_shared = _next_signal()
            if number != signal.SIGCHLD:
                if not is_shared:
                    self._send(number)
                continue
            ended = self._look()
            if ended is not None:
                return ended

    def _look(self) -> int | None:
        """Its status if it has ended. While it is stopped, so are we."""
        is_stopped = False
        while True:
            pid, status = os.waitpid(self.pid, _NEWS)
            if pid == 0:
                if not is_stopped:
                    return None
                # Only we were woken. A shell wakes us both, and to wake it again then could undo
                # the next Ctrl-Z.
                self._send(signal.SIGCONT)
                is_stopped = False
            elif os.WIFSTOPPED(status):
                # Whoever started us sees a job that is stopped, and can let it go on.
                os.kill(os.getpid(), signal.SIGSTOP)
                is_stopped = True
            elif os.WIFCONTINUED(status):
                is_stopped = False
            else:
                return status

    def _send(self, number: int) -> None:
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return


def end_like(status: int) -> int:
    """End as a program did: its exit code, or the signal that ended it."""
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    number = os.WTERMSIG(status)
    # One core is enough.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    return 128 + number


def _next_signal() -> tuple[int, bool]:
    """The next signal, and whether it went to the program as well."""
    if not hasattr(signal, "sigwaitinfo"):
        number = signal.sigwait(_HELD)
        return number, number in _OF_TERMINALS
    told = signal.sigwaitinfo(_HELD)
    # What a terminal sends, it sends to all of its foreground.
    return told.si_signo, told.si_code == _BY_KERNEL
