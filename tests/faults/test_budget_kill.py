"""The budget asks once, whoever spends, whichever server looks, and whatever is killed."""

import asyncio
import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from tests.receivers import EARLY, receiving
from tests.servers import Server, serving

from callboard import Callboard
from callboard.events import names
from callboard.events.envelope import NewEvent
from callboard.ids import event_id
from callboard.vendors.claude.launching import MARK

PATIENCE = 30.0
MODEL = "claude-sonnet-4-5"


async def spend(database: str | Path, session: str, dollars: float) -> None:
    """Another process records what an agent of a workflow cost."""
    async with Callboard.open(database) as board:
        now = board.clock.now_ms()
        used = {"inputTokens": 5, "costUsd": dollars}
        done = {"run": "r", "attempt": 1, "output": None, "durationMs": 1, "usage": used}
        events = [
            NewEvent(event_id(), names.STARTED, {"workflow": "w", "state": {}}, now),
            NewEvent(event_id(), names.AGENT_COMPLETED, done, now),
        ]
        await board.log.append(session, events)


async def asked(http: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await http.get("/interactions", params={"status": "pending"})).json()["interactions"]


async def until_asked(http: httpx.AsyncClient) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := await asked(http):
            [one] = found
            return one
        await asyncio.sleep(0.1)
    raise AssertionError("Nothing was asked.")


async def set_budget(server: Server, daily: float) -> None:
    async with server.client() as http:
        (await http.put("/usage/budget", json={"daily": daily})).raise_for_status()


def transcript(folder: Path) -> Path:
    """A session that has used a million tokens of each kind today, for $18.30."""
    told = {"input_tokens": 10**6, "output_tokens": 10**6, "cache_read_input_tokens": 10**6}
    content = [{"type": "text", "text": "Done."}]
    message = {"id": "m", "model": MODEL, "role": "assistant", "content": content, "usage": told}
    at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    record = {"type": "assistant", "uuid": "u", "timestamp": at, "message": message}
    file = folder / "projects" / "shop" / "s1.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return file


async def test_a_coding_agent_spends_the_budget_and_people_are_notified(tmp_path: Path):
    home = tmp_path / "claude"
    file = transcript(home)
    with receiving() as receiver:
        env = {"CLAUDE_CONFIG_DIR": str(home), "CALLBOARD_NOTIFY": receiver.url}
        async with serving(tmp_path / "t.db", env=env, **EARLY) as server, server.client() as http:
            await set_budget(server, 10)
            where = {"session_id": "s1", "cwd": "/home/ann/shop", "transcript_path": str(file)}
            started = {**where, "hook_event_name": "SessionStart", "source": "startup"}
            (await http.post("/hooks/claude", json=started)).raise_for_status()
            question = await until_asked(http)
            assert question["prompt"].startswith("Agents have spent $18.30 today.")
            assert "Spent on: shop $18.30." in question["prompt"]
            [plate] = (await http.get("/plates")).json()["plates"]
            assert plate["status"] == "idle"
            told = await asyncio.to_thread(receiver.taken.get, timeout=PATIENCE)
            assert "Agents have spent" in json.dumps(told)


SEND = """
import sys, urllib.request
method, url, token, body = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
try:
    urllib.request.urlopen(urllib.request.Request(url, body.encode(), headers, method=method))
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""


async def as_agent(server: Server, method: str, path: str, body: dict[str, Any]) -> str:
    """What a coding agent gets as an answer; empty if it may do this."""
    agent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SEND, method, f"{server.url}{path}", server.token),
        json.dumps(body),
        env={**os.environ, MARK: "start"},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await agent.communicate()
    return out.decode()


async def test_a_coding_agent_cannot_change_the_budget(tmp_path: Path):
    async with serving(tmp_path / "t.db") as server, server.client() as http:
        await set_budget(server, 10)
        refused = await as_agent(server, "PUT", "/usage/budget", {"daily": None})
        assert refused.startswith("403 ")
        assert "Coding agents can't change the budget" in refused
        assert (await http.get("/usage/budget")).json()["daily"] == 10


async def test_a_coding_agent_cannot_keep_the_budget_from_being_asked_about(tmp_path: Path):
    async with serving(tmp_path / "t.db") as server, server.client() as http:
        await set_budget(server, 10)
        day = (await http.get("/usage/budget")).json()["day"]
        same = {"type": "input", "prompt": "Go on?", "key": f"budget:{day}:1:0"}
        assert (await as_agent(server, "POST", "/interactions", same)).startswith("403 ")
        own = {"type": "input", "prompt": "Go on?", "key": "own"}
        assert await as_agent(server, "POST", "/interactions", own) == ""
        [other] = await asked(http)
        withdraw = f"/interactions/{other['id']}/cancel"
        assert await as_agent(server, "POST", withdraw, {}) == ""
        await spend(tmp_path / "t.db", "s1", 12.0)
        question = await until_asked(http)
        withdraw = f"/interactions/{question['id']}/cancel"
        refused = await as_agent(server, "POST", withdraw, {})
        assert refused.startswith("403 ")
        assert "Coding agents can't withdraw questions about the budget" in refused
        assert [one["id"] for one in await asked(http)] == [question["id"]]


async def test_a_server_that_was_killed_before_it_asked_asks_at_its_next_start(tmp_path: Path):
    database = tmp_path / "t.db"
    async with serving(database) as server:
        await set_budget(server, 10)
        await server.kill()
        await spend(database, "s1", 12.0)
        await server.restart()
        async with server.client() as http:
            first = await until_asked(http)
            await server.kill()
            await server.restart()
        async with server.client() as http:
            await spend(database, "s2", 1.0)
            await asyncio.sleep(3)  # Longer than it takes to look again.
            assert [one["id"] for one in await asked(http)] == [first["id"]]


async def test_servers_on_one_database_ask_once(tmp_path: Path, postgres_url: str):
    env = {"CALLBOARD_DB": postgres_url}
    async with (
        serving(postgres_url, env=env) as one,  # pyright: ignore[reportArgumentType]
        serving(postgres_url, env=env) as other,  # pyright: ignore[reportArgumentType]
    ):
        await set_budget(one, 10)
        async with one.client() as http, other.client() as elsewhere:
            await spend(postgres_url, "s1", 12.0)
            question = await until_asked(http)
            await asyncio.sleep(3)
            for place in (http, elsewhere):
                assert [found["id"] for found in await asked(place)] == [question["id"]]
            raised = {"value": "Raise today's budget to $20.00"}
            where = f"/interactions/{question['id']}/answer"
            (await elsewhere.post(where, json=raised)).raise_for_status()
            assert (await http.get("/usage/budget")).json()["limit"] == 20
            await spend(postgres_url, "s2", 9.0)
            assert "raised to $20.00 for today" in (await until_asked(elsewhere))["prompt"]
            report = (await elsewhere.get("/usage", params={"by": "workflow"})).json()
            assert report["total"]["cost"] == 21
