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

from callboard.board.places import hooks_folder, make_folders
from callboard.cli.hook import named

pytestmark = pytest.mark.timeout(120)

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
