"""Processes that tests kill, and that are gone with the test."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
