"""A session of Claude Code that takes messages: its process, its registry entry and its inbox."""

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.browser.transcripts import Transcript

from callboard.disk.files import replace
from callboard.systems.processes import started_at


class Inbox:
    """The client's side of a message: it comes in, and is in the transcript once it is taken."""

    def __init__(self, home: Path, transcript: Transcript, pid: int, sockets: Path) -> None:
        self.transcript = transcript
        self.pid = pid
        self.started = started_at(pid)
        self._entry = home / "sessions" / f"{pid}.json"
        self._socket = sockets / "inbox.sock"
        self._server: asyncio.Server | None = None

    async def open(self, status: str) -> None:
        """Take messages from now on."""
        self._server = await asyncio.start_unix_server(self._hear, str(self._socket))
        self.stand(status)

    def close(self) -> None:
        """Take none anymore."""
        if self._server is not None:
            self._server.close()

    def stand(self, status: str) -> None:
        """Say how the session is: idle, busy or waiting."""
        self._entry.parent.mkdir(parents=True, exist_ok=True)
        told = {
            "pid": self.pid,
            "sessionId": self.transcript.session,
            "procStart": self.started,
            "status": status,
            "peerProtocol": 1,
            "messagingSocketPath": str(self._socket),
        }
        # Whole, as the client does: what is read meanwhile would have no inbox.
        replace(self._entry, json.dumps(told).encode())

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told = json.loads(await reader.readline())
        content = told["message"]["content"]
        self.transcript.prompt_from_peer(content, told["msg_id"])
        writer.close()


@asynccontextmanager
async def inbox_of(home: Path, transcript: Transcript) -> AsyncGenerator[Inbox]:
    """A session's inbox. It is closed until it is opened."""
    process = await asyncio.create_subprocess_exec("sleep", "600")
    # The paths of sockets have a limit, and the address for replies is longer.
    with tempfile.TemporaryDirectory() as sockets:
        inbox = Inbox(home, transcript, process.pid, Path(sockets))
        try:
            yield inbox
        finally:
            inbox.close()
            process.kill()
            await process.wait()
