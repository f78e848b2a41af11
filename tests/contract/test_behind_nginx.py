"""Behind nginx events come as they happen, not when the session ends."""

import asyncio
from pathlib import Path

import httpx
from tests.proxies import nginx
from tests.servers import TOKEN, serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"
PATIENCE = 90


async def test_events_come_through_as_they_happen(tmp_path: Path):
    async with (
        serving(tmp_path / "x.db", FLOWS) as server,
        nginx(tmp_path / "nginx", server.url) as url,
        httpx.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE
        ) as http,
    ):
        body = {"workflowId": "trip", "input": "Lisbon"}
        session = (await http.post("/sessions", json=body)).json()["sessionId"]
        names: list[str] = []
        path, accept = f"/sessions/{session}/events", {"Accept": "text/event-stream"}
        async with asyncio.timeout(PATIENCE), http.stream("GET", path, headers=accept) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    names.append(httpx.Response(200, text=line[6:]).json()["name"])
                    if names[-1] == "input:requested":
                        # Only who has seen the question by now can answer it.
                        await http.post(f"/sessions/{session}/input", json={"input": "yes"})
        assert names[-1] == "workflow:completed"
