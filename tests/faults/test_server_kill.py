"""A server that is killed at random moments under load loses nothing it acknowledged.

Sessions are started, questions answered and streams read while the real process is killed with
SIGKILL and started again; afterwards everything is reconciled with the log.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx
import pytest
from tests.servers import serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"
ENDS = {"workflow:completed", "workflow:failed", "workflow:cancelled"}
GONE = (httpx.TransportError, httpx.RemoteProtocolError)
AWAY = 503
"""The server is there, and its database is not."""


class Answering(Protocol):
    """A server, or several of which any may answer."""

    def client(self) -> httpx.AsyncClient: ...


@dataclass
class Load:
    """Clients of a server that goes away and comes back, and what they were told."""

    server: Answering
    chance: random.Random
    sessions: int
    prefix: str = "s"
    started: set[str] = field(default_factory=set[str])
    answered: dict[str, str] = field(default_factory=dict[str, str])
    seen: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    reconnects: int = 0

    async def insist(
        self, http: httpx.AsyncClient, method: str, path: str, **more: Any
    ) -> httpx.Response:
        """Send a request until somebody answers it."""
        while True:
            try:
                answer = await http.request(method, path, **more)
                if answer.status_code != AWAY:
                    return answer
            except GONE:
                pass
            await asyncio.sleep(0.02)

    async def start_all(self) -> None:
        async with self.server.client() as http:
            for number in range(self.sessions):
                body = {
                    "workflowId": "trip" if number % 3 else "count",
                    "input": "Lisbon" if number % 3 else 3,
                    "sessionId": f"{self.prefix}-{number}",
                }
                answer = await self.insist(http, "POST", "/sessions", json=body)
                # An answer that was lost with the server leaves a session that is there already.
                assert (
                    answer.status_code == 201 or answer.json()["error"]["code"] == "SESSION_EXISTS"
                )
                self.started.add(f"{self.prefix}-{number}")
                await asyncio.sleep(self.chance.random() * 0.02)

    async def answer_all(self) -> None:
        """Answer whatever waits; a refusal must mean that it has been answered before."""
        async with self.server.client() as http:
            while True:
                found = await self.insist(
                    http, "GET", "/interactions", params={"status": "pending"}
                )
                for question in found.json()["interactions"]:
                    await self._answer(http, question["id"])
                await asyncio.sleep(self.chance.random() * 0.02)

    async def _answer(self, http: httpx.AsyncClient, question: str) -> None:
        body = {"value": "yes", "by": f"person-{self.chance.random()}"}
        answer = await self.insist(http, "POST", f"/interactions/{question}/answer", json=body)
        if answer.status_code == 200:
            assert question not in self.answered, "two were told that their answer counts"
            self.answered[question] = answer.json()["answeredBy"]
        else:
            assert answer.json()["error"]["code"] in ("ALREADY_ANSWERED", "INTERACTION_CLOSED")

    async def read_all(self) -> None:
        names = [f"{self.prefix}-{number}" for number in range(self.sessions)]
        await asyncio.gather(*(self._read(name) for name in names))

    async def _read(self, session: str) -> None:
        """Read a session's stream to its end, coming back with the last id."""
        places = self.seen[session] = []
        async with self.server.client() as http:
            while True:
                try:
                    async for place, name in _frames(http, session, places[-1] if places else 0):
                        places.append(place)
                        if name in ENDS:
                            return
                except GONE:
                    pass
                self.reconnects += 1
                await asyncio.sleep(0.02)


async def _frames(
    http: httpx.AsyncClient, session: str, after: int
) -> AsyncIterator[tuple[int, str]]:
    headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
    async with http.stream("GET", f"/sessions/{session}/events", headers=headers) as answer:
        if answer.status_code in (404, AWAY):  # Not begun yet, or no database.
            return
        assert answer.status_code == 200, await answer.aread()
        place, name = 0, None
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                place = int(line[4:])
            elif line.startswith("data: "):
                name = json.loads(line[6:])["name"]
            elif not line and name is not None:
                # Only the empty line makes a frame whole.
                yield place, name
                name = None


async def reconcile(load: Load, http: httpx.AsyncClient) -> None:
    """Everything that was acknowledged is in the log, once."""
    for session in sorted(load.started):
        found = (await http.get(f"/sessions/{session}")).json()
        assert found["status"] == "completed", found
        events = (await http.get(f"/sessions/{session}/events")).json()["events"]
        names = Counter(event["name"] for event in events)
        assert names["workflow:started"] == names["workflow:completed"] == 1
        assert names["input:requested"] == names["input:received"]
        received = {
            one["payload"]["id"]: one["payload"]["by"]
            for one in events
            if one["name"] == "input:received"
        }
        for question, by in received.items():
            assert load.answered.get(question, by) == by
        completed = [
            event["payload"]["run"] for event in events if event["name"] == "agent:completed"
        ]
        assert len(completed) == len(set(completed)), "what was completed ran again"
        assert load.seen[session] == list(range(1, found["position"] + 1))


async def killed_under_load(tmp_path: Path, *, sessions: int, kills: int, seed: int) -> Load:
    chance = random.Random(seed)
    async with serving(tmp_path / "x.db", FLOWS) as server:
        load = Load(server, chance, sessions)
        reading = asyncio.create_task(load.read_all())
        starting = asyncio.create_task(load.start_all())
        answering = asyncio.create_task(load.answer_all())
        for _ in range(kills):
            await asyncio.sleep(0.1 + chance.random() * 0.6)
            await server.kill()
            await server.restart()
        await asyncio.wait({starting, answering}, return_when=asyncio.FIRST_COMPLETED)
        await starting
        finished, _ = await asyncio.wait({reading, answering}, return_when=asyncio.FIRST_COMPLETED)
        for task in finished:
            task.result()
        answering.cancel()
        async with server.client() as http:
            await reconcile(load, http)
        assert await server.stop() == 0
    return load


async def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path):
    load = await killed_under_load(tmp_path, sessions=20, kills=3, seed=1)
    assert load.reconnects


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(4))
async def test_nothing_is_lost_however_often(tmp_path: Path, seed: int):
    await killed_under_load(tmp_path, sessions=200, kills=30, seed=seed)
