"""A database that is deleted, moved or replaced while it is open acknowledges nothing."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.servers import serving

from callboard.errors import StoreError
from callboard.log.protocol import Writing
from callboard.log.sqlite.log import SqliteLog
from callboard.testing.log_suite_material import several

PAYLOAD = {"hook_event_name": "SessionStart", "session_id": "s-1", "cwd": "/", "source": "startup"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


def lose(path: Path) -> Callable[[], object]:
    """Move it away; gives how to bring it back."""
    path.rename(path.with_name("elsewhere"))
    return lambda: path.with_name("elsewhere").rename(path)


def swap(path: Path) -> Callable[[], object]:
    path.rename(path.with_name("old"))
    path.write_bytes(b"another file")
    return lambda: path.with_name("old").replace(path)


@pytest.mark.parametrize("what", [lose, swap])
@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
async def test_what_is_not_there_is_not_acknowledged(
    path: Path, end: str, what: Callable[[Path], Callable[[], object]]
):
    log = SqliteLog.open(path)
    await log.append("s", several(2))
    bring_back = what(path.with_name(path.name + end))
    with pytest.raises(StoreError, match=rf"log\.db{end} was .* while it was open") as lost:
        await log.append("s", several(1))
    assert lost.value.code == "STORE_ERROR"
    assert "nothing was written" in lost.value.message
    assert "It is now " in lost.value.message
    assert "Put it back" in lost.value.message
    if not end:
        with pytest.raises(StoreError, match="while it was open"):
            await log.head("s")
    with pytest.raises(StoreError, match="while it was open"):
        await log.rebuild()
    bring_back()
    assert (await log.append("s", several(1), Writing(expect=2))).head == 3
    assert await log.rebuild() == 3
    await log.close()


async def test_a_deleted_database_is_told_with_where_its_contents_are(path: Path):
    log = SqliteLog.open(path)
    await log.append("s", several(2))
    path.unlink()
    with pytest.raises(StoreError, match=r"copied from (/proc/\d+/fd/\d+)\. Put it back") as lost:
        await log.append("s", several(1))
    there = lost.value.message.partition("copied from ")[2].partition(". ")[0]
    assert Path(there).read_bytes()[:15] == b"SQLite format 3"
    assert not path.exists()  # Nobody made an empty one in its place.
    await log.close()
    assert not path.exists()


async def test_a_link_that_leads_elsewhere_now_is_noticed(path: Path, tmp_path: Path):
    link = tmp_path / "link.db"
    link.symlink_to(path.name)
    log = SqliteLog.open(link)
    await log.append("s", several(1))
    shutil.copy(path, tmp_path / "other.db")
    link.unlink()
    link.symlink_to("other.db")
    with pytest.raises(StoreError, match=r"link\.db was replaced"):
        await log.append("s", several(1))
    link.unlink()
    link.symlink_to(path.name)
    assert (await log.append("s", several(1))).head == 2
    await log.close()


async def test_who_closes_the_old_file_leaves_the_new_one_alone(path: Path):
    """SQLite removes a write-ahead log by its name, which is now another's."""
    old = SqliteLog.open(path)
    await old.append("s", several(2))
    path.rename(path.with_name("old"))
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink()
    new = SqliteLog.open(path)
    await new.append("t", several(3))
    await old.close()
    await new.append("t", several(1))
    await new.close()
    again = SqliteLog.open(path)
    assert await again.head("t") == 4
    await again.close()


async def test_every_process_notices_for_itself(path: Path):
    first, second = SqliteLog.open(path), SqliteLog.open(path)
    await first.append("s", several(1))
    await second.append("s", several(1))
    bring_back = lose(path)
    outcomes = await asyncio.gather(
        first.append("s", several(1)), second.append("s", several(1)), return_exceptions=True
    )
    assert [type(one) for one in outcomes] == [StoreError] * 2
    bring_back()
    assert (await second.append("s", several(1))).head == 3
    await first.close()
    await second.close()


async def test_a_server_answers_503_and_keeps_every_hook(path: Path):
    async with serving(path) as server, server.client() as client:
        begin = {"type": "approval", "prompt": "Go on?"}
        before = await client.post("/interactions", json=begin)
        assert before.status_code < 300
        bring_back = lose(path)
        asked = await client.post("/interactions", json=begin)
        assert (asked.status_code, asked.json()["error"]["code"]) == (503, "STORE_ERROR")
        assert "while it was open" in asked.json()["error"]["message"]
        async with asyncio.timeout(90):
            # Reads look at the file only now and then.
            while (await client.get("/health")).status_code != 503:
                await asyncio.sleep(0.02)
        hook = await client.post("/hooks/claude", json=PAYLOAD)
        assert (hook.status_code, hook.json()) == (200, {})
        bring_back()
        assert (await client.get("/health")).status_code == 200
        async with asyncio.timeout(90):
            while not await _plates(client):
                await asyncio.sleep(0.05)
    assert sum("while it was open" in line for line in server.log) >= 1
    assert not any("Traceback" in line for line in server.log)


async def _plates(client: httpx.AsyncClient) -> list[object]:
    answer = await client.get("/plates")
    return json.loads(answer.content)["plates"] if answer.status_code == 200 else []
