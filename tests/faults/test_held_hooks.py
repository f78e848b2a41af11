"""The real hook client and the real server, either of which may die at any moment."""

import asyncio
import contextlib
import json
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.held_hooks import (
    HASTY,
    PATIENCE,
    answered,
    bash,
    behavior,
    closed,
    holding,
    hook,
    living_agent,
    question,
)
from tests.servers import Server, serving

from callboard import Callboard
from callboard.board.hook_folders import hooks_folder, spool_folder
from callboard.board.watchdog import UNHELD_SECS
from callboard.vendors.settings.commands import spool_command


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with serving(tmp_path / "x.db") as running:
        yield running


@pytest_asyncio.fixture(autouse=True)
async def agent(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    async with living_agent(monkeypatch):
        yield


async def plates(server: Server) -> list[dict[str, Any]]:
    async with server.client() as http:
        return (await http.get("/plates")).json()["plates"]


async def plate(server: Server) -> dict[str, Any]:
    return (await plates(server))[0]


async def test_an_answer_is_printed_for_the_agent(server: Server):
    async with holding(server, bash("PermissionRequest")) as held:
        await answered(server, (await question(server))["id"])
        assert behavior(await held.printed()) == "allow"
    assert (await plate(server))["status"] == "running"


async def test_a_server_that_is_killed_and_started_again_answers(server: Server):
    async with holding(server, bash("PermissionRequest")) as held:
        asked = await question(server)
        await server.kill()
        await server.restart()
        assert (await question(server))["id"] == asked["id"]
        await answered(server, asked["id"])
        assert behavior(await held.printed()) == "allow"


async def test_an_answer_given_while_no_server_runs_is_delivered(server: Server):
    async with holding(server, bash("PermissionRequest")) as held:
        asked = await question(server)
        await server.kill()
        async with Callboard.open(server.db) as board:
            await board.answer(asked["id"], {"approved": False, "message": "not today"})
        await server.restart()
        decision = (await held.printed())["hookSpecificOutput"]["decision"]
        assert (decision["behavior"], decision["message"]) == ("deny", "not today")


async def test_a_server_that_stops_in_order_leaves_the_question_open(server: Server):
    async with holding(server, bash("PermissionRequest")) as held:
        asked = await question(server)
        assert await server.stop() == 0
        await server.restart()
        assert (await question(server))["id"] == asked["id"]
        await answered(server, asked["id"])
        assert behavior(await held.printed()) == "allow"


@pytest.mark.parametrize(
    "how", [signal.SIGTERM, signal.SIGKILL, pytest.param(signal.SIGHUP, marks=pytest.mark.long)]
)
async def test_a_hook_that_is_ended_takes_its_question_along(server: Server, how: signal.Signals):
    async with holding(server, bash("PermissionRequest")) as held:
        asked = await question(server)
        held.process.send_signal(how)
        await held.process.wait()
        assert (await closed(server, asked["id"]))["status"] == "cancelled"
    found = await plate(server)
    assert (found["status"], found["interrupted"], found["waitingFor"]) == ("idle", True, None)


async def test_a_hook_that_ended_while_no_server_ran_is_missed(server: Server):
    async with holding(server, bash("PermissionRequest")) as held:
        asked = await question(server)
        await server.kill()
        held.process.send_signal(signal.SIGTERM)
        assert await held.printed() is None
    await server.restart()
    assert (await closed(server, asked["id"]))["status"] == "cancelled"


@pytest.mark.parametrize(
    ("how", "waits"),
    [({"program": ["-c", HASTY]}, 0), pytest.param({}, UNHELD_SECS, marks=pytest.mark.long)],
    ids=["hasty", "in time"],
)
async def test_a_second_server_leaves_what_the_first_one_holds(
    server: Server, how: dict[str, Any], waits: float
):
    async with holding(server, bash("PermissionRequest")) as held:
        asked = await question(server)
        async with serving(server.db, **how) as second:
            # Longer than a server waits for hooks that were held before it began.
            await asyncio.sleep(waits + 2)
            assert (await question(second))["id"] == asked["id"]
            await answered(second, asked["id"])
        assert behavior(await held.printed()) == "allow"


async def test_hooks_find_a_server_that_lives(server: Server):
    """The one that began last is the one that hooks know, until it is gone."""
    async with serving(server.db) as second:
        await second.kill()
    async with holding(server, bash("PermissionRequest")) as held:
        await answered(server, (await question(server))["id"])
        assert behavior(await held.printed()) == "allow"


async def spooled(server: Server, payload: dict[str, Any]) -> None:
    """What the one-liner of a shell does with a payload."""
    line = spool_command(hooks_folder(server.db), "claude")
    process = await asyncio.create_subprocess_exec("sh", "-c", line, stdin=asyncio.subprocess.PIPE)
    await process.communicate(json.dumps(payload).encode())
    assert process.returncode == 0


async def test_what_was_spooled_before_comes_before(server: Server):
    await spooled(server, hook("SessionStart", source="startup"))
    await spooled(server, hook("UserPromptSubmit", prompt="go"))
    await spooled(server, bash("PreToolUse"))
    async with holding(server, bash("PermissionRequest")):
        asked = await question(server)
        found = await plate(server)
        assert (found["status"], found["interactionId"]) == ("awaiting_approval", asked["id"])
        async with server.client() as http:
            events = (await http.get(f"/plates/{found['plateId']}/events")).json()["events"]
    names = [event["name"] for event in events if "raw" in event["payload"]]
    assert names == ["session_start", "prompt_submit", "tool_start", "permission_request"]


async def test_what_was_decided_while_no_server_ran_is_not_asked(server: Server):
    await spooled(server, hook("SessionStart", source="startup"))
    await spooled(server, hook("UserPromptSubmit", prompt="go"))
    async with asyncio.timeout(PATIENCE):
        while not await plates(server):
            await asyncio.sleep(0.02)
    await server.kill()
    async with holding(server, bash("PermissionRequest")) as held:
        # It has tried, and found nobody.
        await asyncio.sleep(0.5)
        await spooled(server, bash("PostToolUse"))
        await server.restart()
        assert await held.printed() is None
    (found,) = await plates(server)
    assert (found["status"], found["waitingFor"]) == ("running", None)
    async with server.client() as http:
        assert (await http.get("/interactions")).json()["interactions"] == []


@pytest.mark.parametrize("kills", [2, pytest.param(8, marks=pytest.mark.long)])
async def test_nothing_that_was_taken_is_lost_and_nothing_comes_twice(server: Server, kills: int):
    """Hooks come through the spool and over HTTP while the server is killed again and again."""
    await spooled(server, hook("SessionStart", source="startup"))
    acknowledged: list[str] = []
    killing = asyncio.create_task(_kill_often(server, kills))
    number = 0
    while not killing.done():
        number += 1
        payload = bash("PostToolUse", f"echo {number}")
        if number % 2:
            await spooled(server, payload)
            acknowledged.append(f"echo {number}")
            continue
        with contextlib.suppress(httpx.TransportError, httpx.InvalidURL):
            async with server.client() as http:
                if (await http.post("/hooks/claude", json=payload)).status_code == 200:
                    acknowledged.append(f"echo {number}")
    await killing
    assert len(acknowledged) > 20
    spool = spool_folder(hooks_folder(server.db))
    async with asyncio.timeout(PATIENCE):
        # Also what the server has claimed, in a folder of its own, and not appended yet.
        while any(path.is_file() for path in spool.rglob("*.json*")):
            await asyncio.sleep(0.02)
    seen = await _commands(server)
    assert [one for one in acknowledged if not seen[one]] == []
    assert [one for one, times in seen.items() if times > 1] == []


async def _kill_often(server: Server, times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(0.4)
        await server.kill()
        await server.restart()


async def _commands(server: Server) -> Counter[str]:
    """How often each command stands in the log of the plate."""
    found = await plate(server)
    async with server.client() as http:
        path, after = f"/plates/{found['plateId']}/events", 0
        seen: Counter[str] = Counter()
        while True:
            answer = (await http.get(path, params={"after": after})).json()
            for event in answer["events"]:
                raw = event["payload"].get("raw", {})
                seen[raw.get("tool_input", {}).get("command", "")] += 1
            if answer.get("nextAfter") is None:
                seen.pop("", None)
                return seen
            after = answer["nextAfter"]
