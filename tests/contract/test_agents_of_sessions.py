"""What a coding agent asks that works for a session, over HTTP."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from tests.agents_that_answer import Job, request, sending
from tests.servers import TOKEN, serving

from callboard.vendors.claude.launching import MARK

FLOW = """
from callboard import Context, Phase, State, Workflow
from callboard.interactions.questions import Rendered


class Job(State):
    said: dict = {}


async def work(state: Job, ctx: Context) -> dict:
    config = {"agent": "claude", "toolName": "Bash", "toolInput": {"command": "ls"}}
    asked = await ctx.put(Rendered("permission", "Run: ls", config=config), key="k")
    return asked.response


def keep(state: Job, said: dict) -> None:
    state.said = said


job = Workflow("job", state=Job, phases=[Phase("work", agent=work, update=keep, terminal=True)])
"""

WITHIN = 90


async def _asked(http: httpx.AsyncClient) -> Any:
    async with asyncio.timeout(WITHIN):
        while not (found := (await http.get("/interactions?status=pending")).json())[
            "interactions"
        ]:
            await asyncio.sleep(0.02)
    return found["interactions"][0]


async def _answered_by_the_agent(job: Job, *before: str) -> str:
    """What a process is told that the agent has started."""
    env = {**os.environ, MARK: "some-run:1:2"}
    command = [*before, *sending(job)]
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", '"$@"; exit', "sh", *command), stdout=asyncio.subprocess.PIPE, env=env
    )
    told, _ = await process.communicate()
    return told.decode().strip()


async def test_it_cannot_approve_what_its_workflow_asks(tmp_path: Path):
    async with serving(tmp_path / "db") as server, server.client() as http:
        body = {"type": "approval", "prompt": "Deploy?"}
        asked = (await http.post("/interactions", json=body)).json()
        session = {"prompt": "Which?", "outcomeSchema": {"type": "approval"}}
        talk = {"type": "interactive_session", "prompt": "Which?", "config": session}
        attended = (await http.post("/interactions", json=talk)).json()
        requests = [
            (f"/interactions/{asked['id']}/answer", {"value": "yes"}),
            (
                f"/interactions/{attended['id']}/complete",
                {"outcome": "completed", "response": "approved"},
            ),
        ]
        for path, value in requests:
            job = Job(server.port, request(path, value, TOKEN))
            assert await _answered_by_the_agent(job) == "403"
            assert await _answered_by_the_agent(job, "env", "-u", MARK) == "403"
            assert (await http.post(path, json=value)).status_code == 200


async def test_it_cannot_answer_itself_and_a_person_can(tmp_path: Path):
    flow = tmp_path / "flow.py"
    flow.write_text(FLOW, encoding="utf-8")
    async with serving(tmp_path / "db", str(flow)) as server, server.client() as http:
        session = (await http.post("/sessions", json={})).json()["sessionId"]
        asked = await _asked(http)
        assert (asked["type"], asked["sessionId"], asked["phase"]) == (
            "permission",
            session,
            "work",
        )
        path = f"/interactions/{asked['id']}/answer"

        job = Job(server.port, request(path, {"value": {"approved": True}}, TOKEN))
        assert await _answered_by_the_agent(job) == "403"
        assert await _answered_by_the_agent(job, "env", "-u", MARK) == "403"
        for how in ("close", "half-close", "reset"):
            await _answered_by_the_agent(replace(job, how=how))
        assert (await _asked(http))["id"] == asked["id"]
        withdrawn = await http.post(f"/interactions/{asked['id']}/cancel")
        assert withdrawn.status_code == 409
        assert "needs an answer" in withdrawn.json()["error"]["message"]

        said = {"approved": False, "message": "Not here."}
        assert (await http.post(path, json={"value": said})).status_code == 200
        async with asyncio.timeout(WITHIN):
            while (await http.get(f"/sessions/{session}")).json()["status"] != "completed":
                await asyncio.sleep(0.02)
        state = (await http.get(f"/sessions/{session}/state")).json()["state"]
        assert state["said"] == said
