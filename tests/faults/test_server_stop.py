"""SIGTERM: no new work, agents finish if they can, and nothing is left half-done."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import Server, serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"
PATIENCE = 90


async def until(http: httpx.AsyncClient, session: str, name: str) -> list[dict[str, Any]]:
    """The session's events once one of this name is among them."""
    async with asyncio.timeout(PATIENCE):
        while True:
            events = (await http.get(f"/sessions/{session}/events")).json()["events"]
            if name in [event["name"] for event in events]:
                return events
            await asyncio.sleep(0.02)


async def started(server: Server, gate: Path) -> str:
    """A session whose agent works until a file is there."""
    async with server.client() as http:
        body = {"workflowId": "gate", "input": str(gate)}
        session = (await http.post("/sessions", json=body)).json()["sessionId"]
        await until(http, session, "agent:started")
        return session


async def names_after(server: Server, session: str) -> list[str]:
    async with server.client() as http:
        return [event["name"] for event in await until(http, session, "workflow:completed")]


async def test_an_agent_may_finish(tmp_path: Path):
    gate = tmp_path / "open"
    async with serving(tmp_path / "x.db", FLOWS, options=["--grace=20"]) as server:
        session = await started(server, gate)
        stopping = asyncio.create_task(server.stop())
        await refused(server)
        gate.touch()
        assert await stopping == 0
        await server.restart()
        names = await names_after(server, session)
    assert names.count("agent:started") == names.count("agent:completed") == 1
    assert "agent:interrupted" not in names


async def test_an_agent_that_takes_too_long_is_put_down_and_taken_up(tmp_path: Path):
    gate = tmp_path / "open"
    async with serving(tmp_path / "x.db", FLOWS, options=["--grace=0.2"]) as server:
        session = await started(server, gate)
        assert await server.stop() == 0
        gate.touch()
        await server.restart()
        names = await names_after(server, session)
    assert names.count("agent:started") == 2
    assert names.count("agent:interrupted") == names.count("agent:completed") == 1


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_streams_end_and_the_server_with_them(tmp_path: Path, how: signal.Signals):
    async with serving(tmp_path / "x.db", FLOWS) as server, server.client() as http:
        headers = {"Accept": "text/event-stream"}
        async with http.stream("GET", "/stream", headers=headers) as stream:
            lines = stream.aiter_lines()
            await anext(lines)
            stopping = asyncio.create_task(server.stop(how))
            async with asyncio.timeout(PATIENCE):
                async for _ in lines:
                    pass
            assert await stopping == 0
    assert not [line for line in server.log if "Traceback" in line]


async def refused(server: Server) -> None:
    """Return when nobody is let in any more."""
    async with asyncio.timeout(PATIENCE), server.client() as http:
        while True:
            try:
                await http.get("/health", headers={"Connection": "close"})
            except httpx.TransportError:
                return
            await asyncio.sleep(0.02)
