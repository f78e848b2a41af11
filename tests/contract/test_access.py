"""Who is let in, over a real server, by what `callboard token` and `callboard open` do."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.in_process import run_here
from tests.servers import TOKEN, Server, serving

from callboard.server.dashboard import BUILT
from callboard.server.event_stream import CHECK_EVERY

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("access"),
]

LIMIT = 1_048_576
PATIENCE = 90

# A browser that does what a page tells it to, and writes down where that led.
BROWSER = """
import re, sys, json, html, urllib.parse, httpx
page = open(urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[2]).path)).read()
address = html.unescape(re.search('url=([^"]+)', page)[1])
# Names under .localhost are this machine, whatever the resolver says.
address = re.sub('//[^:/]+', '//127.0.0.1', address)
answer = httpx.get(address, trust_env=False)
open(sys.argv[1], "w").write(json.dumps([answer.status_code, answer.headers["set-cookie"]]))
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    async with serving(tmp_path_factory.mktemp("access") / "x.db") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client() as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def stranger(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client(None) as client:
        yield client


async def callboard(server: Server, *arguments: str, **env: str) -> tuple[int, str, str]:
    """Run a command on the server's database, or on the server that it names; what came of it."""
    place = () if "--server" in arguments else (f"--db={server.db}",)
    words, settings = (*arguments, *place), {"CALLBOARD_TOKEN": TOKEN, **env}
    if arguments[0] == "token":
        here = {**os.environ, **settings}
        return await asyncio.to_thread(run_here, words, server.db.parent, here)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "callboard",
        *words,
        env={**os.environ, **settings},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


def error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    assert answer.json()["error"]["code"] == code
    return answer.json()["error"]


async def logged_in(http: httpx.AsyncClient) -> str:
    """The cookie of a link that was just used."""
    link = (await http.post("/login")).json()
    answer = await http.get("/login", params={"code": link["code"]})
    assert answer.status_code == 303
    return answer.headers["set-cookie"].partition(";")[0]


async def test_nobody_learns_which_routes_there_are(stranger: httpx.AsyncClient):
    for path in (
        "/sessions",
        "/no/such/route",
        "/docs",
        "/openapi.json",
        "/metrics",
        "/sessions/x",
    ):
        for method in ("GET", "POST", "BREW"):
            answer = await stranger.request(method, path)
            if method == "BREW":  # The parser knows no such method, and says so itself.
                assert answer.status_code == 400
            else:
                error(answer, 401, "UNAUTHENTICATED")


async def test_health_needs_no_token_and_a_foreign_host_gets_not_even_that(
    stranger: httpx.AsyncClient,
):
    assert (await stranger.get("/health")).json() == {"status": "ok"}
    answer = await stranger.get("/health", headers={"Host": "evil.com"})
    assert error(answer, 403, "FORBIDDEN")["field"] == "host"


async def test_a_page_of_another_site_can_do_nothing(http: httpx.AsyncClient, server: Server):
    cookie = await logged_in(http)
    for headers in (
        {"Origin": "http://evil.com"},
        {"Origin": "null"},
        {"Origin": f"http://localhost:{server.port}"},  # Another name is another origin.
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        for method in ("GET", "POST"):
            answer = await http.request(method, "/sessions", headers={**headers, "Cookie": cookie})
            error(answer, 403, "FORBIDDEN")


async def test_scopes_reach_as_far_as_they_say(server: Server):
    wanted = {
        "hook": (403, 403, 403, 403),
        "read": (200, 403, 403, 403),
        "answer": (200, 404, 403, 403),
        "operate": (200, 404, 404, 403),
        "admin": (200, 404, 404, 201),
    }
    for scope, statuses in wanted.items():
        code, out, _ = await callboard(
            server, "token", "create", f"--name={scope}", "--scope", scope
        )
        assert code == 0
        async with server.client(out.strip()) as client:
            got = (
                await client.get("/sessions"),
                await client.post("/interactions/nothing/answer", json={"value": "yes"}),
                await client.post("/sessions/nothing/pause"),
                await client.post("/login"),
            )
            assert tuple(answer.status_code for answer in got) == statuses, scope
            for answer in got:
                if answer.status_code == 403:
                    assert "callboard token create --name" in answer.json()["error"]["message"]


async def test_a_revoked_token_is_wrong_at_once(server: Server):
    code, out, err = await callboard(
        server, "token", "create", "--name=ci", "--scope=read", "--json"
    )
    assert (code, err) == (0, "")
    made = json.loads(out)
    async with server.client(made["token"]) as client:
        assert (await client.get("/sessions")).status_code == 200
        listed = (await callboard(server, "token", "list", "--json"))[1]
        assert made["token"] not in listed
        assert made["id"] in [json.loads(line)["id"] for line in listed.splitlines()]
        assert (await callboard(server, "token", "revoke", made["id"]))[0] == 0
        error(await client.get("/sessions"), 401, "UNAUTHENTICATED")
    assert (await callboard(server, "token", "revoke", made["id"]))[0] == 2


async def test_a_revoked_token_reads_no_further_from_an_open_stream(
    server: Server, http: httpx.AsyncClient
):
    made = (await http.post("/tokens", json={"name": "ci", "scope": "read"})).json()
    async with server.client(made["secret"]) as client, client.stream("GET", "/stream") as stream:
        lines = stream.aiter_lines()
        assert (await anext(lines)).startswith("id: ")
        await http.delete(f"/tokens/{made['token']['id']}")
        # An event of another test may have had the token checked just before.
        await asyncio.sleep(CHECK_EVERY)
        await http.post("/interactions", json={"type": "approval", "prompt": "Secret?"})
        async with asyncio.timeout(PATIENCE):
            rest = [line async for line in lines]
    assert not [line for line in rest if line.startswith("data")]


async def test_a_link_becomes_a_cookie_once(http: httpx.AsyncClient, stranger: httpx.AsyncClient):
    made = await http.post("/login")
    assert made.status_code == 201
    code = made.json()["code"]
    used = await stranger.get("/login", params={"code": code})
    assert used.status_code == 303
    assert used.headers["location"] == "/app/"
    value, *attributes = used.headers["set-cookie"].split("; ")
    assert {one.lower() for one in attributes} == {
        "httponly",
        "samesite=strict",
        "path=/",
        "max-age=2592000",
    }
    name, _, _ = value.partition("=")
    assert name == "callboard"
    stranger.cookies.clear()
    assert (
        "callboard open"
        in error(await stranger.get("/login", params={"code": code}), 403, "FORBIDDEN")["message"]
    )
    assert error(await stranger.get("/login"), 403, "FORBIDDEN")["field"] == "code"


async def test_a_spent_link_is_a_page_for_people_and_an_error_for_programs(
    stranger: httpx.AsyncClient,
):
    asks = {"Accept": "text/html,*/*;q=0.8"}
    spent = await stranger.get("/login", params={"code": "spent"}, headers=asks)
    assert spent.status_code == 403
    if BUILT.joinpath("index.html").exists():
        assert spent.headers["content-type"].startswith("text/html")
        assert spent.headers["cache-control"] == "no-store"
    error(await stranger.get("/login", params={"code": "spent"}), 403, "FORBIDDEN")


async def test_the_command_that_signs_in_is_told_to_the_servers_own_user(tmp_path: Path):
    db = tmp_path / "x.db"
    async with (
        serving(db, options=["--allowed-host", "board.example.com"]) as server,
        server.client(token=None) as client,
    ):
        here = error(await client.get("/sessions"), 401, "UNAUTHENTICATED")
        assert here["signIn"] == f"callboard open --db {db}"
        proxied = await client.get("/sessions", headers={"Host": "board.example.com"})
        assert "signIn" not in error(proxied, 401, "UNAUTHENTICATED")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
async def test_other_users_learn_no_path_from_a_refusal(server: Server):
    asks = "GET /sessions HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n"
    script = f"exec 3<>/dev/tcp/127.0.0.1/{server.port}; printf '{asks}' >&3; cat <&3"
    told = await asyncio.create_subprocess_exec(
        "bash", "-c", script, stdout=asyncio.subprocess.PIPE, user=65534, cwd="/"
    )
    out, _ = await told.communicate()
    assert b"UNAUTHENTICATED" in out
    assert b"signIn" not in out


async def test_behind_tls_the_cookie_is_for_tls_alone(tmp_path: Path):
    proxied = {"Host": "board.example.com", "X-Forwarded-Proto": "https"}
    async with (
        serving(tmp_path / "x.db", options=["--allowed-host", "board.example.com"]) as server,
        server.client() as client,
    ):
        for headers, secure in ((proxied, True), ({"X-Forwarded-Proto": "https"}, False)):
            code = (await client.post("/login")).json()["code"]
            used = await client.get("/login", params={"code": code}, headers=headers)
            assert ("secure" in used.headers["set-cookie"].lower().split("; ")) == secure


async def test_the_cookie_reads_and_commands_only_from_our_own_page(
    http: httpx.AsyncClient, stranger: httpx.AsyncClient, server: Server
):
    cookie = {"Cookie": await logged_in(http)}
    assert (await stranger.get("/sessions", headers=cookie)).status_code == 200
    error(await stranger.post("/sessions/x/pause", headers=cookie), 401, "UNAUTHENTICATED")
    ours = {**cookie, "Origin": server.url}
    error(await stranger.post("/sessions/x/pause", headers=ours), 404, "SESSION_NOT_FOUND")
    same = {**cookie, "Sec-Fetch-Site": "same-origin"}
    error(await stranger.post("/sessions/x/pause", headers=same), 404, "SESSION_NOT_FOUND")
    # Links are for people at the dashboard: they do not make further links.
    assert error(await stranger.post("/login", headers=same), 403, "FORBIDDEN")["needed"] == "admin"
    out = await stranger.post("/logout", headers=same)
    assert out.json() == {"ok": True}
    assert 'callboard="";' in out.headers["set-cookie"]
    error(await stranger.get("/sessions", headers=cookie), 401, "UNAUTHENTICATED")


async def test_a_cookie_outlives_a_restart_and_dies_with_the_token(tmp_path: Path):
    async with serving(tmp_path / "x.db") as server:
        async with server.client() as client:
            cookie = {"Cookie": await logged_in(client)}
        await server.stop()
        await server.start()
        async with server.client(None) as client:
            assert (await client.get("/sessions", headers=cookie)).status_code == 200
        await server.stop()
        server.env = {"CALLBOARD_TOKEN": "cb_another-token-for-tests"}
        await server.start()
        async with server.client(None) as client:
            error(await client.get("/sessions", headers=cookie), 401, "UNAUTHENTICATED")


async def test_a_body_beyond_the_limit_is_refused_and_the_connection_goes_on(
    server: Server,
):
    body = b"x" * (LIMIT + 1)

    async def in_chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(body), 65_536):
            yield body[at : at + 65_536]

    async with server.client() as client:
        for content in (body, in_chunks()):
            answer = await client.post("/sessions", content=content)
            assert error(answer, 413, "TOO_LARGE")["limit"] == LIMIT
            assert (await client.get("/sessions")).status_code == 200
        fits = b'{"workflowId": "' + b"x" * (LIMIT - 18) + b'"}'
        assert len(fits) == LIMIT
        assert (await client.post("/sessions", content=fits)).status_code in (400, 404)


async def test_who_waits_for_our_word_before_a_large_body_is_told_and_let_go(server: Server):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        b"Authorization: Bearer %b\r\nContent-Length: 99999999\r\n\r\n" % TOKEN.encode()
    )
    async with asyncio.timeout(PATIENCE):
        told = await reader.read()
    writer.close()
    assert told.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in told.lower()
    assert b"TOO_LARGE" in told


async def test_several_hosts_and_targets_of_other_hosts_are_refused(server: Server):
    for head in (
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n",
        b"GET /health HTTP/1.0\r\n",
        b"GET http://evil.com/health HTTP/1.1\r\nHost: evil.com\r\n",
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(head + b"Connection: close\r\n\r\n")
        async with asyncio.timeout(PATIENCE):
            told = await reader.read()
        writer.close()
        assert told.split(b" ")[1] in (b"400", b"403"), told


async def test_wrong_tokens_are_slowed_down_and_the_right_one_never(tmp_path: Path):
    async with serving(tmp_path / "x.db") as server, server.client("cb_wrong") as wrong:
        statuses = [(await wrong.get("/sessions")).status_code for _ in range(11)]
        assert statuses == [401] * 10 + [429]
        answer = await wrong.get("/sessions", headers={"X-Forwarded-For": "192.0.2.1"})
        told = error(answer, 429, "TOO_MANY_FAILURES")
        assert 1 <= told["retryAfter"] <= 60
        assert answer.headers["retry-after"] == str(told["retryAfter"])
        async with server.client() as right:
            assert (await right.get("/sessions")).status_code == 200


async def test_only_a_named_site_may_call_and_never_with_cookies(tmp_path: Path):
    site = "https://app.example.com"
    async with (
        serving(tmp_path / "x.db", options=["--cors-origin", site]) as server,
        server.client() as client,
    ):
        asks = {"Origin": site, "Access-Control-Request-Method": "POST"}
        answer = await client.options("/sessions", headers=asks)
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == site
        assert "access-control-allow-credentials" not in answer.headers
        read = await client.get(
            "/sessions", headers={"Origin": site, "Sec-Fetch-Site": "cross-site"}
        )
        assert read.status_code == 200
        assert read.headers["access-control-allow-origin"] == site
        error(
            await client.options("/sessions", headers=asks | {"Origin": "https://b.com"}),
            403,
            "FORBIDDEN",
        )


async def test_what_was_commanded_is_on_record_and_no_secret_is_in_any_file_or_log(tmp_path: Path):
    async with serving(tmp_path / "x.db") as server:
        async with server.client() as client:
            code = (await client.post("/login")).json()["code"]
            cookie = (await client.get("/login", params={"code": code})).headers["set-cookie"]
            await client.post("/sessions/x/pause", headers={"Callboard-Via": "cli"}, json={})
            await client.get("/sessions", headers={"Authorization": "Bearer cb_wrong-token"})
            await client.get("/sessions")
        await server.stop()
    record = tmp_path / "x.db.audit.jsonl"
    assert record.stat().st_mode & 0o777 == 0o600
    found = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(one["method"], one["path"], one["status"], one["via"]) for one in found] == [
        ("POST", "/login", 201, "http"),
        ("POST", "/sessions/x/pause", 404, "cli"),
        ("GET", "/sessions", 401, None),
    ]
    value = cookie.partition("=")[2].partition(";")[0]
    secrets = [TOKEN, code, value, "cb_wrong-token"]
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for text in (*files, "\n".join(server.log).encode()):
        assert not [secret for secret in secrets if secret.encode() in text]


async def test_open_hands_the_browser_a_page_that_only_its_owner_can_read(
    server: Server, tmp_path: Path
):
    home = {"XDG_RUNTIME_DIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    code, out, _ = await callboard(server, "open", "--server", server.url, "--print", **home)
    assert code == 0
    page = Path(out.strip())
    assert page.stat().st_mode & 0o777 == 0o600
    assert page.parent.stat().st_mode & 0o777 == 0o700
    assert re.search(rf"http://[a-z0-9.]+:{server.port}/login\?code=", page.read_text())
    browser, seen = tmp_path / "browser.py", tmp_path / "seen"
    browser.write_text(BROWSER)
    run = f"{sys.executable} {browser} {seen} %s"
    code, out, err = await callboard(server, "open", "--server", server.url, BROWSER=run, **home)
    assert (code, err) == (0, "")
    assert "/app/" in out
    status, cookie = json.loads(seen.read_text())
    assert status == 303
    async with server.client(None) as client:
        headers = {"Cookie": cookie.partition(";")[0]}
        assert (await client.get("/sessions", headers=headers)).status_code == 200


async def test_open_says_what_to_do_where_there_is_no_server(server: Server):
    code, out, err = await callboard(server, "open", "--server", "http://127.0.0.1:1")
    assert (code != 0, out) == (True, "")
    assert "callboard serve" in err
