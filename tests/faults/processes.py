"""Processes that tests kill, and that are gone with the test."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from callboard.testing.log_suite_material import PATIENCE

ROOT = Path(__file__).parents[2]

StartProcess = Callable[..., Awaitable[Process]]
OpenLogs = Callable[..., Any]


async def kill(process: Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    assert process.stdout is not None
    await process.communicate()


async def heard(process: Process) -> str:
    """The next line that the other process says."""
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE):
        line = await process.stdout.readline()
    assert line, "the other process ended"
    return line.decode().strip()


def tell(process: Process, word: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{word}\n".encode())


@asynccontextmanager
async def living(
    module: str, *options: str | Path, stdin: int | None = None
) -> AsyncGenerator[Process]:
    """A module of these tests in a process that is dead at the end, whatever happens."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"tests.faults.{module}", *map(str, options)),
        stdin=stdin,
        stdout=PIPE,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
