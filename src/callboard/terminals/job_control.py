"""Runs a program in a terminal of its own as a shell would: as a job that can be suspended.

Run as `python -I -S job_control.py FD PROGRAM ARGUMENT …`, with the terminal as standard input. It
leads the terminal's session, so that the program's process group has a parent in it; otherwise the
kernel wouldn't let the program be suspended. It writes the program's process id to FD, stops when
the program stops, resumes it when it is resumed itself, and exits as the program does.
"""

import fcntl
import os
import resource
import signal
import sys
import termios
from collections.abc import Callable
from types import FrameType

_PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
_CHANGED = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python changes for itself, reset for the program."""


def main(told: int, words: list[str]) -> None:
    """Run it to its end."""
    os.set_inheritable(told, False)  # Who reads the id reads to the end.
    pid, go = paused_job(words)
    for number in _PASSED_ON:
        signal.signal(number, _passing_on(pid))
    os.write(told, str(pid).encode())
    os.close(told)
    os.close(go)
    _end_like(_watch(pid))


def paused_job(words: list[str]) -> tuple[int, int]:
    """Prepare a program on the terminal that is standard input, which becomes ours.

    Returns its process id, and the descriptor that lets it run when it is closed.
    """
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # We hand over the terminal from the background.
    wait, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        os.read(wait, 1)  # Until it is in the foreground.
        _become(words)
    os.close(wait)
    os.setpgid(pid, pid)
    os.tcsetpgrp(0, pid)
    return pid, go


def _become(words: list[str]) -> None:
    for number in (signal.SIGTTOU, *_CHANGED):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(words[0], words)
    except OSError as error:
        os.write(2, f"{words[0]} cannot be started: {error.strerror}\n".encode())
    os._exit(127)


def _passing_on(pid: int) -> Callable[[int, FrameType | None], None]:
    def pass_on(number: int, frame: FrameType | None) -> None:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return

    return pass_on


def _watch(pid: int) -> int:
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return status
        os.kill(os.getpid(), signal.SIGSTOP)
        os.tcsetpgrp(0, pid)
        os.killpg(pid, signal.SIGCONT)


def _end_like(status: int) -> None:
    if not os.WIFSIGNALED(status):
        os._exit(os.waitstatus_to_exitcode(status))
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    number = os.WTERMSIG(status)
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
