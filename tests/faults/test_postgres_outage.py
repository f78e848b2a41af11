"""A server whose PostgreSQL stops and comes back: nothing that was acknowledged is lost."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests import server_flows
from tests.held_hooks import PATIENCE, hook
from tests.postgres import PostgresServer
from tests.servers import Server, serving

import callboard.hookclient
from callboard.board.hook_folders import hooks_folder, spool_folder
from callboard.client.client import Client
from callboard.log.location import database_path

READS = ("/sessions", "/workflows", "/interactions", "/plates", "/tokens", "/me", "/metrics")


@pytest.fixture
async def server(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Server]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    more: Any = {"options": [f"--db={postgres_url}"]}
    local = database_path(postgres_url)
    async with serving(local, server_flows.__file__, **more) as running:
        yield running


async def until(http: httpx.AsyncClient, path: str, status: int) -> httpx.Response:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                answer = await http.get(path, timeout=2)
            except httpx.TimeoutException:
                continue  # It was sent before the server knew.
            if answer.status_code == status:
                return answer
            await asyncio.sleep(0.05)


async def waiting(http: httpx.AsyncClient, session: str, status: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            found = (await http.get(f"/sessions/{session}")).json()
            if found.get("status") == status:
                return found
            await asyncio.sleep(0.02)


def check_unavailable(answer: httpx.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) >= 1
    error = answer.json()["error"]
    assert error["code"] == "STORE_ERROR"
    assert "postgresql" not in error["message"]


async def delivered(server: Server, payload: dict[str, Any]) -> None:
    """What an agent's hook does, with the token that the server gave to hooks."""
    command = (sys.executable, "-I", "-S", callboard.hookclient.__file__)
    folder = str(hooks_folder(server.db))
    process = await asyncio.create_subprocess_exec(
        *command, folder, "claude", stdin=asyncio.subprocess.PIPE
    )
    await process.communicate(json.dumps(payload).encode())


class PatientReader:
    """Reads everything over one connection, for as long as it lasts."""

    def __init__(self, server: Server) -> None:
        self.seen: list[int] = []
        self._server = server

    async def read(self) -> None:
        async with Client(self._server.url, token=self._server.token) as client:
            async for place, _ in client.tail_all(0):
                self.seen.append(place)


class HastyReader(PatientReader):
    """Connects again after half a second of silence, and goes on after what it has seen."""

    refused = 0

    async def read(self) -> None:
        async with self._server.client() as http:
            while True:
                with suppress(httpx.ReadTimeout):
                    await self._connection(http)

    async def _connection(self, http: httpx.AsyncClient) -> None:
        last = {"Last-Event-ID": str(self.seen[-1] if self.seen else 0)}
        quick = httpx.Timeout(PATIENCE, read=0.5)
        async with http.stream("GET", "/stream", headers=last, timeout=quick) as stream:
            if stream.status_code == 503:
                self.refused += 1
                await asyncio.sleep(0.2)
                return
            at = 0
            async for line in stream.aiter_lines():
                if line.startswith("id: "):
                    at = int(line[4:])
                elif line.startswith("data: "):
                    self.seen.append(at)


async def test_requests_get_503_hooks_are_kept_and_streams_continue(
    postgres: PostgresServer, server: Server
):
    async with server.client() as http, server.client(None) as stranger:
        made = (await http.post("/tokens", json={"name": "x", "scope": "operate"})).json()
        given = {"workflowId": "trip", "input": "Rome"}
        session = (await http.post("/sessions", json=given)).json()["sessionId"]
        (asked,) = (await waiting(http, session, "waiting"))["pending"]
        patient, hasty = PatientReader(server), HastyReader(server)
        following = [asyncio.create_task(one.read()) for one in (patient, hasty)]
        postgres.stop(signal.SIGINT)
        try:
            check_unavailable(await until(stranger, "/health", 503))
            for path in (*READS, f"/sessions/{session}/events", "/stream"):
                check_unavailable(await http.get(path))
            check_unavailable(await http.post("/sessions", json=given))
            answer = await http.post(f"/interactions/{asked['id']}/answer", json={"value": "no"})
            check_unavailable(answer)
            async with server.client(made["secret"]) as holder:
                check_unavailable(await holder.get("/sessions"))
            direct = hook("SessionStart", source="startup") | {"session_id": "direct"}
            kept = await http.post("/hooks/claude", json=direct)
            assert (kept.status_code, kept.json()) == (200, {})
            await delivered(server, hook("SessionStart", source="startup"))
            async with asyncio.timeout(PATIENCE):
                while len(list(spool_folder(hooks_folder(server.db)).rglob("*.json*"))) < 2:
                    await asyncio.sleep(0.02)
                while not hasty.refused:
                    await asyncio.sleep(0.02)
        finally:
            postgres.start()
        await until(stranger, "/health", 200)
        answer = await http.post(f"/interactions/{asked['id']}/answer", json={"value": "yes"})
        assert answer.status_code == 200, answer.text
        ended = await waiting(http, session, "completed")
        events = (await http.get(f"/sessions/{session}/events")).json()["events"]
        assert [one["position"] for one in events] == list(range(1, ended["position"] + 1))
        async with asyncio.timeout(PATIENCE):
            while len((await http.get("/plates")).json()["plates"]) < 2:
                await asyncio.sleep(0.05)
        last = len(events) + 2  # Of this session, and of two plates.
        async with asyncio.timeout(PATIENCE):
            while min(len(patient.seen), len(hasty.seen)) < last:
                await asyncio.sleep(0.02)
        for task in following:
            task.cancel()
        await asyncio.wait(following)
    for reader in (patient, hasty):
        assert reader.seen == list(range(1, len(reader.seen) + 1))
    assert not [line for line in server.log if "Traceback" in line]
