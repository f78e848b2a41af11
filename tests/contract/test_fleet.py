"""Three servers on one PostgreSQL database behind nginx: it doesn't matter which one is asked."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests import server_flows
from tests.held_hooks import (
    HASTY,
    PATIENCE,
    answered,
    bash,
    behavior,
    holding,
    living_agent,
    question,
)
from tests.postgres import PostgresServer
from tests.proxies import nginx
from tests.receivers import PROGRAM, Receiver, receiving
from tests.servers import Server

from callboard.log.location import database_path

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("fleet")]

HASTY_AND_EARLY = f"{HASTY.replace('sys.exit(main())', '')}\n{PROGRAM}"
"""Gives up what no living server holds, and notifies, after half a second."""


@dataclass
class Fleet:
    """Servers with admin tokens of their own, and what they share: nginx, a token, a receiver.

    The first two are on one machine. The third is on another one, and has no workflows.
    """

    servers: list[Server]
    url: str
    token: str
    receiver: Receiver

    def client(self, url: str | None = None, **headers: str) -> httpx.AsyncClient:
        """A client of one of them, or of nginx."""
        known = {"Authorization": f"Bearer {self.token}", **headers}
        return httpx.AsyncClient(base_url=url or self.url, headers=known, timeout=PATIENCE)

    @property
    def urls(self) -> list[str]:
        return [self.url, *(server.url for server in self.servers)]


def server_of(url: str, home: Path, name: str, notify: str, files: list[str]) -> Server:
    """A server on a machine with this home, started by the person of this name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home))
        local = database_path(url)
    env = {"XDG_DATA_HOME": str(home), "LOGNAME": name, "CALLBOARD_NOTIFY": notify}
    return Server(
        local,
        files,
        [f"--db={url}"],
        env,
        program=["-c", HASTY_AND_EARLY],
        token=f"cb_token-of-the-server-of-{name}",
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Fleet]:
    url, folder = postgres.create(), tmp_path_factory.mktemp("fleet")
    flows = [server_flows.__file__]
    async with AsyncExitStack() as stack:
        receiver = stack.enter_context(receiving())
        first, second, third = (
            server_of(url, folder / home, name, receiver.url, files)
            for home, name, files in (
                ("one", "ada", flows),
                ("one", "bob", flows),
                ("two", "cyd", list[str]()),
            )
        )
        for server in (first, second, third):
            stack.push_async_callback(server.kill)
        # The one that starts last is the one that the hooks of its machine know.
        await asyncio.gather(second.start(), third.start())
        await first.start()
        proxy = nginx(folder / "nginx", first.url, second.url, third.url)
        front = await stack.enter_async_context(proxy)
        async with first.client() as http:
            asked = {"name": "team", "scope": "operate"}
            token = (await http.post("/tokens", json=asked)).json()["secret"]
        yield Fleet([first, second, third], front, token, receiver)
        for server in (first, second, third):
            assert not [line for line in server.log if "Traceback" in line]


async def started(fleet: Fleet, url: str, workflow: str, given: object) -> str:
    async with fleet.client(url) as http:
        answer = await http.post("/sessions", json={"workflowId": workflow, "input": given})
        assert answer.status_code == 201, answer.text
        return answer.json()["sessionId"]


async def reached(fleet: Fleet, session: str, status: str, url: str | None = None) -> Any:
    async with asyncio.timeout(PATIENCE), fleet.client(url) as http:
        while True:
            with suppress(httpx.TransportError):
                found = (await http.get(f"/sessions/{session}")).json()
                if found.get("status") == status:
                    return found
            await asyncio.sleep(0.02)


@asynccontextmanager
async def frames(
    fleet: Fleet, url: str, path: str, after: int
) -> AsyncGenerator[AsyncIterator[tuple[int, str]]]:
    """The ids and data of a stream, from one server."""
    asks = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
    async with fleet.client(url, **asks) as http, http.stream("GET", path) as stream:
        assert stream.status_code == 200

        async def parsed() -> AsyncIterator[tuple[int, str]]:
            id = 0
            async for line in stream.aiter_lines():
                if line.startswith("id: "):
                    id = int(line[4:])
                elif line.startswith("data: "):
                    yield id, line[6:]

        yield parsed()


async def moved(fleet: Fleet, path: str, upto: int, dice: random.Random) -> list[tuple[int, str]]:
    """Read a stream up to an id, a few events here, a few there."""
    found: list[tuple[int, str]] = []
    async with asyncio.timeout(PATIENCE):
        while not found or found[-1][0] < upto:
            count, last = dice.randint(1, 12), found[-1][0] if found else 0
            async with frames(fleet, dice.choice(fleet.urls), path, last) as stream:
                async for frame in stream:
                    found.append(frame)
                    count -= 1
                    if not count or frame[0] >= upto:
                        break
    return found


async def test_a_reader_that_is_moved_at_random_gets_every_event_once(fleet: Fleet):
    dice = random.Random(1)
    urls = [server.url for server in fleet.servers[:2]]
    sessions = [await started(fleet, dice.choice(urls), "count", 12) for _ in range(3)]
    reading = asyncio.create_task(moved(fleet, "/stream", 60, dice))
    ended = [await reached(fleet, one, "completed", dice.choice(fleet.urls)) for one in sessions]
    found = await reading
    assert [id for id, _ in found] == list(range(1, found[-1][0] + 1))
    for session, last in zip(sessions, ended, strict=True):
        path = f"/sessions/{session}/events"
        of_session = await moved(fleet, path, last["position"], dice)
        assert [id for id, _ in of_session] == list(range(1, last["position"] + 1))
        assert json.loads(of_session[-1][1])["name"] == "workflow:completed"


async def test_a_question_is_answered_by_any_server_and_another_one_drives(fleet: Fleet):
    first, second, third = fleet.servers
    session = await started(fleet, first.url, "trip", "Lisbon")
    (asked,) = (await reached(fleet, session, "waiting", third.url))["pending"]
    await first.kill()
    try:
        # It has no workflows: the session can only be driven by the second one.
        async with fleet.client(third.url) as http:
            answer = await http.post(f"/interactions/{asked['id']}/answer", json={"value": "yes"})
            assert answer.status_code == 200, answer.text
            again = await http.post(f"/interactions/{asked['id']}/answer", json={"value": "no"})
            assert again.status_code == 409
        await reached(fleet, session, "completed", second.url)
        assert (await reached(fleet, session, "completed"))["status"] == "completed"
    finally:
        await first.restart()


@pytest.mark.parametrize("through", [1, 2], ids=["same machine", "another machine"])
async def test_a_hook_held_on_one_is_answered_through_another(
    fleet: Fleet, through: int, monkeypatch: pytest.MonkeyPatch
):
    first, other, session = fleet.servers[0], fleet.servers[through], f"session-{through}"
    asks = bash("PermissionRequest", session_id=session)
    async with living_agent(monkeypatch), holding(first, asks) as held:
        asked = await question(other, session)
        # Longer than a server waits for hooks that no living server holds.
        await asyncio.sleep(1.5)
        assert (await question(other, session))["id"] == asked["id"]
        await answered(other, asked["id"])
        assert behavior(await held.printed()) == "allow"


async def test_a_link_of_one_signs_in_at_another_once(fleet: Fleet):
    first, second, third = fleet.servers
    async with first.client() as http:
        code = (await http.post("/login")).json()["code"]
    async with second.client(None) as http:
        used = await http.get("/login", params={"code": code})
        assert used.status_code == 303
    cookie = {"Cookie": used.headers["set-cookie"].partition(";")[0]}
    for server in (first, third):
        async with server.client(None) as http:
            again = await http.get("/login", params={"code": code})
            assert (again.status_code, again.json()["error"]["code"]) == (403, "FORBIDDEN")
            me = (await http.get("/me", headers=cookie)).json()
            assert (me["person"], me["scope"]) == ("ada", "operate")
    async with httpx.AsyncClient(base_url=fleet.url, headers=cookie) as http:
        for _ in fleet.servers:
            assert (await http.get("/sessions")).status_code == 200
        same = {"Sec-Fetch-Site": "same-origin"}
        assert (await http.post("/logout", headers=same)).status_code == 200
        for _ in fleet.servers:
            assert (await http.get("/sessions")).status_code == 401


async def test_a_revoked_token_is_refused_by_all(fleet: Fleet):
    first, _, third = fleet.servers
    async with third.client() as http:
        made = (await http.post("/tokens", json={"name": "x", "scope": "read"})).json()
    async with first.client(made["secret"]) as http:
        assert (await http.get("/sessions")).status_code == 200
        async with third.client() as admin:
            await admin.delete(f"/tokens/{made['token']['id']}")
        assert (await http.get("/sessions")).status_code == 401


async def test_one_of_them_notifies(fleet: Fleet):
    session = await started(fleet, fleet.servers[1].url, "trip", "Porto")
    messages: list[str] = []
    async with asyncio.timeout(PATIENCE):
        while "Go to Porto?" not in "".join(messages):
            taken = await asyncio.to_thread(fleet.receiver.taken.get, timeout=PATIENCE)
            messages.append(taken["message"])
    # The others have waited as long, and would send it now.
    await asyncio.sleep(1)
    while not fleet.receiver.taken.empty():
        messages.append(fleet.receiver.taken.get()["message"])
    assert "".join(messages).count("Go to Porto?") == 1
    async with fleet.client() as http:
        await http.post(f"/sessions/{session}/cancel")
