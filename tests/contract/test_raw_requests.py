"""Requests as bytes: trailers, and clients that leave in the middle."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers import TOKEN, Server, serving

from callboard.server.access import hook_bodies
from callboard.server.access.hook_bodies import read_beginning
from callboard.server.memory import MemoryBudget

QUESTION = json.dumps({"type": "approval", "prompt": "Go on?"}).encode()
KEY = f"Authorization: Bearer {TOKEN}\r\n"
PAYLOAD = {"session_id": "s-1", "cwd": "/", "hook_event_name": "PermissionRequest"}
ASKS = json.dumps({**PAYLOAD, "tool_name": "Bash", "tool_input": {"command": "ls"}}).encode()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with serving(tmp_path / "x.db") as server:
        yield server


def head(path: str, more: str, method: str = "POST") -> bytes:
    start = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{start}{more}\r\n".encode()


def chunked(body: bytes, trailers: str) -> bytes:
    return b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, trailers.encode())


async def answer(server: Server, sent: bytes, *, read: int = 1) -> list[tuple[int, Any]]:
    """The status and body of the first answers to some bytes, sent in one piece."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(sent)
    found: list[tuple[int, Any]] = []
    async with asyncio.timeout(90):
        for _ in range(read):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
            fields = dict(line.split(": ", 1) for line in lines[1:] if line)
            body = await reader.readexactly(int(fields["content-length"]))
            found.append((int(lines[0].split()[1]), json.loads(body)))
    writer.close()
    return found


async def test_trailers_are_no_headers(server: Server):
    asks = head("/interactions", "Transfer-Encoding: chunked\r\n")
    ((status, told),) = await answer(server, asks + chunked(QUESTION, KEY))
    assert (status, told["error"]["code"]) == (401, "UNAUTHENTICATED")
    asks = head("/interactions", f"{KEY}Transfer-Encoding: chunked\r\n")
    for trailers in (
        "Host: evil.example\r\n",
        KEY,
        "Origin: https://evil.example\r\n",
        "Content-Type: text/plain\r\nX-Forwarded-For: 10.0.0.1\r\nExpect: 100-continue\r\n",
        "Callboard-Via: terminal\r\nCookie: callboard=x\r\nLast-Event-ID: 9\r\n",
    ):
        sent = (asks + chunked(QUESTION, trailers)) * 2
        first, second = await answer(server, sent, read=2)
        assert (first[0], second[0]) == (201, 201)
        assert first[1]["prompt"] == "Go on?"
    endless = "".join(f"X-{number}: {'x' * 100}\r\n" for number in range(10_000))
    ((status, told),) = await answer(server, asks + chunked(QUESTION, endless)[:-2])
    assert (status, told["error"]["code"]) == (431, "TOO_LARGE")


async def leave(server: Server, sent: bytes, how: str) -> None:
    """Send the beginning of a request and go."""
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(sent)
    if how == "half-close":
        client.shutdown(socket.SHUT_WR)
        await asyncio.to_thread(client.recv, 1)
    if how == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def troubles(server: Server) -> list[str]:
    told = [json.loads(line) for line in server.log if line.startswith("{")]
    loud = [line for line in server.log if not line.startswith("{")]
    return loud + [one["message"] for one in told if one["level"] not in ("info", "debug")]


async def test_who_leaves_in_the_middle_of_a_body_is_no_error(tmp_path: Path):
    async with serving(tmp_path / "x.db", options=["--log-format=json"]) as server:
        async with server.client() as client:
            paths = (await client.get("/openapi.json")).json()["paths"]
        requests = [(path, method.upper()) for path in paths for method in paths[path]]
        requests += [("/nowhere", "POST"), ("/app/", "GET"), ("/hooks/unknown", "POST")]
        for number, (path, method) in enumerate(requests):
            how = ("close", "half-close", "reset")[number % 3]
            path = path.replace("{", "").replace("}", "")
            for framing, part in (
                ("Content-Length: 1000", b"{"),
                ("Content-Length: 900000", b"{" * 100_000),
                ("Transfer-Encoding: chunked", b"ff\r\n{"),
                ("Transfer-Encoding: chunked", b"1\r\n{\r\n0\r\nX-A: "),
                ("Content-Length: 10\r\nExpect: 100-continue", b""),
            ):
                await leave(server, head(path, f"{KEY}{framing}\r\n", method) + part, how)
        async with server.client() as client:
            assert (await client.get("/health")).status_code == 200
        await server.stop()
        assert troubles(server) == []


async def test_a_held_hook_is_let_go_whatever_was_sent_behind_it(server: Server):
    """Its client is gone, though the beginning of another request came after it."""
    asked = head("/hooks/claude", f"{KEY}Content-Length: {len(ASKS)}\r\n") + ASKS
    behind = head("/hooks/claude", f"{KEY}Content-Length: 100\r\n") + b"{"
    gone = socket.create_connection(("127.0.0.1", server.port))
    gone.sendall(asked + behind)
    async with server.client() as client, asyncio.timeout(90):
        pending = "/interactions?status=pending"
        while not (await client.get(pending)).json()["interactions"]:
            await asyncio.sleep(0.02)
        gone.close()
        while (await client.get(pending)).json()["interactions"]:
            await asyncio.sleep(0.02)


async def test_a_hook_without_end_is_answered(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hook_bodies, "_MOST", 10)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"four", "more_body": True}

    holding = MemoryBudget(1_000_000).holding("127.0.0.1", lambda: None)
    assert await read_beginning(receive, 6, holding) == b"fourfo"
