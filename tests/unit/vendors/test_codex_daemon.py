"""Codex's app server: which terminal shows a session, and what the server says of its threads."""

import asyncio
import struct
from contextlib import closing
from pathlib import Path

import pytest
from tests.codex_app_server import SESSION, SWITCHED, PlayedAppServer, framed, listening, unmasked
from tests.real_clients.patience import until

from callboard.vendors.codex import app_server
from callboard.vendors.codex.app_server import AppServer
from callboard.vendors.codex.daemon import Program, chosen
from callboard.vendors.codex.websocket import LARGEST, WebSocket, WebSocketError

MADE_MS = 0x01A1E879F446


def program(pid: int, began: int, folder: str = "/p", *words: str) -> Program:
    """One that began so many milliseconds after the session was made."""
    return Program(pid, str(pid), MADE_MS + began, folder, ("codex", *words))


@pytest.mark.parametrize(
    ("programs", "pid"),
    [
        ([], None),
        ([program(1, -500, "/q")], None),
        ([program(1, -500)], 1),
        ([program(1, -9000), program(2, -500), program(3, 800)], 2),
        ([program(1, -500), program(2, 9000, "/q", "resume", SESSION)], 2),
        ([program(1, 5000)], 1),
        ([program(1, -500, "/", "-C", "p")], 1),
        ([program(1, -500, "/", "--cd=/p"), program(2, -400, "/")], 1),
        ([program(1, -500, "/p", "app-server"), program(2, -400, "/p", "--no-daemon")], None),
    ],
)
def test_the_terminal_of_a_session(programs: list[Program], pid: int | None):
    found = chosen(SESSION, "/p", programs)
    assert (found and found.pid) == pid


def test_a_session_without_a_folder_has_no_terminal():
    assert chosen(SESSION, "", [program(1, -500, str(Path.cwd()))]) is None


# ---------------------------------------------------------------------- the socket

SENT = {
    "small": (SWITCHED + framed(b"hello"), b"hello"),
    "large": (SWITCHED + framed(b"x" * 70_000), b"x" * 70_000),
    "in parts around a ping": (
        SWITCHED + framed(b"hel", 0x01) + framed(b"", 0x89) + framed(b"lo", 0x80),
        b"hello",
    ),
    "closed": (SWITCHED + framed(b"bye", 0x88), None),
    "hung up": (SWITCHED, None),
    "too large": (SWITCHED + bytes([0x81, 127]) + struct.pack("!Q", LARGEST + 1), None),
    "too large in parts": (SWITCHED + framed(b"x" * LARGEST, 0x01) + framed(b"x", 0x80), None),
    "not found": (b"HTTP/1.1 404 Not Found\r\n\r\n", None),
    "no head": (b"what?", None),
    "endless head": (b"x" * 100_000, None),
}


@pytest.mark.parametrize(("sent", "received"), SENT.values(), ids=SENT)
async def test_a_message_is_whole_or_the_connection_ends(
    tmp_path: Path, sent: bytes, received: bytes | None
):
    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        if received is not None:
            await reader.read()

    async with listening(tmp_path / "s", peer) as path:
        if received is not None:
            with closing(await WebSocket.open(path)) as socket:
                assert await socket.receive() == received
            return
        with pytest.raises(WebSocketError), closing(await WebSocket.open(path)) as socket:
            await socket.receive()


@pytest.mark.parametrize("size", [0, 5, 125, 126, 65_535])
async def test_what_is_sent_arrives(tmp_path: Path, size: int):
    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SWITCHED)
        writer.write(framed(await unmasked(reader)))
        await writer.drain()

    async with listening(tmp_path / "s", peer) as path:
        with closing(await WebSocket.open(path)) as socket:
            await socket.send(b"\0" + b"y" * (size - 1) if size else b"")
            assert len(await socket.receive()) == size


# ---------------------------------------------------------------------- its threads


async def test_threads_are_followed_and_forgotten(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(app_server, "TRY_AGAIN", 0.01)
    link, server = tmp_path / "link", PlayedAppServer()
    link.symlink_to(tmp_path / "s")
    follower = AppServer(lambda: link)

    async def says(status: str | None, since: int = 0) -> None:
        def look() -> bool:
            known = follower.thread(SESSION)
            return (known and (known.status, known.changed_at)) == (status and (status, since))

        await until(look, f"{status} since {since}; it is {follower.thread(SESSION)}")

    follower.follow(True)
    assert follower.thread(SESSION) is None, "there is no server"
    async with listening(tmp_path / "s", server):
        follower.follow(True)
        await says("busy")
        server.changes(5, type="active", activeFlags=["waitingOnApproval"])
        await says("waiting", 5)
        server.changes(6, type="active", activeFlags=["waitingOnApproval", "new"])
        server.changes(7, type="idle")
        await says("idle", 7)
        server.changes(8, type="notLoaded")
        await says(None)
        assert server.writer is not None
        server.writer.close()
        await says("busy")
        follower.follow(False)
        await says(None)
    await follower.stop()
