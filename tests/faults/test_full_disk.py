"""A full disk: hooks are answered, kept, and recorded when there is room, or counted as lost."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from tests.servers import serving

from callboard.board.hook_folders import hooks_folder, make_folders
from callboard.board.late_hook import LateHook
from callboard.board.spool import drain as memory
from callboard.board.spool.drain import UnwrittenHooks
from callboard.board.spool.files import Spool
from callboard.cli.doctor.hooks import spool, unrecorded
from callboard.testing.fake_clock import FakeClock
from callboard.vendors.settings.commands import spool_command

CLIENT = Path(__file__).parents[2] / "src/callboard/hookclient.py"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of four megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(made, check=False, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Leave not a byte."""
    file = disk / "filling"
    with file.open("wb", buffering=0) as filling:
        try:
            while True:
                filling.write(b"x" * 4096)
        except OSError:
            return file


def payload(session: str, **more: object) -> dict[str, object]:
    return {"hook_event_name": "SessionStart", "session_id": session, "cwd": "/", **more}


async def sessions(client: httpx.AsyncClient) -> set[str]:
    answer = await client.get("/plates")
    plates = answer.json()["plates"] if answer.status_code == 200 else []
    return {one["sessionId"] for one in plates}


async def metric(client: httpx.AsyncClient, name: str) -> float:
    text = (await client.get("/metrics")).text
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name))


async def test_hooks_that_come_while_the_disk_is_full_are_recorded_later(disk: Path):
    async with serving(disk / "x.db") as server, server.client() as client:
        await client.post("/hooks/claude", json=payload("before"))
        filling = fill(disk)
        asks = payload("asks", hook_event_name="PermissionRequest", tool_name="Bash")
        for one in (payload("first"), asks, payload("last")):
            answer = await client.post("/hooks/claude", json=one)
            assert (answer.status_code, answer.json()) == (200, {})
        # A session's events are no plate's, and their caller hears that nothing was written.
        asked = await client.post("/interactions", json={"type": "approval", "prompt": "x" * 9999})
        assert (asked.status_code, asked.json()["error"]["code"]) == (503, "STORE_FULL")
        assert await metric(client, "callboard_hooks_kept") == 3
        filling.unlink()
        async with asyncio.timeout(90):
            while await sessions(client) < {"before", "first", "asks", "last"}:
                await asyncio.sleep(0.05)
        assert await metric(client, "callboard_hooks_kept") == 0
        assert await metric(client, "callboard_hooks_lost") == 0
    assert any("kept in memory" in line for line in server.log)
    assert not any("Traceback" in line for line in server.log)


async def test_what_is_kept_in_memory_is_spooled_when_the_server_stops(disk: Path):
    db = disk / "x.db"
    async with serving(db) as server, server.client() as client:
        filling = fill(disk)
        await client.post("/hooks/claude", json=payload("kept"))
        filling.write_bytes(b"")
        assert await server.stop() == 0
    async with serving(db) as again, again.client() as client, asyncio.timeout(90):
        while "kept" not in await sessions(client):
            await asyncio.sleep(0.05)


@pytest.fixture
async def spooled(disk: Path) -> AsyncIterator[Spool]:
    make_folders(hooks_folder(disk / "x.db"))
    spool = Spool(hooks_folder(disk / "x.db"), FakeClock())
    yield spool
    spool.close()


@pytest.mark.parametrize("how", ["sh", "client"])
async def test_a_hook_without_room_leaves_its_name_and_no_half_payload(
    disk: Path, spooled: Spool, how: str
):
    folder = hooks_folder(disk / "x.db")
    words = {
        "sh": ["sh", "-c", spool_command(folder, "claude")],
        "client": [sys.executable, "-I", "-S", str(CLIENT), str(folder), "claude"],
    }[how]
    filling = fill(disk)
    body = json.dumps(payload("lost", more="x" * 50_000)).encode()
    done = subprocess.run(words, input=body, capture_output=True, check=True, timeout=30)
    assert (done.stdout, done.stderr) == (b"", b"")
    (left,) = spooled.folder.iterdir()
    assert left.name.startswith("claude.")
    assert left.name.endswith(".lost")
    assert left.stat().st_size == 0
    assert [one.said for one in unrecorded(spool(disk / "x.db"))] == [
        "1 hook were lost because the disk was full"
    ]
    filling.unlink()
    assert spooled.take(10) == []
    assert spooled.counted.lost == 1
    assert [one for one in spooled.folder.iterdir() if one.is_file()] == []


def test_memory_has_bounds_and_what_does_not_fit_is_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "MOST_BYTES", 100)
    monkeypatch.setattr(memory, "MOST", 3)
    kept = UnwrittenHooks()
    for size in (60, 60, 40, 0, 0):
        kept.keep(LateHook("claude", b"x" * size, 1))
    assert ([len(one.body) for one in kept.kept], kept.lost) == ([60, 40, 0], 2)
    kept.forget_first()
    kept.keep(LateHook("claude", b"x" * 60, 2))
    assert ([len(one.body) for one in kept.kept], kept.lost) == ([40, 0, 60], 2)
