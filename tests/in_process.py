"""The `callboard` command in this process, which is quicker than a process of its own."""

import os
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from threading import Thread
from unittest.mock import patch

from callboard.cli.main import run_command


def run_here(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str]
) -> tuple[int, str, str]:
    """Run a command to its end; its exit code, and what it wrote on both streams."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        chdir(folder),
        patch.dict(os.environ, env, clear=True),
        patch.object(sys, "path", [*sys.path]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = run_command(arguments)
    return code, _written(out), _written(err)


def run_at_terminal(
    arguments: Sequence[str], folder: Path, env: Mapping[str, str]
) -> tuple[int, str]:
    """Run a command where a person sits who only reads; its exit code, and what they saw."""
    outside, inside = os.openpty()
    termios.tcsetwinsize(inside, (40, 200))
    seen: list[bytes] = []
    reading = Thread(target=_read_all, args=(outside, seen))
    reading.start()
    with ExitStack() as stack:
        stack.enter_context(chdir(folder))
        stack.enter_context(patch.dict(os.environ, env, clear=True))
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            stream = stack.enter_context(os.fdopen(os.dup(inside), mode, encoding="utf-8"))
            stack.enter_context(patch.object(sys, name, stream))
        os.close(inside)
        code = run_command(arguments)
    reading.join()
    os.close(outside)
    return code, b"".join(seen).decode()


def _read_all(terminal: int, seen: list[bytes]) -> None:
    """Read until the last who had the other end has closed it."""
    while True:
        try:
            seen.append(os.read(terminal, 65_536))
        except OSError:
            return


def _written(stream: TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
