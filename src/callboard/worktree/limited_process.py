"""A program that runs for a limited time, with everything that it starts."""

import os
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Final

from callboard.systems.current import system

_MOST_DATA: Final = 1024 * 1_048_576
"""Bytes that it may use, besides files that it maps: a repository may link to what never ends."""


@contextmanager
def limited(
    command: Sequence[str | bytes],
    folder: str,
    environment: Mapping[str, str],
    seconds: float,
    *,
    given: IO[bytes] | int = subprocess.DEVNULL,
    errors: IO[bytes] | int = subprocess.DEVNULL,
) -> Generator["subprocess.Popen[bytes]"]:
    """Run it; its output is a pipe, and it ends when the time is over, or at the end of the block.

    OSError if it can't be started. given: what it reads. errors: where it complains.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
        umask=0o077,
    )
    system.limit_data(process.pid, _MOST_DATA)
    timer = threading.Timer(seconds, _kill, [process])
    timer.daemon = True
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        _kill(process)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # Until its end was asked for, its number is its own: what it has started may outlive it, and
    # keep the pipe open.
    if process.returncode is not None:
        return
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
