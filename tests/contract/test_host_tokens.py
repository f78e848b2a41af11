"""A token that is limited to a host reports for that host, whatever its reports say."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import pytest_asyncio
from tests.in_process import run_here
from tests.servers import serving

from callboard import Callboard

PATIENCE = 90

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("host tokens"),
]


class Senders(NamedTuple):
    """Clients with the tokens of two hosts, of this one, and of the admin."""

    atlas: httpx.AsyncClient
    mira: httpx.AsyncClient
    local: httpx.AsyncClient
    admin: httpx.AsyncClient


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def senders(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Senders]:
    async with (
        serving(tmp_path_factory.mktemp("hosts") / "x.db") as server,
        AsyncExitStack() as stack,
        server.client() as admin,
    ):

        async def sender(host: str | None) -> httpx.AsyncClient:
            body = {"name": f"hooks of {host}", "scope": "hook", "host": host}
            secret = (await admin.post("/tokens", json=body)).json()["secret"]
            return await stack.enter_async_context(server.client(secret))

        yield Senders(await sender("atlas"), await sender("mira"), await sender(None), admin)


@pytest.fixture
def session(request: pytest.FixtureRequest) -> str:
    return f"session of {request.node.name}"


def hook(session: str, name: str, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "cwd": "/home/ada/x", "hook_event_name": name, **more}


async def send(sender: httpx.AsyncClient, payload: dict[str, Any]) -> httpx.Response:
    answer = await sender.post("/hooks/claude", json=payload)
    assert answer.status_code == 200, answer.text
    return answer


async def plates(senders: Senders, session: str) -> dict[str, dict[str, Any]]:
    """The plates of a session, by their hosts."""
    found = (await senders.admin.get("/plates")).json()["plates"]
    return {one["host"]: one for one in found if one["sessionId"] == session}


async def test_a_report_is_recorded_for_the_host_of_its_token(senders: Senders, session: str):
    claims = {"host": "mira", "hostName": "mira", "callboard": {"pid": 1, "host": "mira"}}
    await send(senders.atlas, hook(session, "SessionStart", source="startup", **claims))
    [(host, plate)] = (await plates(senders, session)).items()
    assert (host, plate["hostName"]) == ("atlas", "atlas")


async def test_without_a_host_it_is_recorded_for_the_server_s(senders: Senders, session: str):
    await send(senders.local, hook(session, "SessionStart", source="startup", host="mira"))
    [host] = await plates(senders, session)
    assert host not in ("", "atlas", "mira")


async def test_the_same_session_on_two_hosts_has_two_plates(senders: Senders, session: str):
    for sender in (senders.atlas, senders.mira, senders.local):
        await send(sender, hook(session, "SessionStart", source="startup"))
    await send(senders.mira, hook(session, "SessionEnd", reason="other"))
    found = await plates(senders, session)
    assert len(found) == 3
    assert found["mira"]["status"] == "closed"
    assert {one["status"] for host, one in found.items() if host != "mira"} == {"idle"}


async def test_programs_report_for_the_host_too(senders: Senders, session: str):
    where = {"session_id": session, "project_path": "/p", "agent": "claude"}
    for sender in (senders.atlas, senders.local):
        made = await sender.post("/plates/register", json=where)
        assert made.status_code == 201, made.text
    event = {**where, "event_type": "prompt_submit", "prompt": "Go"}
    assert (await senders.atlas.post("/events", json=event)).status_code == 200
    found = await plates(senders, session)
    assert len(found) == 2
    assert found["atlas"]["status"] == "running"
    ended = await senders.atlas.post("/plates/stopped", json=where)
    assert ended.json()["count"] == 1
    found = await plates(senders, session)
    assert found.pop("atlas")["status"] == "closed"
    [local] = found.values()
    assert local["status"] == "starting"


async def test_another_host_can_neither_take_nor_end_a_held_question(
    senders: Senders, session: str
):
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    asks = hook(session, "PermissionRequest", **call, callboard={"hold": f"{len(session)}q"})
    await send(senders.atlas, hook(session, "SessionStart", source="startup"))
    waiting = asyncio.create_task(send(senders.atlas, asks))
    query = {"status": "pending", "sessionId": session}
    async with asyncio.timeout(PATIENCE):
        while not (found := await senders.admin.get("/interactions", params=query)).json()[
            "interactions"
        ]:
            await asyncio.sleep(0.01)
    [question] = found.json()["interactions"]

    # Not held, because it isn't that host's question: it comes back at once, without a decision.
    assert (await send(senders.mira, asks)).json() == {}
    gone = hook(
        session, "PermissionRequest", **call, callboard={"hold": question["id"], "gone": True}
    )
    await send(senders.mira, gone)
    assert not waiting.done()
    [still] = (await senders.admin.get("/interactions", params=query)).json()["interactions"]
    assert still["id"] == question["id"]

    await senders.admin.post(f"/interactions/{question['id']}/answer", json={"approved": True})
    async with asyncio.timeout(PATIENCE):
        assert (await waiting).json() != {}


async def test_a_token_of_a_host_answers_nothing(senders: Senders, session: str):
    for path in ("/interactions", "/plates", "/me"):
        assert (await senders.atlas.get(path)).status_code == 403, path


async def test_the_command_line_limits_a_token_to_a_host(tmp_path: Path):
    async with Callboard.open(tmp_path / "x.db"):
        pass
    create = ("token", "create", "--name=relay", "--scope=hook", "--host=atlas")
    for command in (create, ("token", "list")):
        words = (*command, f"--db={tmp_path / 'x.db'}")
        code, printed, err = await asyncio.to_thread(run_here, words, tmp_path, os.environ)
        assert code == 0, err
    assert "atlas" in printed
