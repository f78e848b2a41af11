"""People who sign in to a real nginx: by password, and with an assertion from a service it asks."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import NamedTuple

import httpx
import pytest
import pytest_asyncio
from tests.in_process import run_here
from tests.proxies import nginx
from tests.servers import TOKEN, Server, serving
from tests.unit.server.assertions import PLAIN, SECRET, SIGNED, Issuer, jwks, written

from callboard import Callboard
from callboard.events.envelope import Json

PATIENCE = 90
ISSUED = Issuer()

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("proxy sign-in"),
]

BY_PASSWORD = f"""
  auth_basic "Board";
  auth_basic_user_file {{folder}}/passwords;
  proxy_set_header X-Forwarded-User $remote_user;
  proxy_set_header X-Forwarded-Groups $groups;
  proxy_set_header X-Callboard-Proxy-Secret "{SECRET}";
"""
GROUPS = 'map $remote_user $groups { cleo "release,staff"; default ""; }'
ASKED = """
  auth_request /authenticate;
  auth_request_set $assertion $upstream_http_x_assertion;
  proxy_set_header X-Assertion $assertion;
"""
SERVICE = """
  location = /authenticate {{
    internal;
    proxy_pass {url};
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
  }}
"""


class Proxied(NamedTuple):
    """A server, and the address of the nginx that signs people in to it."""

    server: Server
    url: str

    def person(self, name: str) -> httpx.AsyncClient:
        """Someone's browser: it sends the name as a password, or as the service's cookie."""
        return httpx.AsyncClient(
            base_url=self.url,
            auth=(name, "sesame"),
            cookies={"who": name},
            headers={"Origin": self.url},
            timeout=PATIENCE,
        )


class SignInService(BaseHTTPRequestHandler):
    """What nginx asks about each request: the cookie says who it is, as after signing in there."""

    def do_GET(self) -> None:
        _, _, who = self.headers.get("Cookie", "").partition("who=")
        self.send_response(200 if who else 401)
        if who:
            groups = ["release"] if who == "cleo" else []
            self.send_header("X-Assertion", ISSUED.assertion(email=who, groups=groups))
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@contextmanager
def sign_in_service() -> Generator[str]:
    service = ThreadingHTTPServer(("127.0.0.1", 0), SignInService)
    thread = Thread(target=service.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{service.server_port}"
    finally:
        service.shutdown()
        service.server_close()
        thread.join()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def by_password(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Proxied]:
    folder = tmp_path_factory.mktemp("password")
    (folder / "secret").write_text(SECRET)
    (folder / "secret").chmod(0o600)
    trusted = f"--proxy-auth={written(folder, PLAIN)}"
    with TemporaryDirectory() as readable:
        # nginx's workers are another user's, who can't read what is in our own folders.
        Path(readable).chmod(0o755)
        passwords = [f"{name}:{{PLAIN}}sesame\n" for name in ("ada", "cleo", "eve")]
        (Path(readable) / "passwords").write_text("".join(passwords))
        location = BY_PASSWORD.format(folder=readable)
        async with (
            serving(folder / "x.db", options=[trusted]) as server,
            nginx(folder / "nginx", server.url, http=GROUPS, location=location) as url,
        ):
            yield Proxied(server, url)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def by_assertion(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Proxied]:
    folder = tmp_path_factory.mktemp("assertion")
    (folder / "keys.json").write_bytes(jwks(ISSUED))
    trusted = f"--proxy-auth={written(folder, SIGNED)}"
    with sign_in_service() as service:
        asked = SERVICE.format(url=service)
        async with (
            serving(folder / "x.db", options=[trusted]) as server,
            nginx(folder / "nginx", server.url, server=asked, location=ASKED) as url,
        ):
            yield Proxied(server, url)


async def ask(proxied: Proxied, *assignees: str) -> str:
    async with proxied.server.client() as admin:
        body = {"type": "approval", "prompt": "Release?", "assignees": assignees}
        asked = await admin.post("/interactions", json=body)
        return f"/interactions/{asked.json()['id']}"


async def answered(proxied: Proxied, path: str) -> Mapping[str, Json]:
    async with Callboard.open(proxied.server.db) as board:
        return (await board.log.read(path.rpartition("/")[2]))[-1].payload


async def test_a_password_signs_in_a_person_whose_answers_are_theirs(by_password: Proxied):
    path = await ask(by_password, "ada")
    async with by_password.person("ada") as ada, by_password.person("cleo") as cleo:
        assert (await ada.get("/me")).json() == {
            "name": "ada",
            "person": "ada",
            "scope": "operate",
            "groups": [],
        }
        refused = await cleo.post(f"{path}/answer", json={"approved": True, "by": "ada"})
        assert refused.status_code == 403
        assert "Only ada can answer" in refused.text
        done = await ada.post(f"{path}/answer", json={"approved": True, "by": "bob"})
        assert (done.status_code, done.json()["answeredBy"]) == (200, "ada")
    payload = await answered(by_password, path)
    assert (payload["by"], payload["as"], payload.get("override")) == ("ada", "bob", None)


async def test_groups_of_the_proxy_are_groups_of_questions(
    by_password: Proxied, by_assertion: Proxied
):
    for proxied in (by_password, by_assertion):
        path = await ask(proxied, "group:release")
        async with proxied.person("cleo") as cleo, proxied.person("ada") as ada:
            assert (await ada.post(f"{path}/answer", json={"approved": True})).status_code == 403
            done = await cleo.post(f"{path}/answer", json={"approved": True})
            assert done.status_code == 200, done.text
        assert (await answered(proxied, path))["by"] == "cleo"


async def test_people_without_access_or_without_a_password_get_nothing(by_password: Proxied):
    async with by_password.person("eve") as eve:
        refused = await eve.get("/me")
        assert refused.status_code == 403
        assert "as eve, who has no access" in refused.text
    async with httpx.AsyncClient(base_url=by_password.url) as stranger:
        assert (await stranger.get("/me")).status_code == 401


async def test_what_a_browser_claims_is_replaced_by_the_proxy(
    by_password: Proxied, by_assertion: Proxied
):
    claims = {"X-Forwarded-User": "root", "X-Forwarded-Groups": "admins", "X-Assertion": "x.y.z"}
    for proxied, scope in ((by_password, "operate"), (by_assertion, "answer")):
        async with proxied.person("ada") as ada:
            me = (await ada.get("/me", headers=claims)).json()
            assert (me["name"], me["scope"]) == ("ada", scope)


async def test_past_the_proxy_the_same_headers_count_for_nothing(
    by_password: Proxied, by_assertion: Proxied
):
    headers = {"X-Forwarded-User": "ada", "X-Callboard-Proxy-Secret": "guessed", "X-Assertion": "x"}
    for proxied in (by_password, by_assertion):
        async with proxied.server.client(None) as direct:
            assert (await direct.get("/me", headers=headers)).status_code == 401
            forged = {"X-Assertion": Issuer().assertion(), "X-Forwarded-User": "ada"}
            assert (await direct.get("/me", headers=forged)).status_code == 401


async def test_an_assertion_signs_in_and_says_where_to_sign_out(by_assertion: Proxied):
    async with by_assertion.person("cleo") as cleo:
        assert (await cleo.get("/me")).json() == {
            "name": "cleo",
            "person": "cleo",
            "scope": "operate",
            "groups": ["release"],
            "signOutUrl": "/oauth2/sign_out",
        }
    async with httpx.AsyncClient(base_url=by_assertion.url) as stranger:
        assert (await stranger.get("/me")).status_code == 401


async def test_another_site_cannot_use_a_person_s_sign_in(by_assertion: Proxied):
    path = await ask(by_assertion, "ada")
    async with by_assertion.person("ada") as ada:
        for headers in (
            {"Origin": "https://evil.example.com"},
            {"Origin": by_assertion.url, "Sec-Fetch-Site": "cross-site"},
        ):
            sent = await ada.post(f"{path}/answer", json={"approved": True}, headers=headers)
            assert sent.status_code == 403
        del ada.headers["Origin"]
        sent = await ada.post(f"{path}/answer", json={"approved": True})
        assert sent.status_code == 401
        assert "Programs need a token" in sent.text


async def test_a_program_behind_the_proxy_uses_its_token(by_assertion: Proxied):
    headers = {"Authorization": f"Bearer {TOKEN}", "Cookie": "who=ada"}
    async with httpx.AsyncClient(base_url=by_assertion.url, headers=headers) as program:
        assert (await program.get("/me")).json()["name"] == "admin"


async def test_a_stream_comes_through(by_assertion: Proxied):
    async with by_assertion.person("ada") as ada:
        accept = {"Accept": "text/event-stream"}
        async with (
            asyncio.timeout(PATIENCE),
            ada.stream("GET", "/stream", headers=accept) as stream,
        ):
            assert stream.status_code == 200


async def test_hooks_are_changed_only_at_the_machine_itself(tmp_path: Path):
    (tmp_path / "keys.json").write_bytes(jwks(ISSUED))
    trusted = f"--proxy-auth={written(tmp_path, SIGNED)}"
    async with serving(tmp_path / "x.db", options=[trusted]) as server:
        headers = {"X-Assertion": ISSUED.assertion(groups=["admins"])}
        async with server.client(None) as direct:
            assert (await direct.get("/tokens", headers=headers)).status_code == 200
            assert (await direct.get("/settings/hooks", headers=headers)).status_code == 403


async def test_the_audit_has_the_authenticated_name(by_assertion: Proxied):
    path = await ask(by_assertion, "ada")
    async with by_assertion.person("ada") as ada:
        await ada.post(f"{path}/answer", json={"approved": False, "by": "bob"})
    audited = by_assertion.server.db.with_name("x.db.audit.jsonl").read_text().splitlines()
    [line] = [json.loads(one) for one in audited if f'"{path}/answer"' in one]
    assert (line["who"], line["scope"], line["status"]) == ("ada", "answer", 200)


async def test_a_mistake_in_the_file_stops_the_start(tmp_path: Path):
    file = written(tmp_path, '[scopes]\ndefault = "read"\n')
    words = ("serve", f"--proxy-auth={file}", f"--db={tmp_path / 'x.db'}", "--port=0")
    code, _, err = await asyncio.to_thread(run_here, words, tmp_path, os.environ)
    assert code != 0
    assert "either [assertion] or [headers]" in err
