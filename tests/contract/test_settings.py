"""What the settings page works on: tokens, hooks and facts, each for those who may."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.servers import TOKEN, Server, serving

from callboard.vendors.claude.launching import MARK

pytestmark = [pytest.mark.asyncio(loop_scope="module")]

MINE = '{\n  "model": "opus",\n  "env": {"KEY": "mine"}\n}\n'

_ASK = """
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[1], data=sys.argv[3].encode() or None, headers={
    "Authorization": f"Bearer {sys.argv[2]}", "Content-Type": "application/json"})
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(home: Path) -> AsyncIterator[Server]:
    flows = Path(__file__).parents[1] / "server_flows.py"
    config = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "claude")}
    async with serving(home / "t.db", flows, env=config) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    async with server.client() as client:
        yield client


async def token(http: httpx.AsyncClient, scope: str, **more: object) -> str:
    made = await http.post("/tokens", json={"name": f"{scope}-user", "scope": scope, **more})
    assert made.status_code == 201, made.text
    assert made.headers["cache-control"] == "no-store"
    return made.json()["secret"]


async def test_me_says_who_a_token_stands_for(http: httpx.AsyncClient, server: Server):
    secret = await token(http, "read", person="ada", groups=["release"], expiresInMs=60_000)
    async with server.client(secret) as ada:
        assert (await ada.get("/me")).json() == {
            "name": "read-user",
            "person": "ada",
            "scope": "read",
            "groups": ["release"],
        }


async def test_each_part_needs_its_scope(http: httpx.AsyncClient, server: Server):
    wanted = {"read": (200, 403, 403, 403, 403), "operate": (200, 200, 403, 403, 403)}
    for scope, statuses in wanted.items():
        async with server.client(await token(http, scope)) as client:
            got = [
                (await client.get(path)).status_code
                for path in ("/me", "/server", "/tokens", "/settings/hooks", "/team")
            ]
            assert tuple(got) == statuses, scope
            made = await client.post("/tokens", json={"name": "x", "scope": "read"})
            assert made.status_code == 403
            assert (await client.post("/pairing", json={})).status_code == 403
            assert (await client.delete("/hosts/atlas")).status_code == 403


async def test_the_team_lists_people_and_hosts(http: httpx.AsyncClient, server: Server):
    await token(http, "answer", person="grace", groups=["release"])
    gone = await http.post("/tokens", json={"name": "hal", "scope": "read", "expiresInMs": 1})
    assert gone.status_code == 201
    code = (await http.post("/login")).json()["code"]
    async with server.client(None) as browser:
        assert (await browser.get("/login", params={"code": code})).status_code == 303
    team = (await http.get("/team")).json()
    people = {one["person"]: one for one in team["people"]}
    assert people["grace"] == {
        "person": "grace",
        "scope": "answer",
        "groups": ["release"],
        "tokenCount": 1,
        "lastSeen": None,
        "byProxy": False,
    }
    assert not {"hal", "hooks"} & set(people)
    assert [one["lastSeen"] is not None for one in people.values()].count(True) == 1
    assert [one["isServer"] for one in team["hosts"]] == [True]


async def test_facts_about_the_server(http: httpx.AsyncClient, server: Server):
    facts = (await http.get("/server")).json()
    assert facts["address"] == server.url
    assert facts["database"] == str(server.db)
    assert facts["databaseBytes"] > 8192
    assert facts["schemaVersion"] >= 9
    assert set(facts) == {
        "version",
        "address",
        "startedAt",
        "database",
        "databaseBytes",
        "events",
        "schemaVersion",
        "signIn",
    }
    assert facts["signIn"].endswith(f"open --db {server.db}")


async def test_no_secret_is_in_the_record(http: httpx.AsyncClient, server: Server):
    secret = await token(http, "answer")
    listed = (await http.get("/tokens")).text
    assert "sha256" not in listed
    assert secret not in listed
    audited = server.db.with_name("t.db.audit.jsonl").read_text()
    assert '"path":"/tokens","status":201' in audited
    assert secret not in audited


async def asked(url: str, token: str, body: str, **env: str) -> int:
    """The status that a process of its own gets."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _ASK, url, token, body),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **env},
    )
    return int((await child.communicate())[0])


async def test_a_coding_agent_is_refused_whatever_its_token(server: Server):
    create = json.dumps({"name": "mine", "scope": "admin"})
    for path, body in (
        ("/tokens", create),
        ("/login", '{"scope": "admin"}'),
        ("/settings/hooks", ""),
        ("/settings/hooks/claude/test", "{}"),
    ):
        assert await asked(server.url + path, TOKEN, body, **{MARK: "1"}) == 403, path
    assert await asked(f"{server.url}/tokens", TOKEN, create) == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-For": "127.0.0.1"},
        {"Forwarded": "for=127.0.0.1"},
        {"X-Real-IP": "127.0.0.1"},
        {"Via": "1.1 proxy"},
    ],
)
async def test_hooks_are_not_shown_through_a_proxy(
    http: httpx.AsyncClient, headers: dict[str, str]
):
    answer = await http.get("/settings/hooks", headers=headers)
    assert answer.status_code == 403
    assert "without a proxy" in answer.json()["error"]["message"]


async def test_hooks_are_not_shown_under_another_name(tmp_path: Path):
    flows = Path(__file__).parents[1] / "server_flows.py"
    named = ("--allowed-host", "board.example.com")
    db = tmp_path / "t.db"
    async with serving(db, flows, options=named) as started, started.client() as client:
        host = {"Host": "board.example.com"}
        assert (await client.get("/me", headers=host)).status_code == 200
        assert (await client.get("/settings/hooks", headers=host)).status_code == 403


async def hooks_of(http: httpx.AsyncClient, agent: str) -> dict[str, Any]:
    listed = (await http.get("/settings/hooks")).json()["agents"]
    return next(one for one in listed if one["agent"] == agent)


async def test_hooks_are_installed_tested_and_removed_as_shown(http: httpx.AsyncClient, home: Path):
    file = home / "claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(MINE)
    shown = await hooks_of(http, "claude")
    assert (shown["state"], shown["removeDiff"], shown["path"]) == ("absent", "", str(file))
    assert shown["installDiff"].startswith(f"--- {file}\n+++ {file}\n")
    assert file.read_text() == MINE

    path = "/settings/hooks/claude"
    stale = await http.post(f"{path}/install", json={"diff": "another"})
    assert (stale.status_code, file.read_text()) == (409, MINE)

    done = await http.post(f"{path}/install", json={"diff": shown["installDiff"]})
    assert (done.status_code, done.json()["state"]) == (200, "current")
    added = [line[1:] for line in shown["installDiff"].splitlines()[2:] if line.startswith("+")]
    assert all(line in file.read_text() for line in added)

    arrived = (await http.post(f"{path}/test")).json()
    assert arrived["arrived"] is True
    assert (await http.get("/plates")).json() == {"plates": []}

    removed = await http.post(f"{path}/remove", json={"diff": done.json()["removeDiff"]})
    assert (removed.status_code, removed.json()["state"]) == (200, "absent")
    assert file.read_text() == MINE


async def test_hooks_of_an_unknown_agent(http: httpx.AsyncClient):
    answer = await http.post("/settings/hooks/nobody/test")
    assert answer.status_code == 404
