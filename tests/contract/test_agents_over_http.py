"""A coding agent with a valid token asks the server for what only people may do."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.agents_that_answer import Job, agent
from tests.servers import TOKEN, Server, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMENT = {"path": "a", "line": 1, "text": "x", "side": "new", "excerpt": "y"}
PATHS = (
    ("GET", "/plates/{id}/conversation", None),
    ("GET", "/plates/{id}/conversation/search?text=key", None),
    ("GET", "/plates/{id}/conversation/items/x?cursor=y", None),
    ("GET", "/plates/{id}/changes", None),
    ("GET", "/plates/{id}/changes/file?path=a.py", None),
    ("POST", "/plates/{id}/changes/comments", {"comments": [COMMENT]}),
    ("GET", "/plates/{id}/messages", None),
    ("POST", "/plates/{id}/messages", {"text": "Go on."}),
    ("PATCH", "/plates/{id}/messages/m", {"text": "Go on."}),
    ("DELETE", "/plates/{id}/messages/m", None),
    ("POST", "/plates/{id}/interrupt", {}),
    ("POST", "/plates/start", {"agent": "claude", "folder": "/"}),
    ("POST", "/plates/{id}/stop", {}),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    async with serving(tmp_path_factory.mktemp("agents") / "x.db") as running:
        yield running


def text(method: str, path: str, body: object, token: str) -> str:
    """A request as it is sent."""
    content = "" if body is None else json.dumps(body)
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        f"Connection: close\r\n\r\n{content}"
    )


async def registered(server: Server, pid: int | None = None) -> str:
    """A plate; its id. pid: its agent's process."""
    told = {"agent": "claude", "project_path": str(Path("/p")), "session_id": "s", "pid": pid}
    async with server.client() as http:
        made = await http.post("/plates/register", json=told)
        return made.raise_for_status().json()["plateId"]


@pytest.mark.parametrize(("method", "path", "body"), PATHS, ids=lambda one: str(one)[:60])
async def test_an_agent_on_the_board_is_refused(
    server: Server, method: str, path: str, body: object
):
    async with agent() as asking:
        plate = await registered(server, asking.pid)
        request = text(method, path.format(id=plate), body, TOKEN)
        assert await asking.send(Job(server.port, request)) == "403"


async def test_events_lack_conversations_for_an_agent(server: Server):
    said = {"sessionId": "t", "cwd": "/p", "type": "notice", "text": "a secret"}
    async with agent() as asking, server.client() as http:
        await registered(server, asking.pid)
        (await http.post("/hooks/acp", json=said)).raise_for_status()
        plates = (await http.get("/plates")).json()["plates"]
        [plate] = [one["plateId"] for one in plates if one["sessionId"] == "t"]
        path = f"/plates/{plate}/events"
        assert "a secret" in (await http.get(path)).text
        message = {"text": "another secret", "when": "now"}
        (await http.post(f"/plates/{plate}/messages", json=message)).raise_for_status()
        assert "another secret" in (await http.get(path)).text
        request = text("GET", path, None, TOKEN)
        for secret in ("a secret", "another secret"):
            assert await asking.send(Job(server.port, request, sought=secret)) == "200 without"


@pytest.mark.parametrize(("method", "path", "body"), PATHS, ids=lambda one: str(one)[:60])
@pytest.mark.parametrize("scope", ["read", "answer", "hook"])
async def test_lesser_tokens_are_refused(
    server: Server, method: str, path: str, body: object, scope: str
):
    plate = await registered(server)
    async with server.client() as http:
        made = await http.post("/tokens", json={"name": f"{scope} for {method}", "scope": scope})
        token = made.raise_for_status().json()["secret"]
        given = {"Authorization": f"Bearer {token}"}
        told = await http.request(method, path.format(id=plate), json=body, headers=given)
        assert told.status_code == 403, told.text


@pytest.mark.parametrize(("method", "path", "body"), PATHS, ids=lambda one: str(one)[:60])
async def test_other_sites_and_hosts_are_refused(
    server: Server, method: str, path: str, body: object
):
    plate = await registered(server)
    for given in ({"Origin": "https://x.example"}, {"Host": "x.example"}):
        async with server.client() as http:
            told = await http.request(method, path.format(id=plate), json=body, headers=given)
            assert told.status_code in (400, 403, 421), (given, told.text)


async def test_bodies_that_are_too_large_start_nothing(server: Server):
    async with server.client() as http:
        given = {"agent": "claude", "folder": "/"}
        told = await http.post("/plates/start", json={**given, "prompt": "x" * 2_000_000})
        assert told.status_code == 413
        told = await http.post("/plates/start", json={**given, "prompt": "x" * 100_001})
        assert (told.status_code, "prompt" in told.text) == (400, True)
        told = await http.post("/plates/start", json={**given, "folder": "/" + "x" * 5000})
        assert (told.status_code, "folder" in told.text) == (400, True)


@pytest.mark.parametrize(
    "resume", ["--dangerously-skip-permissions", "-x", "a b", "../x", "a\n", ""]
)
async def test_a_session_id_is_never_an_option(server: Server, resume: str):
    async with server.client() as http:
        given = {"agent": "claude", "folder": "/", "resume": resume}
        told = await http.post("/plates/start", json=given)
        assert told.status_code == 400, told.text
        assert "resume" in told.text


@pytest.mark.parametrize("folder", ["", ".", "~", "../x", "x", "/a\0b", "file:///"])
async def test_a_folder_is_an_absolute_path(server: Server, folder: str):
    async with server.client() as http:
        told = await http.post("/plates/start", json={"agent": "claude", "folder": folder})
        assert told.status_code == 400, told.text
