"""A server that a test answers for by hand, and the client of the hooks that calls it."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard import hookclient
from callboard.board.hook_folders import make_folders, write_connection

PATIENCE = 90
TOKEN = "cb_token-for-hooks"
SCRIPT = str(hookclient.__file__)


@dataclass
class Call:
    """One request, and the connection on which it waits."""

    connection: socket.socket
    head: str
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def hold(self) -> str | None:
        return self.json["callboard"].get("hold")

    def answer(self, told: Any, status: str = "200 OK") -> None:
        content = json.dumps(told).encode()
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n\r\n"
        self.say(head.encode() + content)

    def say(self, raw: bytes) -> None:
        """Send exactly this, and close."""
        self.connection.sendall(raw)
        self.connection.close()

    def cut(self) -> None:
        """End the connection as the death of a server does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


@dataclass
class HandServer:
    """Listens where the hooks' connection file says."""

    folder: Path
    listening: socket.socket = field(
        default_factory=lambda: socket.create_server(("127.0.0.1", 0), backlog=16)
    )

    connections: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listening.settimeout(PATIENCE)
        write_connection(self.folder, f"127.0.0.1:{self.listening.getsockname()[1]}", TOKEN)

    def call(self) -> Call:
        """Wait for the next request, and read all of it."""
        connection, _ = self.listening.accept()
        self.connections.append(connection)
        connection.settimeout(PATIENCE)
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(65536)
        head, _, body = got.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        while len(body) < length:
            body += connection.recv(1 << 20)
        return Call(connection, head.decode(), body)

    def stop(self) -> None:
        """Listen no more; calls that wait are left waiting."""
        self.listening.close()

    def close(self) -> None:
        self.stop()
        for connection in self.connections:
            connection.close()


@dataclass
class Client:
    """The client, as an agent would start it."""

    folder: Path
    cwd: Path
    env: dict[str, str] = field(default_factory=dict)
    running: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start(
        self,
        payload: bytes | None,
        *more: str,
        agent: str = "claude",
        env: Mapping[str, str] | None = None,
        words: Sequence[str] | None = None,
    ) -> "subprocess.Popen[bytes]":
        """Start it, with the payload on its way; None leaves its input open."""
        usual = [sys.executable, "-I", "-S", SCRIPT, str(self.folder), agent, *more]
        clean = {"PATH": os.environ["PATH"], "CLAUDE_PID": str(os.getpid())}
        process = subprocess.Popen(
            words or usual,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.cwd,
            env={**clean, **self.env, **(env or {})},
        )
        self.running.append(process)
        if payload is not None:
            assert process.stdin is not None
            process.stdin.write(payload)
            process.stdin.close()
            process.stdin = None
        return process

    def run(self, payload: bytes, *more: str, **options: Any) -> None:
        """Run it to its end, which is quiet."""
        assert quiet_end(self.start(payload, *more, **options)) == b""

    def close(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()


def quiet_end(process: "subprocess.Popen[bytes]") -> bytes:
    """Wait for the end, which is no failure and complains of nothing; gives what was printed."""
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, b"")
    return out


def spooled(folder: Path) -> list[bytes]:
    """What lies in the spool, by the names of the files; nothing there is half-written."""
    files = sorted((folder / "spool").iterdir())
    assert all(file.name.endswith((".json", ".full")) for file in files)
    return [file.read_bytes() for file in files if file.suffix == ".json"]


def new_folder(path: Path) -> Path:
    folder = path / "board.db.hooks"
    make_folders(folder)
    return folder
