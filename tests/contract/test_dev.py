"""`callboard serve --dev`: what a page without a token may do, and each thing that it may not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio
from tests.in_process import run_here
from tests.servers import Server, serving

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("dev")]

FLOWS = Path(__file__).parent.parent / "server_flows.py"
PAGE = "http://localhost:5173"
PATIENCE = 90
SECRET = "rm -r build --token=hunter2"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    folder = tmp_path_factory.mktemp("dev")
    async with serving(folder / "x.db", FLOWS, options=["--dev"]) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def admin(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client() as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def page(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    """What the browser sends for a page of the default origin, which has no token."""
    async with server.client(None) as client:
        client.headers.update({"Origin": PAGE, "Sec-Fetch-Site": "cross-site"})
        yield client


async def waiting(admin: httpx.AsyncClient) -> tuple[str, str]:
    """A session that asks something, and its question."""
    body = {"workflowId": "choice"}
    session = (await admin.post("/sessions", json=body)).json()["sessionId"]
    async with asyncio.timeout(PATIENCE):
        while not (asked := (await admin.get(f"/sessions/{session}")).json()["pending"]):
            await asyncio.sleep(0.01)
    return session, asked[0]["id"]


async def test_a_page_reads_and_answers(admin: httpx.AsyncClient, page: httpx.AsyncClient):
    session, question = await waiting(admin)
    reads = ["/workflows", "/sessions", f"/sessions/{session}", f"/sessions/{session}/events"]
    reads += [f"/sessions/{session}/state", "/interactions", f"/interactions/{question}", "/health"]
    for path in reads:
        answer = await page.get(path)
        assert answer.status_code == 200, (path, answer.text)
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert "access-control-allow-credentials" not in answer.headers
    body = {"id": question, "value": "left"}
    assert (await page.post(f"/sessions/{session}/input", json=body)).status_code == 200
    answered = (await admin.get(f"/interactions/{question}")).json()
    assert (answered["status"], answered["answeredBy"]) == ("completed", "dev")


async def test_a_page_follows_a_session_as_event_source_does(
    admin: httpx.AsyncClient, page: httpx.AsyncClient
):
    session, question = await waiting(admin)
    headers = {"Accept": "text/event-stream"}
    seen: list[str] = []
    async with (
        asyncio.timeout(PATIENCE),
        page.stream("GET", f"/sessions/{session}/events", headers=headers) as stream,
    ):
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                seen.append(orjson.loads(line.removeprefix("data: "))["name"])
                if seen[-1] == "input:requested":
                    answer = {"value": "right"}
                    await page.post(f"/interactions/{question}/answer", json=answer)
    assert seen[-1] == "workflow:completed"


async def test_a_preflight_is_answered_for_the_page_alone(page: httpx.AsyncClient):
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x"}
    assert (await page.options("/sessions/s/input", headers=asks)).status_code == 204
    foreign = {**asks, "Origin": "http://localhost:5174"}
    assert (await page.options("/sessions/s/input", headers=foreign)).status_code == 403


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:5174",
        "http://localhost",
        "https://localhost:5173",
        "http://127.0.0.1:5173",
        "http://localhost:5173.example.org",
        "http://evil.localhost:5173",
        "https://example.org",
        "null",
    ],
)
async def test_a_page_of_another_origin_is_refused(page: httpx.AsyncClient, origin: str):
    answer = await page.get("/sessions", headers={"Origin": origin})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["example.org", "rebound.example.org:2255", "192.168.1.7"])
async def test_a_name_that_others_may_look_up_is_refused(page: httpx.AsyncClient, host: str):
    assert (await page.get("/sessions", headers={"Host": host})).status_code == 403


async def test_who_is_no_page_needs_a_token(page: httpx.AsyncClient):
    del page.headers["Origin"]
    assert (await page.get("/sessions")).status_code == 403  # Another site, says the browser.
    del page.headers["Sec-Fetch-Site"]
    assert (await page.get("/sessions")).status_code == 401


@pytest.mark.parametrize("shown", ["Bearer cb_wrong-token-of-a-page", "Basic YTpi", ""])
async def test_a_wrong_token_is_wrong(page: httpx.AsyncClient, shown: str):
    answer = await page.get("/sessions", headers={"Authorization": shown})
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("method", "path"),
    [
        # What needs operate.
        ("POST", "/sessions"),
        ("DELETE", "/sessions/{session}"),
        ("POST", "/sessions/{session}/pause"),
        ("POST", "/sessions/{session}/resume"),
        ("POST", "/sessions/{session}/cancel"),
        ("POST", "/sessions/{session}/fork"),
        ("POST", "/sessions/{session}/retry"),
        ("POST", "/interactions"),
        # Hooks.
        ("POST", "/hooks/claude"),
        ("POST", "/hooks/codex"),
        ("POST", "/events"),
        ("POST", "/plates/register"),
        ("POST", "/plates/stopped"),
        # Coding agents.
        ("GET", "/plates"),
        ("GET", "/plates/p/events"),
        ("PATCH", "/plates/p"),
        ("DELETE", "/plates/p"),
        # Tokens, and what tells of them or of the machine.
        ("POST", "/login"),
        ("POST", "/logout"),
        ("GET", "/tokens"),
        ("POST", "/tokens"),
        ("GET", "/hosts"),
        ("DELETE", "/hosts/atlas"),
        ("POST", "/pairing"),
        ("GET", "/metrics"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("PUT", "/sessions/{session}/input"),
        ("GET", "/nowhere"),
    ],
)
async def test_all_else_stays_closed(
    admin: httpx.AsyncClient, page: httpx.AsyncClient, method: str, path: str
):
    session, _ = await waiting(admin)
    answer = await page.request(method, path.format(session=session), json={})
    assert answer.status_code == 403, answer.text
    assert answer.json()["error"]["code"] == "FORBIDDEN"
    assert (await admin.get(f"/sessions/{session}")).json()["status"] == "waiting"


def hook(name: str, **more: Any) -> dict[str, Any]:
    return {"session_id": "coding", "cwd": "/home/ada/x", "hook_event_name": name, **more}


async def test_what_coding_agents_ask_is_neither_read_nor_answered(
    admin: httpx.AsyncClient, page: httpx.AsyncClient
):
    asks = hook("PermissionRequest", tool_name="Bash", tool_input={"command": SECRET})
    heard: list[dict[str, Any]] = []

    async def listen() -> None:
        async with page.stream("GET", "/stream", timeout=None) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    assert SECRET not in line
                    heard.append(orjson.loads(line.removeprefix("data: ")))

    listening = asyncio.create_task(listen())
    await admin.post("/hooks/claude", json=hook("SessionStart", source="startup"))
    holding = asyncio.create_task(admin.post("/hooks/claude", json=asks, timeout=None))
    async with asyncio.timeout(PATIENCE):
        query = {"sessionId": "coding"}
        while not (
            found := (await admin.get("/interactions", params=query)).json()["interactions"]
        ):
            await asyncio.sleep(0.01)
    [asked] = found
    assert asked["type"] == "permission"

    assert (await page.get("/interactions", params=query)).json()["interactions"] == []
    assert SECRET not in (await page.get("/interactions")).text
    at = f"/interactions/{asked['id']}"
    assert (await page.get(at)).status_code == 403
    bodies: dict[str, dict[str, Any]] = {
        "answer": {"value": True, "approved": True},
        "complete": {"outcome": "completed", "response": {"approved": True}},
        "assign": {"to": "dev"},
        "claim": {"by": "dev"},
        "release": {"by": "dev"},
        "cancel": {},
    }
    for what, body in bodies.items():
        answer = await page.post(f"{at}/{what}", json=body)
        assert answer.status_code == 403, (what, answer.text)
    body = {"id": asked["id"], "value": True}
    assert (await page.post("/sessions/coding/input", json=body)).status_code == 403
    assert (await admin.get(at)).json()["status"] == "pending"
    assert not holding.done()

    # Of everything, the page hears that something happened, and to which question.
    async with asyncio.timeout(PATIENCE):
        while not any(one["name"] == "input:requested" for one in heard):
            await waiting(admin)
    assert [one for one in heard if not set(one["payload"]) <= {"id"}] == []
    for task in (listening, holding):
        task.cancel()
    await asyncio.gather(listening, holding, return_exceptions=True)


async def test_it_says_what_is_open_when_it_starts(server: Server):
    async with asyncio.timeout(PATIENCE):
        while "need no token" not in (told := " ".join(server.log)):
            await asyncio.sleep(0.01)
    assert f"pages of {PAGE} need no token" in told


async def test_other_origins_replace_the_default(tmp_path: Path):
    own = "https://app.example.org:8443"
    options = ["--dev", f"--cors-origin={own}"]
    async with serving(tmp_path / "x.db", options=options) as server, server.client(None) as page:
        assert (await page.get("/sessions", headers={"Origin": own})).status_code == 200
        assert (await page.get("/sessions", headers={"Origin": PAGE})).status_code == 403


async def test_without_it_a_page_needs_a_token(tmp_path: Path):
    options = [f"--cors-origin={PAGE}"]
    async with serving(tmp_path / "x.db", options=options) as server, server.client(None) as page:
        assert (await page.get("/sessions", headers={"Origin": PAGE})).status_code == 401


@pytest.mark.parametrize(
    "options",
    [
        ["--host=0.0.0.0"],
        ["--host=0.0.0.0", "--allow-remote"],
        ["--host=192.168.1.7", "--allow-remote"],
        ["--allow-remote"],
        ["--allowed-host=board.example.org"],
        ["--cors-origin=*"],
        ["--cors-origin=http://*.example.org"],
        ["--cors-origin=null"],
        ["--cors-origin=http://localhost:5173/app"],
    ],
)
async def test_it_does_not_start_where_more_would_be_open(tmp_path: Path, options: list[str]):
    words = ["serve", "--dev", "--port=0", f"--db={tmp_path / 'x.db'}", *options]
    code, out, err = run_here(words, tmp_path, {"HOME": str(tmp_path)})
    assert (code, out) == (2, "")
    assert "--dev" in err
