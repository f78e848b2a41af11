"""Coding agents as they were recorded: their hooks reach the server as the real ones did."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from tests.servers import Server

PAYLOADS = Path(__file__).parent.parent / "payloads" / "claude"
SCENARIOS = {
    "permission": "i_perm",
    "question": "i_ask",
    "plan": "i_plan",
    "todos": "todowrite",
    "subagent": "agent",
}

Payload = dict[str, Any]


class Agent:
    """One session of a recorded client, under an id of its own."""

    def __init__(self, server: Server, scenario: str, project: str = "proj") -> None:
        self.server = server
        self.session = str(uuid4())
        self.project = f"/home/u/{project}"
        files = sorted((PAYLOADS / SCENARIOS[scenario]).glob("*.json"))
        self._rest: list[Payload] = [json.loads(file.read_text()) for file in files]

    async def until(self, hook: str) -> None:
        """Say everything that was said before the next hook of this name."""
        while self._rest[0]["hook_event_name"] != hook:
            await self.say()

    async def say(self, hook: str | None = None, **changed: Any) -> None:
        """Say what comes next, up to and with a hook of this name."""
        if hook is not None:
            await self.until(hook)
        payload = self._next(changed)
        async with self.server.client() as http:
            heard = await http.post("/hooks/claude", json=payload)
        assert (heard.status_code, heard.json()) == (200, {})

    @asynccontextmanager
    async def asking(self, **changed: Any) -> AsyncGenerator["asyncio.Task[Payload]"]:
        """Ask a person, and hold the hook until there is an answer; gives what it will print."""
        await self.until("PermissionRequest")
        payload = self._next(changed) | {"callboard": {"hold": f"hold-{uuid4().hex}"}}
        held = asyncio.create_task(self._hold(payload))
        try:
            yield held
        finally:
            held.cancel()

    async def _hold(self, payload: Payload) -> Payload:
        """Come back with the same question whenever the server is gone, as our client does."""
        while True:
            try:
                async with self.server.client() as http:
                    told = await http.post("/hooks/claude", json=payload, timeout=None)
            except httpx.TransportError:
                await asyncio.sleep(0.05)
                continue
            if told.status_code == 200:
                return told.json()

    def _next(self, changed: Payload) -> Payload:
        payload = self._rest.pop(0)
        return {**payload, "session_id": self.session, "cwd": self.project, **changed}


def decided(printed: Payload) -> Payload:
    """The decision in what a hook prints."""
    return printed["hookSpecificOutput"]["decision"]
