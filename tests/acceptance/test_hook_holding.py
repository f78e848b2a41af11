"""The client and the spool with the real server, over its deaths."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hook_calls import Client, quiet_end
from tests.servers import Server, serving

from callboard.board.hook_folders import hooks_folder, spool_folder
from callboard.vendors.settings.commands import spool_command


def hook(name: str, **more: Any) -> bytes:
    told = {"session_id": "s1", "cwd": "/home/ada/project", "hook_event_name": name, **more}
    return json.dumps(told).encode()


ASKS = hook("PermissionRequest", tool_name="Bash", tool_input={"command": "make deploy"})
RAN = hook("PostToolUse", tool_name="Bash", tool_input={"command": "make deploy"})


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[Server]:
    async with serving(tmp_path / "t.db") as server:
        yield server


@pytest.fixture
def agent() -> Iterator[int]:
    """A process that stands for the agent. It is not ours: no agent may answer itself."""
    process = subprocess.Popen(["sleep", "1000"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def client(tmp_path: Path, agent: int) -> Iterator[Client]:
    client = Client(hooks_folder(tmp_path / "t.db"), tmp_path, {"CLAUDE_PID": str(agent)})
    yield client
    client.close()


async def asked(server: Server, status: str) -> dict[str, Any]:
    """The one question there is, once it has this status."""
    async with server.client() as http:
        while True:
            found = (await http.get(f"/interactions?status={status}")).json()["interactions"]
            if found:
                return found[0]
            await asyncio.sleep(0.02)


async def plates(server: Server) -> list[dict[str, Any]]:
    async with server.client() as http:
        return (await http.get("/plates")).json()["plates"]


async def plate(server: Server) -> dict[str, Any]:
    (found,) = await plates(server)
    return found


async def hooks_heard(server: Server) -> list[str]:
    """The hooks of all plates, in the order in which they were heard."""
    async with server.client() as http:
        ids = [one["plateId"] for one in await plates(server)]
        pages = [(await http.get(f"/plates/{id}/events")).json() for id in ids]
    payloads = [event["payload"] for page in pages for event in page["events"]]
    return [payload["raw"]["hook_event_name"] for payload in payloads if "raw" in payload]


async def until(server: Server, status: str) -> dict[str, Any]:
    while [one["status"] for one in await plates(server)] != [status]:
        await asyncio.sleep(0.02)
    return await plate(server)


async def answer(server: Server, id: str, value: Any) -> None:
    async with server.client() as http:
        told = await http.post(f"/interactions/{id}/answer", json={"value": value})
        assert told.status_code == 202, told.text  # The agent has not acted on it yet.


async def end(process: "subprocess.Popen[bytes]") -> bytes:
    return await asyncio.to_thread(quiet_end, process)


@pytest.mark.parametrize(
    ("value", "behavior"), [("yes", "allow"), pytest.param("no", "deny", marks=pytest.mark.long)]
)
async def test_an_answer_reaches_the_agent(
    server: Server, client: Client, value: str, behavior: str
):
    process = client.start(ASKS, "--hold")
    question = await asked(server, "pending")
    assert question["config"]["toolInput"] == {"command": "make deploy"}
    assert (await plate(server))["status"] == "awaiting_approval"
    await answer(server, question["id"], value)
    told = json.loads(await end(process))
    assert told["hookSpecificOutput"]["decision"]["behavior"] == behavior
    await until(server, "running")


async def test_an_agent_cannot_answer_itself(server: Server, client: Client):
    client.env["CLAUDE_PID"] = str(os.getpid())
    process = client.start(ASKS, "--hold")
    question = await asked(server, "pending")
    async with server.client() as http:
        refused = await http.post(f"/interactions/{question['id']}/answer", json={"value": "yes"})
    assert refused.status_code == 403
    assert process.poll() is None
    assert (await asked(server, "pending"))["id"] == question["id"]


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_an_answer_reaches_the_agent_over_restarts(
    server: Server, client: Client, how: signal.Signals
):
    process = client.start(ASKS, "--hold")
    question = await asked(server, "pending")
    await server.stop(how)
    await server.restart()
    await server.stop(how)
    await server.start()  # At another port.
    assert (await asked(server, "pending"))["id"] == question["id"]
    await answer(server, question["id"], "yes")
    assert json.loads(await end(process))["hookSpecificOutput"]["decision"]["behavior"] == "allow"


async def test_esc_resolves_the_question(server: Server, client: Client):
    process = client.start(ASKS, "--hold")
    question = await asked(server, "pending")
    process.send_signal(signal.SIGTERM)
    assert await end(process) == b""
    assert (await asked(server, "cancelled"))["id"] == question["id"]
    found = await plate(server)
    assert (found["status"], found["interrupted"]) == ("idle", True)


@pytest.mark.long
async def test_esc_while_the_server_is_down_resolves_it_later(server: Server, client: Client):
    process = client.start(ASKS, "--hold")
    question = await asked(server, "pending")
    await server.kill()
    process.send_signal(signal.SIGTERM)
    assert await end(process) == b""
    await server.restart()
    assert (await asked(server, "cancelled"))["id"] == question["id"]
    assert list(spool_folder(client.folder).glob("*.json")) == []


async def test_an_answer_in_the_terminal_releases_the_client(server: Server, client: Client):
    process = client.start(ASKS, "--hold")
    question = await asked(server, "pending")
    await asyncio.to_thread(client.run, RAN)
    assert await end(process) == b""
    resolved = await asked(server, "completed")
    assert (resolved["id"], resolved["via"]) == (question["id"], "terminal")


async def test_an_answer_in_the_terminal_while_the_server_is_down_releases_it_too(
    server: Server, client: Client
):
    process = client.start(ASKS, "--hold")
    question = await asked(server, "pending")
    await server.kill()
    await asyncio.to_thread(client.run, RAN)
    await server.restart()
    assert await end(process) == b""
    assert (await asked(server, "completed"))["id"] == question["id"]


async def test_what_happens_while_the_server_is_down_is_heard_in_order(
    server: Server, client: Client, agent: int
):
    line = spool_command(client.folder, "claude")
    await server.kill()
    told = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
    for name in told:
        body = hook(name, source="startup", tool_name="Bash", tool_input={})
        env = {**os.environ, "CLAUDE_PID": str(agent)}
        subprocess.run(["sh", "-c", line], input=body, env=env, check=True)
    await server.restart()
    # An agent that has just started is idle, too.
    while (heard := await hooks_heard(server))[-1:] != ["Stop"]:
        await asyncio.sleep(0.02)
    assert heard == told
    found = await until(server, "idle")
    assert found["pid"] == agent
    assert list(spool_folder(client.folder).rglob("*.json")) == []
