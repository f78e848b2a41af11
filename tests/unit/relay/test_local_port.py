"""The port that a relay has for hooks: for its own user, and for nothing but hooks."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import users

from callboard.board.spool.files import Spool
from callboard.relay.hooks import RelayHooks
from callboard.relay.outbox import Outbox
from callboard.testing.fake_clock import FakeClock

TOKEN = "cb_a-token-for-hooks"
# Another user is refused before the request is read, so it waits for that.
ASK = """
import socket, sys
port, token = sys.argv[1:]
with socket.create_connection(("127.0.0.1", int(port))) as there:
    there.settimeout(1)
    try:
        reply = there.recv(100)
    except TimeoutError:
        head = f"POST /hooks/claude HTTP/1.1\\r\\nAuthorization: Bearer {token}\\r\\n"
        there.sendall(f'{head}Content-Length: 7\\r\\n\\r\\n{{"a":1}}'.encode())
        reply = there.recv(100)
print(reply.split()[1].decode())
"""


@dataclass
class Port:
    """The relay's port, and what came in there."""

    outbox: Outbox
    number: int

    async def send(self, method: str, path: str, body: object = None, token: str = TOKEN) -> int:
        """Send a request as this user; returns the status."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.number)
        content = json.dumps(body).encode()
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        reply = await reader.read()
        writer.close()
        return int(reply.split()[1])

    async def send_as(self, *user: str) -> int:
        """Send a hook in a process that starts with this."""
        process = await asyncio.create_subprocess_exec(
            *user, sys.executable, "-I", "-S", "-c", ASK,
            str(self.number), TOKEN, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        told, _ = await process.communicate()
        return int(told)


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[Port]:
    outbox = Outbox(tmp_path / "outbox")
    outbox.open()
    spool = Spool(tmp_path / "hooks", FakeClock())
    hooks = RelayHooks(outbox, spool, TOKEN, lambda: None)
    server = await asyncio.start_server(hooks.serve, "127.0.0.1", 0)
    async with server:
        yield Port(outbox, server.sockets[0].getsockname()[1])
    spool.close()


@pytest.mark.parametrize(
    "path",
    [
        "/interactions/q1/answer",
        "/hooks/../interactions/q1/answer",
        "/hooks/claude/../../interactions/q1/answer",
        "/inbox",
        "/relay/commands",
        "/relay/reports",
        "/hosts/x/check",
        "/",
    ],
)
async def test_nothing_can_be_answered_there(port: Port, path: str):
    for method in ("POST", "GET", "PUT", "DELETE"):
        assert await port.send(method, path, {"approved": True}) == 404
    assert len(port.outbox) == 0


async def test_only_hooks_that_have_the_token_are_taken(port: Port):
    for token in ("", "cb_wrong", f"{TOKEN}x", TOKEN[:-1]):
        assert await port.send("POST", "/hooks/claude", {"a": 1}, token) == 401
    assert len(port.outbox) == 0
    assert await port.send("POST", "/hooks/claude", {"a": 1}) == 200
    assert len(port.outbox) == 1


@pytest.mark.skipif(not users.are_there(), reason="only root can run processes as other users")
async def test_hooks_of_other_users_are_refused_even_with_the_token(port: Port):
    assert await port.send_as(*users.as_user()) == 403
    assert await port.send_as(*users.as_user(users.OTHER)) == 403
    assert len(port.outbox) == 0
    assert await port.send_as() == 200
    assert len(port.outbox) == 1
