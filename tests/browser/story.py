"""What tests do behind a person's back: begin sessions, and wait for what becomes of them."""

import asyncio
from typing import Any

from tests.servers import Server

_WITHIN = 90


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


async def ask(server: Server, prompt: str, **config: object) -> str:
    """Ask for an interactive session that belongs to no workflow; gives its id."""
    async with server.client() as http:
        body = {"type": "interactive_session", "prompt": prompt, "config": config}
        asked = await http.post("/interactions", json=body)
        asked.raise_for_status()
        return asked.json()["id"]


async def complete(server: Server, question: str, **end: object) -> None:
    """End an interactive session, as somebody elsewhere."""
    async with server.client() as http:
        body = {"outcome": "completed", **end}
        (await http.post(f"/interactions/{question}/complete", json=body)).raise_for_status()


async def shown(server: Server, question: str) -> dict[str, Any]:
    """A question, as the server tells it."""
    async with server.client() as http:
        return (await http.get(f"/interactions/{question}")).json()


async def positions(server: Server, session: str) -> dict[str, int]:
    """Where each kind of event first stands."""
    async with server.client() as http:
        events = (await http.get(f"/sessions/{session}/events")).json()["events"]
    found: dict[str, int] = {}
    for event in events:
        found.setdefault(event["name"], event["position"])
    return found
