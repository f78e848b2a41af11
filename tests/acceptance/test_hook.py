"""`callboard hook`: the handlers that people put into their settings by hand."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli_process import SCRIPT
from tests.hook_calls import Client, HandServer, quiet_end, spooled
from tests.servers import serving

from callboard.board.hook_folders import hooks_folder, make_folders
from callboard.cli.commands.hook import named

PAYLOAD = b'{"session_id": "s1", "cwd": "/home/ada/project"}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = hooks_folder(tmp_path / "t.db")
    make_folders(folder)
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[HandServer]:
    server = HandServer(folder)
    yield server
    server.close()


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> Iterator[Client]:
    client = Client(folder, tmp_path)
    yield client
    client.close()


def hook(client: Client, tmp_path: Path, *words: str) -> "subprocess.Popen[bytes]":
    env = {"CALLBOARD_DB": str(tmp_path / "t.db"), "HOME": str(tmp_path)}
    return client.start(PAYLOAD, words=[SCRIPT, "hook", *words], env=env)


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("session-start", "SessionStart"),
        ("prompt-submit", "UserPromptSubmit"),
        ("pre-tool-use", "PreToolUse"),
        ("post-tool-use", "PostToolUse"),
        ("stop", "Stop"),
        ("permission-request", "PermissionRequest"),
        ("something-new", "SomethingNew"),
    ],
)
def test_the_event_is_told_where_the_payload_does_not(event: str, name: str):
    assert json.loads(named(PAYLOAD, (event,)))["hook_event_name"] == name
    told = b'{"hook_event_name": "Other"}'
    assert named(told, (event,)) == told


@pytest.mark.parametrize("payload", [b"", b"no json", b"[]"])
def test_what_is_no_object_stays_as_it_is(payload: bytes):
    assert named(payload, ("stop",)) == payload


def test_it_takes_the_payload_to_the_server(client: Client, server: HandServer, tmp_path: Path):
    process = hook(client, tmp_path, "session-start")
    call = server.call()
    call.answer({"decision": "block"})
    assert quiet_end(process) == b""
    assert call.head.startswith("POST /hooks/claude ")
    assert call.json["hook_event_name"] == "SessionStart"
    assert call.json["callboard"]["pid"] == os.getpid()


CONTEXT = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Read"}}


@pytest.mark.parametrize(
    "told",
    [
        CONTEXT,
        {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {}}},
        {"hookSpecificOutput": {"additionalContext": "x", "hookEventName": "y", "decision": {}}},
        {"hookSpecificOutput": ["additionalContext"]},
        ["hookSpecificOutput"],
    ],
)
def test_it_prints_what_the_agent_is_to_read_and_no_decision(
    client: Client, server: HandServer, tmp_path: Path, told: Any
):
    for start in (lambda: hook(client, tmp_path, "session-start"), lambda: client.start(PAYLOAD)):
        printed = b""
        # The client waits for a second, which a busy machine may not have.
        for _ in range(5 if told is CONTEXT else 1):
            process = start()
            server.call().answer(told)
            if printed := quiet_end(process):
                break
        assert printed == (json.dumps(told).encode() if told is CONTEXT else b"")


PLAN = "# Plan\n1. do it"


def payload(name: str, session: str, **more: Any) -> bytes:
    told = {"session_id": session, "cwd": "/home/ada/project", "hook_event_name": name}
    return json.dumps(told | more).encode()


def approved(session: str) -> bytes:
    return payload(
        "PostToolUse",
        session,
        tool_name="ExitPlanMode",
        tool_input={},
        tool_response={"plan": f"{PLAN}\n", "isAgent": False},
    )


async def test_an_approved_plan_is_given_back_once_after_the_context_was_cleared(
    tmp_path: Path, client: Client
):
    async def tell(told: bytes) -> bytes:
        return await asyncio.to_thread(lambda: quiet_end(client.start(told)))

    async def clear(before: str, after: str) -> str:
        assert await tell(payload("SessionEnd", before, reason="clear")) == b""
        printed = await tell(payload("SessionStart", after, source="clear"))
        output = json.loads(printed or "{}").get("hookSpecificOutput", {})
        assert output.get("hookEventName", "SessionStart") == "SessionStart"
        return output.get("additionalContext", "")

    async with serving(tmp_path / "t.db"):
        await tell(payload("SessionStart", "a", source="startup"))
        await tell(payload("UserPromptSubmit", "a", prompt="Plan it"))
        assert await clear("a", "b0") == "", "nothing was approved"
        context, session = "", "b0"
        # The client waits for a second, which a busy machine may not have.
        while not context and session != "b9":
            asks = {"tool_name": "ExitPlanMode", "tool_input": {"plan": PLAN}}
            await tell(payload("PreToolUse", session, **asks))
            await tell(approved(session))
            await tell(payload("Stop", session))
            before, session = session, f"b{int(session[1]) + 1}"
            context = await clear(before, session)
        assert context.endswith(f"\n\n{PLAN}")
        assert context.startswith("Before the context was cleared, a person approved this plan.")
        assert await clear(session, "d") == "", "it is given back once"
        await tell(approved("d"))
        await tell(payload("PreToolUse", "d", tool_name="Bash", tool_input={"command": "ls"}))
        assert await clear("d", "e") == "", "the agent has gone on with it"
        await tell(approved("e"))
        assert await tell(payload("SessionStart", "e", source="compact")) == b""
        assert await tell(payload("SessionStart", "f", source="startup")) == b""


def test_without_a_server_it_goes_into_the_spool(client: Client, folder: Path, tmp_path: Path):
    assert quiet_end(hook(client, tmp_path, "stop", "--agent", "codex")) == b""
    (body,) = spooled(folder)
    assert json.loads(body)["hook_event_name"] == "Stop"


def test_one_that_waits_prints_the_decision(client: Client, server: HandServer, tmp_path: Path):
    process = hook(client, tmp_path, "permission-request", "--hold")
    call = server.call()
    assert call.hold
    call.answer({"hookSpecificOutput": {"decision": {"behavior": "deny"}}})
    assert json.loads(quiet_end(process))["hookSpecificOutput"]["decision"] == {"behavior": "deny"}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("stop", "--no-such-option"),
        ("stop", "--db"),
        ("stop", "--agent", "../x"),
        ("stop", "--db", "postgres://x"),
        ("stop", "--db", "/proc/nowhere/t.db"),
        ("a", "b", "c"),
    ],
    ids=" ".join,
)
def test_however_it_is_called_it_is_quiet(client: Client, tmp_path: Path, words: tuple[str, ...]):
    assert quiet_end(hook(client, tmp_path, *words)) == b""


async def test_the_real_server_hears_it(tmp_path: Path, client: Client):
    async with serving(tmp_path / "t.db") as server:
        for event, status in [
            ("session-start", "idle"),
            ("prompt-submit", "running"),
            ("stop", "idle"),
        ]:
            process = hook(client, tmp_path, event)
            assert await asyncio.to_thread(quiet_end, process) == b""
            async with server.client() as http:
                (plate,) = (await http.get("/plates")).json()["plates"]
            assert _shown(plate) == ("claude", "s1", status, "/home/ada/project")


def _shown(plate: dict[str, Any]) -> tuple[str, str, str, str]:
    return plate["agent"], plate["sessionId"], plate["status"], plate["projectPath"]
