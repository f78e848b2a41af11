"""Being called by a server: `callboard serve --notify`, and `callboard notify` to try it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.cli_process import CallboardCommand
from tests.receivers import EARLY, Receiver, receiving
from tests.servers import serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"
WAITS = pytest.mark.parametrize(
    "how", [EARLY, pytest.param({}, marks=pytest.mark.long)], ids=["early", "in time"]
)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@WAITS
async def test_a_server_calls_when_a_workflow_and_an_agent_need_somebody(
    tmp_path: Path, receiver: Receiver, how: dict[str, Any]
):
    more: Any = {"env": {"CALLBOARD_NOTIFY": receiver.url}, **how}
    async with serving(tmp_path / "t.db", FLOWS, **more) as server, server.client() as client:
        await client.post("/sessions", json={"workflowId": "trip", "input": "Rome"})
        hook = {"session_id": "s", "cwd": "/home/ann/shop", "tool_name": "Bash"}
        asks = {"hook_event_name": "PermissionRequest", "tool_input": {"command": "echo sesame"}}
        held = asyncio.create_task(client.post("/hooks/claude", json=hook | asks, timeout=90))
        found: list[dict[str, Any]] = []
        while sum(_needs(one) for one in found) < 2:
            found.append(await asyncio.to_thread(receiver.taken.get, timeout=60))
        said = "\n".join(f"{one['title']}\n{one['message']}" for one in found)
        assert "Go to Rome?" in said
        assert "wants to use Bash" in said
        assert "sesame" not in said
        assert "/app/" in said
        await server.stop()
        await asyncio.wait({held})
        assert "sesame" not in "\n".join(server.log)
        assert receiver.taken.empty()


def _needs(message: dict[str, Any]) -> int:
    """How many are spoken of in a message."""
    first = message["title"].split()[0]
    return int(first) if first.isdecimal() else 1


@WAITS
async def test_a_receiver_that_is_away_disturbs_nobody(
    tmp_path: Path, receiver: Receiver, how: dict[str, Any]
):
    away = f"json://ann:sesame@127.0.0.1:{receiver.server.server_port}"
    receiver.server.shutdown()
    receiver.server.server_close()
    more: Any = {"options": ["--notify", away], **how}
    async with serving(tmp_path / "t.db", FLOWS, **more) as server, server.client() as client:
        await client.post("/sessions", json={"workflowId": "trip", "input": "Rome"})
        async with asyncio.timeout(60):
            while not any("did not arrive" in line for line in server.log):
                assert (await client.get("/health")).is_success
                await asyncio.sleep(0.1)
        assert "sesame" not in "\n".join(server.log)
        assert await server.stop() == 0


def test_it_can_be_tried(tmp_path: Path, receiver: Receiver):
    command = CallboardCommand(tmp_path)
    assert "Notification sent." in command("notify", receiver.url).out
    assert receiver.taken.get(timeout=10)["title"] == "Callboard"
    assert command.here("notify", "--json", CALLBOARD_NOTIFY=receiver.url).json == [
        {"reached": True}
    ]
    failed = command.here("notify", "json://127.0.0.1:9/sesame", code=1)
    assert "sesame" not in failed.out + failed.err


def test_an_address_that_nobody_knows_is_refused(tmp_path: Path):
    command = CallboardCommand(tmp_path)
    for refused in (
        command.here("notify", "sesame://x", code=2),
        command("serve", "--notify", "x://sesame", "--port", "0", code=2),
    ):
        assert "not supported by Apprise" in refused.err
        assert "Traceback" not in refused.err
