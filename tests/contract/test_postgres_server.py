"""A server whose database is in PostgreSQL."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
from tests import server_flows
from tests.servers import serving


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
