"""A process that plays a coding agent, and starts others that answer what it asks.

Each line that it reads is a job: how a child of it sends a request. Each line that it writes is
what the child was told: a status, or nothing when it did not wait for one.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

PATIENCE = 90

# -I -S: many of these are started, and all they need is a socket.
_PYTHON = (sys.executable, "-I", "-S", "-c")

_AGENT = """
import json, subprocess, sys
for line in sys.stdin:
    child = json.loads(line)
    done = subprocess.run(child, stdout=subprocess.PIPE, text=True)
    print(json.dumps(done.stdout.strip()), flush=True)
"""

_CHILD = """
import json, os, socket, struct, sys, time
job = json.loads(sys.argv[1])
connection = socket.socket()
if job["device"]:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, job["device"].encode())
connection.connect((job["host"], job["port"]))
if job["warm"]:  # The connection is used for something harmless first.
    connection.sendall(job["warm"].encode())
    told = b""
    while b'"ok"' not in told:
        told += connection.recv(65536)
how = job["how"]
if how == "hide":
    import ctypes
    ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE: nobody sees which files are open here.
connection.sendall(job["request"].encode())
if how == "half-close":
    connection.shutdown(socket.SHUT_WR)
elif how == "close":
    connection.close()
elif how == "reset":
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
elif how == "inherit":
    # A grandchild holds the socket as well; whoever of the two is found, it is the agent's.
    if os.fork():
        connection.close()
        os.wait()
        os._exit(0)
if how not in ("close", "reset"):
    answer = b""
    while part := connection.recv(65536):
        answer += part
    told = answer.split(b" ")[1].decode() if answer else ""
    if job["sought"]:
        told += " with" if job["sought"].encode() in answer else " without"
    print(told, flush=True)
    os._exit(0)
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A request, and how the connection ends that it is sent over.

    sought: what is looked for in the response, which is then told beside the status.
    """

    port: int
    request: str
    how: str = "wait"
    warm: str = ""
    device: str = ""
    host: str = "127.0.0.1"
    sought: str = ""


def request(path: str, body: Any, token: str) -> str:
    """The text of a POST request."""
    content = json.dumps(body)
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        f"Connection: close\r\n\r\n{content}"
    )


def sending(job: Job) -> list[str]:
    """The command of a process that sends a request."""
    told = {name: getattr(job, name) for name in Job.__slots__}
    return [*_PYTHON, _CHILD, json.dumps(told)]


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent's process; whatever it starts is a descendant of it."""

    process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        return self.process.pid

    async def send(self, job: Job, before: Sequence[str] = ()) -> str:
        """Let a child send a request; the status that it was told.

        before: what its command begins with.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        command = [*before, *sending(job)]
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self.process.stdout.readline())


@asynccontextmanager
async def agent(*before: str) -> AsyncGenerator[Agent]:
    """An agent; `before` is what its command begins with, where it runs as another user."""
    process = await asyncio.create_subprocess_exec(
        *before,
        *_PYTHON,
        _AGENT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Agent(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def send(job: Job, before: Sequence[str] = ()) -> str:
    """Send a request from a process that is none of an agent's; the status that it was told."""
    process = await asyncio.create_subprocess_exec(
        *before, *sending(job), stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        told, _ = await process.communicate()
    return told.decode().strip()
