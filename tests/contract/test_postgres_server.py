"""A server whose database is in PostgreSQL."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from tests import server_flows
from tests.postgres import running_server
from tests.servers import TOKEN, serving

from callboard import Client
from callboard.events.envelope import Event

GUARD = 120.0


async def waits_until(http: httpx.AsyncClient, session: str, status: str) -> dict[str, Any]:
    while True:
        found = (await http.get(f"/sessions/{session}")).json()
        if found["status"] == status:
            return found
        await asyncio.sleep(0.02)


async def test_a_question_outlives_the_server_that_asked_it(postgres_url: str, tmp_path: Path):
    more = {"env": {"XDG_DATA_HOME": str(tmp_path)}, "options": [f"--db={postgres_url}"]}
    async with serving(tmp_path / "not.db", server_flows.__file__, **more) as server:
        async with server.client() as http:
            given = {"workflowId": "trip", "input": "Rome"}
            session = (await http.post("/sessions", json=given)).json()["sessionId"]
            (asked,) = (await waits_until(http, session, "waiting"))["pending"]
        await server.kill()
        await server.restart()
        async with server.client() as http:
            (still,) = (await waits_until(http, session, "waiting"))["pending"]
            assert still["id"] == asked["id"]
            answered = await http.post(f"/interactions/{asked['id']}/answer", json={"value": "yes"})
            assert answered.status_code == 200
            ended = await waits_until(http, session, "completed")
            events = (await http.get(f"/sessions/{session}/events")).json()["events"]
    assert not (tmp_path / "not.db").exists()  # The last address counts.
    assert [one["position"] for one in events] == list(range(1, ended["position"] + 1))
    assert not [line for line in server.log if "Traceback" in line or '"level":"error"' in line]


HASTY = """
from callboard.__main__ import main
from callboard.log.postgres.connections import PostgresAddress

parse = PostgresAddress.parse
PostgresAddress.parse = lambda url, patience: parse(url, 1.0)
main()
"""


async def test_requests_beyond_the_connections_are_told_when_to_try_again(
    postgres_url: str, tmp_path: Path
):
    more = {"env": {"XDG_DATA_HOME": str(tmp_path)}, "options": [f"--db={postgres_url}"]}
    async with (
        serving(
            tmp_path / "not.db", server_flows.__file__, program=("-c", HASTY), **more
        ) as server,
        server.client() as http,
        asyncio.timeout(GUARD),
    ):
        given = {"workflowId": "trip", "input": "Rome"}
        session = (await http.post("/sessions", json=given)).json()["sessionId"]
        (asked,) = (await waits_until(http, session, "waiting"))["pending"]
        async with await psycopg.AsyncConnection.connect(postgres_url) as blocking:
            await blocking.execute("LOCK TABLE sessions")
            path = f"/sessions/{session}"
            reading = {asyncio.create_task(http.get(path)) for _ in range(24)}
            refused, blocked = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED)
            assert blocked
        responses = await asyncio.gather(*reading)
        busy = [one for one in responses if one.status_code != 200]
        assert {(one.status_code, one.headers["Retry-After"]) for one in busy} == {(503, "1")}
        assert {one.json()["error"]["code"] for one in busy} == {"STORE_BUSY"}
        assert {task.result().status_code for task in refused} == {503}
        assert (await http.get(path)).status_code == 200
        answered = await http.post(f"/interactions/{asked['id']}/answer", json={"value": "yes"})
        assert answered.status_code == 200
        await waits_until(http, session, "completed")
    assert not [line for line in server.log if "Traceback" in line]


HOOK = {"hook_event_name": "SessionStart", "session_id": "s-1", "cwd": "/", "source": "startup"}


@pytest.mark.long
async def test_while_postgresql_is_away_requests_are_told_when_to_try_again(tmp_path: Path):
    with running_server() as database:
        url = database.create()
        more = {"env": {"XDG_DATA_HOME": str(tmp_path)}, "options": [f"--db={url}"]}
        async with (
            serving(tmp_path / "not.db", server_flows.__file__, **more) as server,
            server.client() as http,
            Client(server.url, TOKEN) as client,
            asyncio.timeout(GUARD),
        ):
            session = await client.start("trip", "Rome")
            (asked,) = (await waits_until(http, session, "waiting"))["pending"]
            heard: list[Event] = []
            reading = asyncio.create_task(follow(client, session, heard))
            while not heard:
                await asyncio.sleep(0.02)
            database.stop(signal.SIGINT)
            refused = await http.get(f"/sessions/{session}")
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
            # By now it is known that the server is away, and no request waits for it.
            path = f"/interactions/{asked['id']}/answer"
            refused = await http.post(path, json={"value": "yes"})
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
            assert (await http.post("/hooks/claude", json=HOOK)).status_code == 200
            database.start()
            while (await http.post(path, json={"value": "yes"})).status_code != 200:
                await asyncio.sleep(0.1)
            await waits_until(http, session, "completed")
            while not (await http.get("/plates")).json()["plates"]:
                await asyncio.sleep(0.1)
            await reading
            assert heard == await client.events(session)
    assert not [line for line in server.log if "Traceback" in line]


async def follow(client: Client, session: str, heard: list[Event]) -> None:
    async for event in client.tail(session):
        heard.append(event)  # noqa: PERF401 - it is complete only at the end
