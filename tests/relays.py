"""A relay in a process of its own, with its own home: another machine, as far as it can tell."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers import READY_WITHIN, Server

import callboard.hookclient
from callboard.relay.settings import hooks_of


@dataclass
class RelayProcess:
    """`callboard relay`, which can be killed and started again."""

    home: Path
    name: str
    command: Sequence[str] = ("-m", "callboard", "relay")
    """How Python is told to be the relay."""
    hook_command: Sequence[str] = ("-I", "-S", str(callboard.hookclient.__file__))
    """How Python is told to be a hook."""
    before: Sequence[str] = ()
    """What its commands begin with, if it is on another network."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What it finds in its environment besides ours."""
    process: asyncio.subprocess.Process | None = None
    log: list[str] = field(default_factory=list)
    _reading: asyncio.Task[None] | None = None

    @property
    def folder(self) -> Path:
        return self.home / "callboard" / "relay"

    @property
    def hooks(self) -> Path:
        return hooks_of(self.folder)

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "XDG_DATA_HOME": str(self.home), **self.environment}

    async def start(self, *options: str) -> None:
        """Start it, and return when hooks find it."""
        (self.hooks / "connection").unlink(missing_ok=True)
        self.process = await asyncio.create_subprocess_exec(
            *self.before, sys.executable, *self.command, *options,
            env=self.env, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        self._reading = asyncio.create_task(self._read_log())
        async with asyncio.timeout(READY_WITHIN):
            while not (self.hooks / "connection").exists():
                assert self.process.returncode is None, self.log
                await asyncio.sleep(0.02)

    async def _read_log(self) -> None:
        assert self.process is not None
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.log.append(line.decode().rstrip())

    async def pair(self, server: Server, url: str = "", *options: str) -> None:
        """Pair with a server and start. url: where it is for this machine."""
        code = await pairing_code(server)
        there = ["--server", url or server.url, "--pair", code]
        await self.start(*there, "--name", self.name, *options)

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(how)
        async with asyncio.timeout(READY_WITHIN):
            code = await self.process.wait()
            if self._reading is not None:
                await self._reading
        return code

    async def kill(self) -> None:
        """End it as a crash would."""
        await self.stop(signal.SIGKILL)

    async def hook(self, payload: dict[str, Any], *more: str) -> asyncio.subprocess.Process:
        """Start the real client of a hook with a payload."""
        process = await asyncio.create_subprocess_exec(
            *self.before, sys.executable, *self.hook_command, str(self.hooks), "claude", *more,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        return process


async def pairing_code(server: Server) -> str:
    """What `callboard pair` prints on the server's machine."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "callboard", "pair", f"--db={server.db}", "--json",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    told, _ = await process.communicate()
    code: str = json.loads(told)["code"]
    return code


async def printed(process: asyncio.subprocess.Process) -> Any:
    """What a hook printed, as JSON; None for nothing."""
    async with asyncio.timeout(READY_WITHIN):
        told, complaints = await process.communicate()
    assert (process.returncode, complaints) == (0, b"")
    return json.loads(told) if told else None


def relaying(home: Path, name: str, server: Server) -> AbstractAsyncContextManager[RelayProcess]:
    """A paired relay that is stopped at the end."""
    return relaying_through(home, name, server, server.url)


@asynccontextmanager
async def relaying_through(
    home: Path, name: str, server: Server, url: str, *options: str
) -> AsyncGenerator[RelayProcess]:
    """The same, for a server that it reaches at another address."""
    relay = RelayProcess(home, name)
    async with relaying_as(relay, server, url, *options):
        yield relay


@asynccontextmanager
async def relaying_as(
    relay: RelayProcess, server: Server, url: str = "", *options: str
) -> AsyncGenerator[None]:
    """Pair and run this relay."""
    try:
        await relay.pair(server, url, *options)
        yield
    finally:
        if relay.process is not None and relay.process.returncode is None:
            await relay.stop(signal.SIGKILL)
