"""Three servers and four workers, while they and PostgreSQL are killed, frozen and restarted.

CALLBOARD_SOAK_SECONDS says for how long: 20 minutes unless it is given.
"""

import asyncio
import os
import random
from contextlib import suppress
from itertools import count
from pathlib import Path

import httpx
import pytest
from tests.faults.fleet import Fleet, fleet_of
from tests.faults.test_server_kill import AWAY, GONE, Load, reconcile
from tests.postgres import running_server

SECONDS = float(os.environ.get("CALLBOARD_SOAK_SECONDS", "1200"))
GUARD = 400.0
"""Seconds in which sessions end even if everything is struck in turn."""


class Everything:
    """Reads all events of the log, from one server after the other."""

    def __init__(self, fleet: Fleet) -> None:
        self.seen: list[int] = []
        self.connections = 0
        self._fleet = fleet

    async def read(self) -> None:
        async with self._fleet.client() as http:
            while True:
                with suppress(*GONE):
                    await self._connection(http)
                await asyncio.sleep(0.05)

    async def _connection(self, http: httpx.AsyncClient) -> None:
        self.connections += 1
        headers = {"Accept": "text/event-stream"}
        headers["Last-Event-ID"] = str(self.seen[-1] if self.seen else 0)
        async with http.stream("GET", "/stream", headers=headers) as answer:
            if answer.status_code == AWAY:
                return
            assert answer.status_code == 200, await answer.aread()
            id, whole = 0, False
            async for line in answer.aiter_lines():
                if line.startswith("id: "):
                    id = int(line[4:])
                elif line.startswith("data: "):
                    whole = True
                elif not line and whole:
                    self.seen.append(id)
                    whole = False


async def work(fleet: Fleet, name: str) -> Load:
    """Start sessions, answer their questions and read their events, all to the end."""
    load = Load(fleet, fleet.chance, 15, prefix=name)
    reading = asyncio.create_task(load.read_all())
    answering = asyncio.create_task(load.answer_all())
    try:
        async with asyncio.timeout(GUARD):
            await load.start_all()
            await asyncio.wait({reading, answering}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            await reading
    except TimeoutError:
        raise AssertionError(await _unfinished(fleet, name)) from None
    finally:
        for task in (reading, answering):
            task.cancel()
        await asyncio.gather(reading, answering, return_exceptions=True)
    return load


async def _unfinished(fleet: Fleet, name: str) -> str:
    async with fleet.client() as http:
        load = Load(fleet, fleet.chance, 0)
        found = await load.insist(http, "GET", "/sessions", params={"limit": "200"})
    left = [one for one in found.json()["sessions"] if one["status"] != "completed"]
    return f"{name} did not end: {left}, after {fleet.faults[-30:]}"


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_nothing_is_lost_whatever_dies(tmp_path: Path):
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}")
    with running_server() as database:
        async with fleet_of(database, tmp_path, random.Random(seed)) as fleet:
            everything = Everything(fleet)
            reading = asyncio.create_task(everything.read())
            striking = asyncio.create_task(fleet.strike_for(SECONDS))
            loads: list[Load] = []
            for number in count():
                loads.append(await work(fleet, f"batch-{number}"))
                if striking.done() or reading.done():
                    break
            await striking
            await fleet.heal()
            await check(fleet, loads, everything)
            reading.cancel()
    print(f"{len(loads)} batches, {everything.connections} connections of one reader")
    print({name: fleet.faults.count(name) for name in sorted(set(fleet.faults))})


async def check(fleet: Fleet, loads: list[Load], everything: Everything) -> None:
    """What was acknowledged is in the log, once; every reader has all of it; no job is left."""
    database = fleet.url.rpartition("/")[2]
    async with fleet.client() as http, asyncio.timeout(GUARD):
        for load in loads:
            await reconcile(load, http)
        ((last,),) = fleet.database.execute("SELECT seq FROM log", database)
        while not everything.seen or everything.seen[-1] != last:
            await asyncio.sleep(0.1)
            ((last,),) = fleet.database.execute("SELECT seq FROM log", database)
        while fleet.database.execute("SELECT count(*) FROM procrastinate_jobs", database) != [(0,)]:
            await asyncio.sleep(0.1)
    assert everything.seen == list(range(1, len(everything.seen) + 1))
