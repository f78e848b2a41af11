"""A real server in a process of its own, for whatever test wants one."""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

TOKEN = "cb_a-token-for-tests"
READY_WITHIN = 90
_NO_TLS = ssl.create_default_context()
"""Loading certificates takes 40 ms, which is too much for each look at a server."""


@dataclass
class Server:
    """`callboard serve` on one database, which can be killed and started again."""

    db: Path
    files: Sequence[str]
    options: Sequence[str] = ()
    env: dict[str, str] = field(default_factory=dict)
    before: Sequence[str] = ()
    """What its command begins with, where it runs as another user."""
    program: Sequence[str] = ("-m", "callboard")
    """How Python is told to be the command."""
    token: str = TOKEN
    """The admin token."""
    url: str = ""
    process: asyncio.subprocess.Process | None = None
    log: list[str] = field(default_factory=list)
    _reading: asyncio.Task[None] | None = None

    async def start(self, port: int = 0) -> None:
        """Start it, and return when it listens."""
        self.process = await asyncio.create_subprocess_exec(
            *self.before,
            sys.executable,
            *self.program,
            "serve",
            *self.files,
            f"--db={self.db}",
            f"--port={port}",
            "--json",
            *self.options,
            env={**os.environ, "CALLBOARD_TOKEN": self.token, **self.env},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self._reading = asyncio.create_task(self._read_log())
        async with asyncio.timeout(READY_WITHIN):
            line = await self.process.stdout.readline()
        if not line:
            await self._reading
            raise AssertionError("the server did not start:\n" + "\n".join(self.log))
        self.url = json.loads(line)["url"]

    async def _read_log(self) -> None:
        assert self.process is not None
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.log.append(line.decode().rstrip())

    async def restart(self) -> None:
        """Start it again, at the same port."""
        await self.start(self.port)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit code."""
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

    def client(self, token: str | None = "") -> httpx.AsyncClient:
        """An HTTP client of it: of the admin, of another token's holder, or without a token."""
        known = self.token if token == "" else token
        headers = {"Authorization": f"Bearer {known}"} if known else {}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=120, verify=_NO_TLS)


@contextmanager
def served(folder: Path, flows: str) -> Generator[str]:
    """The URL of a server for this source of workflows; it needs no event loop."""
    (folder / "flows.py").write_text(flows, encoding="utf-8")
    command = [sys.executable, "-m", "callboard", "serve", "flows.py"]
    with subprocess.Popen(
        [*command, "--db=t.db", "--port=0", "--json"],
        cwd=folder,
        env={**os.environ, "CALLBOARD_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"]
        process.terminate()


@asynccontextmanager
async def serving(db: Path, *files: str | Path, **more: object) -> AsyncGenerator[Server]:
    """A server that is stopped at the end."""
    server = Server(db, [str(file) for file in files], **more)  # type: ignore[arg-type]
    try:
        await server.start()
        yield server
    finally:
        if server.process is not None and server.process.returncode is None:
            await server.stop(signal.SIGKILL)
