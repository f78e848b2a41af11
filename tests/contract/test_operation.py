"""A real server, as whoever operates it sees it: health, metrics, documents, logs, traces."""

import asyncio
import json
import re
import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families
from tests.listening import listening
from tests.servers import TOKEN, Server, serving

FLOWS = Path(__file__).parent.parent / "server_flows.py"
PATIENCE = 90


async def command(*words: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "callboard", *words, env=env, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode()


async def metric(http: httpx.AsyncClient, name: str, **labels: str) -> float | None:
    answer = await http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            if sample.name == name and labels.items() <= sample.labels.items():
                return sample.value
    return None


async def becomes(http: httpx.AsyncClient, wanted: float, name: str, **labels: str) -> None:
    """Wait until a metric has a value; the server counts when an answer has ended."""
    async with asyncio.timeout(PATIENCE):
        while await metric(http, name, **labels) != wanted:
            await asyncio.sleep(0.02)


async def waiting_session(http: httpx.AsyncClient) -> str:
    body = {"workflowId": "trip", "input": "Lisbon"}
    session = (await http.post("/sessions", json=body)).json()["sessionId"]
    async with asyncio.timeout(PATIENCE):
        while (await http.get(f"/sessions/{session}")).json()["status"] != "waiting":
            await asyncio.sleep(0.02)
    return session


async def test_whoever_asks_learns_that_it_lives_and_nothing_else(tmp_path: Path):
    db = tmp_path / "x.db"
    async with serving(db, FLOWS) as server, server.client(token=None) as http:
        well = await http.get("/health")
        assert (well.status_code, well.json()) == (200, {"status": "ok"})
        with closing(sqlite3.connect(db)) as database:
            database.execute("DROP TABLE sessions")
        ill = await http.get("/health")
        assert ill.status_code == 503
        assert ill.json()["error"]["code"] == "STORE_ERROR"
        assert str(tmp_path) not in ill.text
        await server.stop()
    assert any(str(db) in line for line in server.log), "the log says what the answer does not"


async def test_metrics_need_a_token_and_count_what_happens(tmp_path: Path):
    async with serving(tmp_path / "x.db", FLOWS) as server, server.client() as http:
        async with server.client(token=None) as nobody:
            assert (await nobody.get("/metrics")).status_code == 401
        session = await waiting_session(http)
        assert await metric(http, "callboard_sessions", status="waiting") == 1
        assert await metric(http, "callboard_questions_pending") == 1
        assert await metric(http, "callboard_sessions_queued") == 0
        await becomes(http, 0, "callboard_sessions_driven")
        events = (await http.get(f"/sessions/{session}/events")).json()["events"]
        assert await metric(http, "callboard_events_appended_total") == len(events)

        accept = {"Accept": "text/event-stream"}
        async with http.stream("GET", f"/sessions/{session}/events", headers=accept):
            await becomes(http, 1, "callboard_stream_readers")
        await becomes(http, 0, "callboard_stream_readers")

        template = "/sessions/{session_id}/events"
        labels = {"route": template, "method": "GET", "status": "200"}
        await becomes(http, 2, "callboard_http_requests_total", **labels)
        refused = {"route": "none", "method": "GET", "status": "401"}
        assert await metric(http, "callboard_http_requests_total", **refused) == 1
        text = (await http.get("/metrics")).text
        assert session not in text


async def every_secret(server: Server, db: Path) -> list[str]:
    """Use a server in every way that involves a secret; gives the secrets."""
    env = {"CALLBOARD_TOKEN": TOKEN, "PATH": "/usr/bin:/bin"}
    _, made = await command(
        "token", "create", "--name=ada", "--scope=read", "--json", f"--db={db}", env=env
    )
    created: str = json.loads(made)["token"]
    wrong, in_query = "cb_a-wrong-token-of-somebody", "cb_a-token-in-the-address"
    async with server.client() as http:
        session = await waiting_session(http)
        code: str = (await http.post("/login")).json()["code"]
        async with server.client(token=None) as browser:
            login = await browser.get("/login", params={"code": code})
            again = await browser.get("/login", params={"code": code})
        assert (login.status_code, again.status_code) == (303, 403)
        cookie = login.cookies["callboard"]
        await http.get("/sessions", params={"token": in_query})
        await http.get(f"/sessions/{session}/events", params={"code": in_query})
        await http.get("/nowhere", params={"code": in_query})
    async with server.client(created) as http:
        assert (await http.get("/sessions")).status_code == 200
        assert (await http.post("/sessions", json={})).status_code == 403
    async with server.client(wrong) as http:
        assert (await http.get("/sessions")).status_code == 401
    async with server.client(token=None) as http:
        cookies = {"Cookie": f"callboard={cookie}", "Sec-Fetch-Site": "same-origin"}
        assert (await http.get("/sessions", headers=cookies)).status_code == 200
    return [TOKEN, created, wrong, in_query, code, cookie]


async def test_no_secret_is_ever_logged(tmp_path: Path):
    db = tmp_path / "x.db"
    async with serving(db, FLOWS, options=["--log-format=json"]) as server:
        secrets = await every_secret(server, db)
        assert await server.stop() == 0
    lines = [json.loads(line) for line in server.log]
    requests = [line for line in lines if line["logger"] == "callboard.requests"]
    seen = {(line["method"], line["path"], line["status"], line["who"]) for line in requests}
    assert {
        ("POST", "/login", 201, "admin"),
        ("GET", "/login", 303, None),
        ("GET", "/sessions", 200, "ada"),
        ("POST", "/sessions", 403, "ada"),
        ("GET", "/sessions", 401, None),
    } <= seen
    written = "\n".join(server.log)
    kept = [file for file in tmp_path.iterdir() if file.name.startswith("x.db.audit")]
    written += "".join(file.read_text() for file in kept)
    for secret in secrets:
        assert secret not in written
        # Not even a part of one.
        assert secret[-12:] not in written


async def test_a_session_of_a_real_server_is_one_trace(tmp_path: Path):
    bodies: list[bytes] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        assert length is not None
        bodies.append(await reader.readexactly(int(length[1])))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()

    async with (
        listening(take) as port,
        serving(
            tmp_path / "x.db",
            FLOWS,
            env={"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}"},
        ) as server,
        server.client() as http,
    ):
        session = await waiting_session(http)
        await http.post(f"/sessions/{session}/input", json={"input": "yes"})
        async with asyncio.timeout(PATIENCE):
            while (await http.get(f"/sessions/{session}")).json()["status"] != "completed":
                await asyncio.sleep(0.02)
        assert await server.stop(signal.SIGTERM) == 0
    sent = b"".join(bodies)
    for name in (b"workflow trip", b"phase plan", b"agent planner", b"wait for a person"):
        assert name in sent


async def test_the_doctor_finds_the_server_that_runs(tmp_path: Path):
    db = tmp_path / "x.db"
    async with serving(db, FLOWS) as server:
        env = {"CALLBOARD_TOKEN": TOKEN, "PATH": "/usr/bin:/bin"}
        where = [f"--db={db}", f"--port={server.port}"]
        code, out = await command("doctor", *where, "--json", env=env)
        found = {line["check"]: line for line in map(json.loads, out.splitlines())}
        assert code == 0
        assert found["server"]["status"] == found["server version"]["status"] == "ok"
        assert "1 time" in found["live folder"]["message"]
