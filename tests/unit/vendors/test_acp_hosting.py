"""The process that keeps an ACP agent: it reports the agent's end, whatever goes wrong with it."""

import asyncio
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callboard.events.envelope import Json
from callboard.vendors.acp import hosted_agent
from callboard.vendors.acp.hosted_agent import HostedAgent
from callboard.vendors.acp.reporting import BoardReports


class SlowGuard:
    """A guard that doesn't end in time."""

    def communicate(self, told: bytes, timeout: float) -> None:
        raise subprocess.TimeoutExpired("sh", timeout)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as made:
        made.bind(f"{folder}/s")
        made.setblocking(False)
        yield made


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Json]]]:
    told: list[tuple[str, dict[str, Json]]] = []
    monkeypatch.setattr(BoardReports, "add", lambda self, type, **more: told.append((type, more)))
    return told


async def kept(tmp_path: Path, listener: socket.socket, *words: str, **more: Any) -> None:
    given: dict[str, Any] = {
        "id": "a",
        "terminals": str(tmp_path),
        "hooks": str(tmp_path),
        "folder": str(tmp_path),
        "words": list(words),
    }
    try:
        async with asyncio.timeout(20):
            await HostedAgent(given | more, listener).run()
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)


async def test_its_end_is_reported_if_its_guard_is_slow(
    tmp_path: Path,
    listener: socket.socket,
    reported: list[tuple[str, dict[str, Json]]],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(hosted_agent, "_guard", lambda group: SlowGuard())
    await kept(tmp_path, listener, "/bin/sh", "-c", "exit 3")
    assert [type for type, _ in reported] == ["end"]
    assert reported[0][1]["reason"] == "The agent ended with exit code 3."


async def test_without_a_guard_it_does_not_run(
    tmp_path: Path,
    listener: socket.socket,
    reported: list[tuple[str, dict[str, Json]]],
    monkeypatch: pytest.MonkeyPatch,
):
    groups: list[int] = []

    def no_guard(group: int) -> None:
        groups.append(group)
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(hosted_agent, "_guard", no_guard)
    await kept(tmp_path, listener, "/bin/sleep", "600")
    with pytest.raises(ProcessLookupError):
        os.killpg(groups[0], 0)
    assert [type for type, _ in reported] == ["end"]
    assert "Resource temporarily unavailable" in str(reported[0][1]["reason"])
