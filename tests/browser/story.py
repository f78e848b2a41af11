"""What tests do behind a person's back: begin sessions, and wait for what becomes of them."""

import asyncio
from typing import Any

from tests.servers import Server

_WITHIN = 30


async def begin(server: Server, workflow: str, input: object, **more: object) -> str:
    """Start a session over HTTP; gives its id."""
    async with server.client() as http:
        body = {"workflowId": workflow, "input": input, **more}
        answer = await http.post("/sessions", json=body)
        answer.raise_for_status()
        return answer.json()["sessionId"]


async def question_of(server: Server, session: str) -> dict[str, Any]:
    """The question that a session waits with."""
    found = await wait_until(server, session, "waiting")
    return found["pending"][0]


async def wait_until(server: Server, session: str, status: str) -> dict[str, Any]:
    """Wait until a session stands so; gives what the server says of it."""
    async with server.client() as http, asyncio.timeout(_WITHIN):
        while True:
            found = (await http.get(f"/sessions/{session}")).json()
            if found["status"] == status and not found["running"]:
                return found
            await asyncio.sleep(0.02)


async def answer(server: Server, session: str, value: str) -> None:
    """Answer the question that a session waits with, as somebody elsewhere."""
    question = await question_of(server, session)
    async with server.client() as http:
        where = f"/interactions/{question['id']}/answer"
        (await http.post(where, json={"value": value, "by": "Ada"})).raise_for_status()


async def positions(server: Server, session: str) -> dict[str, int]:
    """Where each kind of event first stands."""
    async with server.client() as http:
        events = (await http.get(f"/sessions/{session}/events")).json()["events"]
    found: dict[str, int] = {}
    for event in events:
        found.setdefault(event["name"], event["position"])
    return found
