"""Transcripts as Claude Code writes them, and agents on the board that have them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.servers import Server

USAGE = {"input_tokens": 1200, "output_tokens": 340, "cache_read_input_tokens": 48_000}
EPOCH = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)


class Transcript:
    """One session's transcript in a folder of the client, which grows as it is told."""

    def __init__(self, home: Path, session: str | None = None) -> None:
        self.session = session or str(uuid4())
        self.path = home / "projects" / "-srv-ledger" / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._written = 0

    def prompt(self, content: str | list[dict[str, Any]], kind: str = "human") -> None:
        self._write("user", content, origin={"kind": kind})

    def prompt_from_peer(self, content: str, id: str) -> None:
        """A prompt that came through the client's inbox."""
        self._write("user", content, origin={"kind": "peer", "msg_id": id})

    def reply(self, text: str) -> None:
        self._write("assistant", [{"type": "text", "text": text}])

    def think(self, text: str) -> None:
        self._write("assistant", [{"type": "thinking", "thinking": text}])

    def call(self, name: str, **given: Any) -> str:
        """A tool call; returns its id."""
        id = f"call-{self._written}"
        self._write("assistant", [{"type": "tool_use", "id": id, "name": name, "input": given}])
        return id

    def result(self, id: str, text: str, *, is_error: bool = False, **more: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}
        self._write("user", [block], **more)

    def compact(self, summary: str) -> None:
        id = str(uuid4())
        self._record({"type": "system", "subtype": "compact_boundary", "uuid": id})
        self._write("user", summary, isCompactSummary=True, parentUuid=id)

    def subagent(self, id: str) -> "Transcript":
        """The transcript of a subagent."""
        nested = Transcript(self.path.parent, self.session)
        nested.path = self.path.with_suffix("") / "subagents" / f"agent-{id}.jsonl"
        nested.path.parent.mkdir(parents=True, exist_ok=True)
        return nested

    def _write(self, role: str, content: str | list[dict[str, Any]], **more: Any) -> None:
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            call = {"id": f"msg-{self._written}", "model": "claude-opus-5-5", "usage": USAGE}
            message |= call
        self._record({"type": role, "message": message, **more})

    def _record(self, record: dict[str, Any]) -> None:
        self._written += 1
        at = (EPOCH + timedelta(seconds=7 * self._written)).isoformat()
        told = {"uuid": str(uuid4()), "timestamp": at, "sessionId": self.session, **record}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")


async def put_on_board(server: Server, transcript: Transcript, **more: Any) -> str:
    """An agent with this transcript, at work; returns its plate's id."""
    told = {
        "session_id": transcript.session,
        "cwd": "/srv/ledger",
        "transcript_path": str(transcript.path),
        **more,
    }
    async with server.client() as http:
        for hook in (
            {"hook_event_name": "SessionStart", "source": "startup"},
            {"hook_event_name": "UserPromptSubmit", "prompt": "Refuse unknown accounts"},
        ):
            (await http.post("/hooks/claude", json=told | hook)).raise_for_status()
        plates = (await http.get("/plates")).json()["plates"]
    return next(one["plateId"] for one in plates if one["sessionId"] == transcript.session)


async def report(server: Server, transcript: Transcript, hook: str, **told: str) -> None:
    """Report something of the agent with this transcript."""
    told = {"session_id": transcript.session, "hook_event_name": hook, **told}
    async with server.client() as http:
        (await http.post("/hooks/claude", json=told)).raise_for_status()
