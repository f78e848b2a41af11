"""The real client of a hook that waits, and what a person does about its question."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest
from tests.servers import Server

import callboard.hookclient
from callboard.board.hook_folders import hooks_folder

PATIENCE = 90
SESSION = "5d1f2c66-aaaa-bbbb-cccc-000000000001"
HASTY = """
import sys
from callboard.__main__ import main
from callboard.board import watchdog as rounds

rounds.UNHELD_SECS = 0.5
sys.exit(main())
"""
"""A server that gives up soon what was held before it began."""


@contextlib.asynccontextmanager
async def living_agent(
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """The agent that has the hooks: it lives, and has not sent the answers of these tests."""
    process = await asyncio.create_subprocess_exec("sleep", "600")
    monkeypatch.setenv("CLAUDE_PID", str(process.pid))
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def hook(name: str, **more: Any) -> dict[str, Any]:
    return {"session_id": SESSION, "cwd": "/home/ada/x", "hook_event_name": name, **more}


def bash(name: str, command: str = "rm -r build", **more: Any) -> dict[str, Any]:
    return hook(name, tool_name="Bash", tool_input={"command": command}, **more)


class Held:
    """A hook that waits, in a process of its own, below a process that stands for its agent."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def printed(self) -> Any:
        """What it printed, as JSON; None for nothing."""
        async with asyncio.timeout(PATIENCE):
            told, complaints = await self.process.communicate()
        assert (self.process.returncode, complaints) == (0, b"")
        return json.loads(told) if told else None


@contextlib.asynccontextmanager
async def holding(server: Server, payload: dict[str, Any]) -> AsyncGenerator[Held]:
    script = callboard.hookclient.__file__
    folder = str(hooks_folder(server.db))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", script, folder, "claude", "--hold",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps(payload).encode())
    process.stdin.close()
    try:
        yield Held(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def question(server: Server, session: str = SESSION) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE), server.client() as http:
        while True:
            with contextlib.suppress(httpx.TransportError):
                query = {"status": "pending", "sessionId": session}
                found = (await http.get("/interactions", params=query)).json()["interactions"]
                if found:
                    assert len(found) == 1
                    return found[0]
            await asyncio.sleep(0.02)


async def answered(server: Server, id: str) -> None:
    async with server.client() as http:
        told = await http.post(f"/interactions/{id}/answer", json={"approved": True})
        assert told.status_code == 202, told.text  # The agent has not acted on it yet.


async def closed(server: Server, id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE), server.client() as http:
        while True:
            found = (await http.get(f"/interactions/{id}")).json()
            if found["status"] != "pending":
                return found
            await asyncio.sleep(0.02)


def behavior(told: Any) -> str:
    return told["hookSpecificOutput"]["decision"]["behavior"]
