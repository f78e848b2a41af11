"""A session of Claude Code that takes messages: its process, its registry entry and its inbox."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.browser.transcripts import Transcript

from callboard.systems.processes import started_at


class Inbox:
    """The client's side of a message: it comes in, and is in the transcript once it is taken."""

    def __init__(self, home: Path, transcript: Transcript, pid: int) -> None:
        self.transcript = transcript
        self.pid = pid
        self.started = started_at(pid)
        self._entry = home / "sessions" / f"{pid}.json"
        self._socket = home / "inbox.sock"

    async def open(self, status: str) -> asyncio.Server:
        """Take messages from now on."""
        server = await asyncio.start_unix_server(self._hear, str(self._socket))
        self.stand(status)
        return server

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
        self._entry.write_text(json.dumps(told))

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told = json.loads(await reader.readline())
        content = told["message"]["content"]
        self.transcript.prompt_from_peer(content, told["msg_id"])
        writer.close()


@asynccontextmanager
async def inbox_of(home: Path, transcript: Transcript) -> AsyncGenerator[Inbox]:
    """A session's inbox. It is closed until it is opened."""
    process = await asyncio.create_subprocess_exec("sleep", "600")
    try:
        yield Inbox(home, transcript, process.pid)
    finally:
        process.kill()
        await process.wait()
