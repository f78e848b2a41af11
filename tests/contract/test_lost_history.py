"""A database that lost its newest events, and the readers of a server who have them."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest
from tests import server_flows
from tests.servers import TOKEN, Server, serving

from callboard import Client
from callboard.errors import HistoryChanged
from callboard.events.envelope import Event

GUARD = 60.0
SSE = {"Accept": "text/event-stream"}


class Reader:
    """Everything that a stream gives, until it fails."""

    def __init__(self, stream: Any) -> None:
        self.seen: list[Event] = []
        self.task = asyncio.ensure_future(self._read(stream))

    async def _read(self, stream: Any) -> None:
        async for found in stream:
            self.seen.append(found if isinstance(found, Event) else found[1])

    async def until(self, position: int) -> None:
        while not self.seen or self.seen[-1].position < position:
            await asyncio.sleep(0.02)


@asynccontextmanager
async def restored(server: Server, folder: Path) -> AsyncGenerator[None]:
    """What happens in this context is lost, as with a backup from before."""
    with (
        closing(connect(folder / "t.db")) as database,
        closing(connect(folder / "copy.db")) as copy,
    ):
        database.backup(copy)
    yield
    await server.stop()
    for rest in ("-wal", "-shm"):
        (folder / f"t.db{rest}").unlink(missing_ok=True)
    shutil.copyfile(folder / "copy.db", folder / "t.db")
    await server.restart()


async def asked(client: Client, session: str) -> tuple[str, int]:
    """A session's open question and its length."""
    while True:
        found = await client.session(session)
        if found.pending:
            return found.pending[0].id, found.position
        await asyncio.sleep(0.02)


async def test_readers_learn_that_what_they_read_was_lost(tmp_path: Path):
    async with (
        asyncio.timeout(GUARD),
        serving(tmp_path / "t.db", server_flows.__file__) as server,
        Client(server.url, TOKEN) as client,
    ):
        session = await client.start("trip", "Rome")
        question, _ = await asked(client, session)
        other = await client.start("trip", "Oslo")
        unasked, _ = await asked(client, other)
        untouched = Reader(client.tail(other))
        await untouched.until(1)
        connected = asyncio.Event()
        async with restored(server, tmp_path):
            one, everything = Reader(client.tail(session)), Reader(client.tail_all(0))
            await client.answer(question, approved=False)
            _, lost = await asked(client, session)
            await one.until(lost)
            await everything.until(lost)
            quiet = Reader(client.tail_all(on_connect=connected.set))
            await connected.wait()
        # More is written there than was lost, so that no position is beyond the end.
        for _ in range(3):
            question, head = await asked(client, session)
            await client.answer(question, approved=False)
        for reader in (one, everything, quiet):
            with pytest.raises(HistoryChanged):
                await reader.task
        _, head = await asked(client, session)
        assert head > lost
        # Those who have nothing that was lost continue, without a gap.
        await client.answer(unasked, approved=True)
        await untouched.task
        places = [event.position for event in untouched.seen]
        assert places == list(range(1, len(places) + 1))


async def test_a_position_that_was_lost_is_refused(tmp_path: Path):
    async with (
        asyncio.timeout(GUARD),
        serving(tmp_path / "t.db", server_flows.__file__) as server,
        server.client() as http,
        Client(server.url, TOKEN) as client,
    ):
        session = await client.start("trip", "Rome")
        _, head = await asked(client, session)
        first, *_, last = await client.events(session)
        path = f"/sessions/{session}/events"
        for address, place in ((path, head), ("/stream", head)):
            for refused in (
                await http.get(address, headers={**SSE, "Last-Event-ID": str(place + 9)}),
                await http.get(
                    address,
                    params={"lastEvent": first.id},
                    headers={**SSE, "Last-Event-ID": str(place)},
                ),
            ):
                assert refused.status_code == 409
                assert refused.json()["error"]["code"] == "HISTORY_CHANGED"
        same = {"headers": {**SSE, "Last-Event-ID": str(head)}, "params": {"lastEvent": last.id}}
        async with http.stream("GET", path, **same) as answer:  # type: ignore[arg-type]
            assert answer.status_code == 200
            assert answer.headers["Callboard-Last-Event"] == last.id
