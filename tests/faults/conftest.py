"""A log at the address that a module's own fixture `address` gives, here and in other processes."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.log_process import open_log
from tests.faults.processes import OpenLogs, StartProcess, kill

CHILD = Path(__file__).with_name("log_process.py")


@pytest.fixture
async def start(address: str) -> AsyncIterator[StartProcess]:
    """Start another process that uses the database; whatever is left is killed at the end."""
    started: list[Process] = []

    async def start(role: str, name: str = "other") -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, CHILD, role, address, name, stdin=PIPE, stdout=PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        await kill(process)


@pytest.fixture
async def opened(address: str) -> AsyncIterator[OpenLogs]:
    """Open the database, as often as needed; whatever is left is closed at the end."""
    logs: list[Any] = []

    def opened(at: str = address, **options: float) -> Any:
        logs.append(open_log(at, **options))
        return logs[-1]

    yield opened
    for log in logs:
        await log.close()
